import fs from "node:fs";
import { readProc, readStat } from "../../src/base/proc.js";
import { ProcessSnapshot } from "../../src/process/tree.js";
import { testRoot } from "../support/home.js";

/** Pids of a place that has its own. */
export interface Pids {
	/** The process of this machine that a command there knows under this pid; -1 when there is none. */
	here(pid: number): number;
	/** Results speak of pids as this machine has them, or as the place has them. */
	readonly told: "here" | "there";
}

const same: Pids = { here: (pid) => pid, told: "here" };
let pids = same;
export const usePids = (of: Pids = same): void => {
	pids = of;
};

const written = (file: string): number => Number(fs.readFileSync(file, "utf8"));
/** Of a pid that a command has written down: the process here, and what a result calls it. */
export const pidIn = (file: string): number => pids.here(written(file));
export const toldPidIn = (file: string): number => (pids.told === "here" ? pidIn(file) : written(file));
/** The process here that a result speaks of. */
export const pidOf = (told: number | null | undefined): number => (pids.told === "here" ? (told ?? -1) : pids.here(told ?? -1));

/** There is no such process, or only what is left of it. */
export function gone(pid: number): boolean {
	const state = readStat(pid)?.state;
	return state === undefined || state === "Z" || state === "X";
}

/** The process of this run that has this pid in its own namespace. */
export function outside(pid: number, isOurs: (host: number) => boolean): number {
	for (const { pid: host } of new ProcessSnapshot().stats.values()) {
		if (!new RegExp(`^NSpid:\\t${host}\\t${pid}$`, "m").test(readProc(`/proc/${host}/status`) ?? "")) continue;
		if (isOurs(host)) return host;
	}
	return -1;
}

export const insideSandbox: Pids = {
	here: (pid) => outside(pid, (host) => readProc(`/proc/${host}/environ`)?.includes(`TEST_ROOT=${testRoot()}`) ?? false),
	told: "here",
};
