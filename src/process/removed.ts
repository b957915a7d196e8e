/**
 * Pruned processes and their time of removal: the file `removed` in the home, one line `MS ID` each, so that an id that was shown once is not simply
 * unknown.
 */
import fs from "node:fs";
import path from "node:path";
import { type Home, ownerOf, readIfThere, writeWhole } from "../base/index.js";

const MOST_BYTES = 512 * 1024; // about 17,000 lines; then the older half is dropped

const fileOf = (home: Home): string => path.join(home.root, "removed");

export function noteRemoved(home: Home, ids: readonly string[], now: number): void {
	if (ids.length === 0) return;
	try {
		fs.appendFileSync(fileOf(home), ids.map((id) => `${now} ${id}\n`).join(""), { mode: 0o600 });
		const text = readIfThere(fileOf(home)) ?? "";
		if (text.length > MOST_BYTES) writeWhole(fileOf(home), text.slice(text.indexOf("\n", text.length - MOST_BYTES / 2) + 1));
	} catch {
		// the disk is full: the id will be unknown
	}
}

/** Returns a sentence if the process with this id, or the slot of the command with this id, was pruned. */
export function whenRemoved(home: Home, id: string): string | undefined {
	const text = readIfThere(fileOf(home)) ?? "";
	const at = [id, ownerOf(id)].map((name) => new RegExp(`^(\\d+) ${name}$`, "m").exec(text)?.[1]).find((found) => found !== undefined);
	return at === undefined
		? undefined
		: `${id} was removed at ${new Date(Number(at)).toISOString()}, with its log: what has ended is kept for 7 days, or less where the home is over its quota`;
}
