/**
 * The controllers of control groups that limits need, in version 2 (one tree for all) and version 1 (a tree for each): where
 * they are, how a limit is written, and how one is taken to have been met. Files: Documentation/admin-guide/cgroup-v1, -v2.
 */
import fs from "node:fs";
import path from "node:path";
import type { LimitsInForce } from "../base/index.js";

export type Controller = "memory" | "pids" | "cpu";
export const CONTROLLERS: readonly Controller[] = ["memory", "pids", "cpu"];

/** A directory below which we make groups. */
export interface CgroupTree {
	readonly version: 1 | 2;
	/** Ours: `…/holdfast`. */
	readonly base: string;
	readonly controllers: readonly Controller[];
}

const PERIOD_US = 100_000;

/** The file of a limit in a group, for people. */
export const limitFile = ({ version }: CgroupTree, controller: Controller): string =>
	({ memory: version === 2 ? "memory.max" : "memory.limit_in_bytes", pids: "pids.max", cpu: version === 2 ? "cpu.max" : "cpu.cfs_quota_us" })[controller];

/** Set what a group may use; what is not named has no limit of its own there. Throws what the kernel says. */
export function writeLimits(tree: CgroupTree, group: string, limits: Pick<LimitsInForce, Controller>, { swap = true, fresh = true } = {}): void {
	const set = (name: string, value: string | number) => fs.writeFileSync(path.join(group, name), String(value));
	for (const controller of tree.controllers) {
		const value = limits[controller];
		if (value === undefined && fresh) continue; // as it was made
		if (controller === "pids") set("pids.max", value ?? "max");
		if (controller === "memory") setMemory(tree, set, value, swap);
		if (controller === "cpu" && tree.version === 2)
			set("cpu.max", value === undefined ? "max" : `${Math.max(1000, Math.round(value * PERIOD_US))} ${PERIOD_US}`);
		if (controller === "cpu" && tree.version === 1) set("cpu.cfs_quota_us", value === undefined ? -1 : Math.max(1000, Math.round(value * PERIOD_US)));
	}
}

/** What is swapped out counts too, where the kernel counts it: else a limit would only make the machine slow. */
function setMemory({ version }: CgroupTree, set: (name: string, value: string | number) => void, value: number | undefined, swap: boolean): void {
	const quietly = (name: string, text: string | number) => {
		try {
			set(name, text);
		} catch {
			// no swap accounting here, or the other figure has to change first
		}
	};
	if (version === 2) {
		set("memory.max", value ?? "max");
		if (swap) quietly("memory.swap.max", value === undefined ? "max" : 0);
		return;
	}
	if (swap) quietly("memory.memsw.limit_in_bytes", value ?? -1); // must never be below the other: one of the two orders works
	set("memory.limit_in_bytes", value ?? -1);
	if (swap) quietly("memory.memsw.limit_in_bytes", value ?? -1);
}

/** Where a group counts that it has been at its limit of processes; in version 2 a change of it is an event. */
export const PIDS_EVENTS = "pids.events";

/** Where a group counts whom the kernel has killed for memory. */
export const oomFile = ({ version }: CgroupTree): string => (version === 2 ? "memory.events" : "memory.oom_control");
