import fs from "node:fs";
import { readStat } from "../../src/base/proc.js";

/** What a pid that a command has written down is out here; in a sandbox it has others. */
let translate = (pid: number): number => pid;
export const translatePids = (by: (pid: number) => number): void => {
	translate = by;
};

export const pidIn = (file: string): number => translate(Number(fs.readFileSync(file, "utf8")));

/** There is no such process, or only what is left of it. */
export function gone(pid: number): boolean {
	const state = readStat(pid)?.state;
	return state === undefined || state === "Z" || state === "X";
}
