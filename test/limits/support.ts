import { expect } from "vitest";
import { findCgroups } from "../../src/keeper/cgroup.js";

const groups = findCgroups();

/** All limits by control groups: memory, pids and cpu. */
export const hasGroups = groups !== undefined && (["memory", "pids", "cpu"] as const).every((controller) => groups.treeOf(controller));

/** Uses more and more memory. Perl, since it is small and there on every machine that can test this. */
export const HOG = `perl -e '$x .= "x" x 1e6 while 1'`;

export const limited = (name: string, of = "process"): object => ({ limit: expect.objectContaining({ name, of }) });
