/** How often in a row a task was refused something: one that goes on trying is told to stop. */
import path from "node:path";
import { type Home, readIfThere, taskKey, unlinkIfThere, writeWhole } from "../base/index.js";

const FORGOTTEN_MS = 3_600_000;

const fileOf = (home: Home, task: string): string => path.join(home.approvals, `r.${taskKey(task)}`);

/** Counts a refusal. Returns how many there were in a row. */
export function countRefusal(home: Home, task: string): number {
	const [count = 0, at = 0] = (readIfThere(fileOf(home, task)) ?? "").split(" ").map(Number);
	const now = (Date.now() - at < FORGOTTEN_MS && Number.isSafeInteger(count) ? count : 0) + 1;
	writeWhole(fileOf(home, task), `${now} ${Date.now()}`);
	return now;
}

export const forgetRefusals = (home: Home, task: string): void => unlinkIfThere(fileOf(home, task));
