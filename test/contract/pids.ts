import fs from "node:fs";
import { readStat } from "../../src/base/proc.js";

export const pidIn = (file: string): number => Number(fs.readFileSync(file, "utf8"));

/** There is no such process, or only what is left of it. */
export function gone(pid: number): boolean {
	const state = readStat(pid)?.state;
	return state === undefined || state === "Z" || state === "X";
}
