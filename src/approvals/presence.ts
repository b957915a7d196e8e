/**
 * Whether a person is there to answer: programs that show approvals say so with a file, which counts as long as the program lives. A file with the
 * name of a task in it is of a program that shows the questions of that task alone.
 */
import { randomBytes } from "node:crypto";
import path from "node:path";
import { type Home, isGone, me, namesIn, readIfThere, unlinkIfThere, writeWhole } from "../base/index.js";

const PREFIX = "h.";

/** Without a task: for all of them. Returns what ends it. */
export function beThere(home: Home, task = ""): () => void {
	const file = path.join(home.approvals, `${PREFIX}${me()}.${randomBytes(3).toString("hex")}`);
	writeWhole(file, task);
	return () => unlinkIfThere(file);
}

export function isSomebodyThere(home: Home, task: string): boolean {
	return namesIn(home.approvals).some((name) => {
		if (!name.startsWith(PREFIX)) return false;
		const file = path.join(home.approvals, name);
		if (!isGone(name.slice(PREFIX.length), file)) return ["", task].includes(readIfThere(file) ?? "gone\0");
		unlinkIfThere(file);
		return false;
	});
}
