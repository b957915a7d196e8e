/**
 * An end is told once: by a notice, or by the answer of a call that waited for it, read the log to its end, or killed it. While
 * such a call is under way there is a file `held.ID.WHO.NONCE` in the directory of the task, and no notice goes out. Once its
 * answer has told, there is a file `told` in the process directory, and none ever will.
 */
import { randomBytes } from "node:crypto";
import fs from "node:fs";
import path from "node:path";
import { isGone, me, unlinkIfThere } from "../base/index.js";

const TOLD = "told";

export const isTold = (processDir: string): boolean => fs.existsSync(path.join(processDir, TOLD));

export function markTold(processDir: string): void {
	try {
		fs.writeFileSync(path.join(processDir, TOLD), "", { mode: 0o600 });
	} catch {
		// The process was pruned, and nothing will be told. Or the disk is full: that must not fail a call; the end may be told twice then.
	}
}

/** Returns what ends it. */
export function holdEnd(dir: string, id: string): () => void {
	const file = path.join(dir, `held.${id}.${me()}.${randomBytes(3).toString("hex")}`);
	fs.writeFileSync(file, "", { mode: 0o600 });
	return () => unlinkIfThere(file);
}

/** Is a call under way that may tell of the end itself? What those have left that were killed is removed. */
export function isHeld(dir: string, id: string, names: readonly string[]): boolean {
	const prefix = `held.${id}.`;
	let held = false;
	for (const name of names) {
		if (!name.startsWith(prefix)) continue;
		const file = path.join(dir, name);
		if (isGone(name.slice(prefix.length), file)) unlinkIfThere(file);
		else held = true;
	}
	return held;
}
