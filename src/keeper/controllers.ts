/**
 * The cgroup controllers for limits, in version 2 (one tree for all) and version 1 (a tree for each): their files, writing a limit, and detecting that
 * a limit was met. Files: Documentation/admin-guide/cgroup-v1, -v2.
 */
import fs from "node:fs";
import path from "node:path";
import type { LimitsInForce } from "../base/index.js";

export type Controller = "memory" | "pids" | "cpu";
export const CONTROLLERS: readonly Controller[] = ["memory", "pids", "cpu"];

/** A directory below which we create cgroups. */
export interface CgroupTree {
	readonly version: 1 | 2;
	/** Our own directory: `…/holdfast`. */
	readonly base: string;
	readonly controllers: readonly Controller[];
}

const PERIOD_US = 100_000;

/** Returns the file of a limit, for display. */
export const limitFile = ({ version }: CgroupTree, controller: Controller): string =>
	({ memory: version === 2 ? "memory.max" : "memory.limit_in_bytes", pids: "pids.max", cpu: version === 2 ? "cpu.max" : "cpu.cfs_quota_us" })[controller];

/** Sets the limits of a cgroup; a missing value means no limit. Throws the kernel's error. */
export function writeLimits(tree: CgroupTree, group: string, limits: Pick<LimitsInForce, Controller>, { swap = true, fresh = true } = {}): void {
	const set = (name: string, value: string | number) => fs.writeFileSync(path.join(group, name), String(value));
	for (const controller of tree.controllers) {
		const value = limits[controller];
		if (value === undefined && fresh) continue; // still the default
		if (controller === "pids") set("pids.max", value ?? "max");
		if (controller === "memory") setMemory(tree, set, value, swap);
		if (controller === "cpu" && tree.version === 2)
			set("cpu.max", value === undefined ? "max" : `${Math.max(1000, Math.round(value * PERIOD_US))} ${PERIOD_US}`);
		if (controller === "cpu" && tree.version === 1) set("cpu.cfs_quota_us", value === undefined ? -1 : Math.max(1000, Math.round(value * PERIOD_US)));
	}
}

/** Sets the memory limit, including swap if the kernel accounts for it: otherwise the limit would only make the machine slow. */
function setMemory({ version }: CgroupTree, set: (name: string, value: string | number) => void, value: number | undefined, swap: boolean): void {
	const quietly = (name: string, text: string | number) => {
		try {
			set(name, text);
		} catch {
			// no swap accounting, or the other value must change first
		}
	};
	if (version === 2) {
		set("memory.max", value ?? "max");
		if (swap) quietly("memory.swap.max", value === undefined ? "max" : 0);
		return;
	}
	if (swap) quietly("memory.memsw.limit_in_bytes", value ?? -1); // must never be below the other value: one of the two orders works
	set("memory.limit_in_bytes", value ?? -1);
	if (swap) quietly("memory.memsw.limit_in_bytes", value ?? -1);
}

/** The file in which a cgroup counts how often it has reached its process limit; in version 2 a change is an event. */
export const PIDS_EVENTS = "pids.events";

/** Returns the file in which a cgroup counts processes killed for memory. */
export const oomFile = ({ version }: CgroupTree): string => (version === 2 ? "memory.events" : "memory.oom_control");
