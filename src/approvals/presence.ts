/**
 * Whether a person is present to answer. Each program that shows pending approvals has a file for as long as it does; the file of a dead program
 * does not count. A file that holds the name of a task belongs to a program that shows the questions of that task alone.
 */
import { randomBytes } from "node:crypto";
import path from "node:path";
import { type Home, isGone, me, namesIn, readIfThere, unlinkIfThere, writeWhole } from "../base/index.js";

const PREFIX = "h.";

/** Declares a person for one task, or for all without `task`. Returns a function that ends that. */
export function attend(home: Home, task = ""): () => void {
	const file = path.join(home.approvals, `${PREFIX}${me()}.${randomBytes(3).toString("hex")}`);
	writeWhole(file, task);
	return () => unlinkIfThere(file);
}

export function isAttended(home: Home, task: string): boolean {
	return namesIn(home.approvals).some((name) => {
		if (!name.startsWith(PREFIX)) return false;
		const file = path.join(home.approvals, name);
		if (!isGone(name.slice(PREFIX.length), file)) return ["", task].includes(readIfThere(file) ?? "gone\0");
		unlinkIfThere(file);
		return false;
	});
}
