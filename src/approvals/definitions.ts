/** Definitions that a task's commands leave to later ones: aliases, functions, and variables that rules take for known. A file of the task, in shell text. */
import path from "node:path";
import { type Home, readIfThere, taskKey, writeWhole } from "../base/index.js";

/** Beyond that the oldest go: a shell has few of these, and they are read for each new command. */
const MOST_CHARS = 32 * 1024;
const MOST = 200;

export const definitionsFile = (home: Home, task: string): string => path.join(home.approvals, `d.${taskKey(task)}`);

export const readDefinitions = (file: string): string[] => (readIfThere(file) ?? "").split("\0\n").filter(Boolean);

/** Before they are in force. The last one of a name counts. */
export function keepDefinitions(home: Home, task: string, definitions: readonly string[]): void {
	const file = definitionsFile(home, task);
	const known = readDefinitions(file);
	const all = [...known.filter((one) => !definitions.includes(one)), ...definitions].slice(-MOST);
	while (all.reduce((sum, one) => sum + one.length, 0) > MOST_CHARS) all.shift();
	if (all.join("\0") !== known.join("\0")) writeWhole(file, all.map((one) => `${one}\0\n`).join(""));
}
