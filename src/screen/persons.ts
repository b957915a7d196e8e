/**
 * Decides who answers terminal queries. A person's terminal answers by itself: while one is attached, according to a file `attached.PID.START.NONCE`,
 * no program answers; `attended` is the offset up to which one was attached.
 */
import { randomBytes } from "node:crypto";
import fs from "node:fs";
import path from "node:path";
import { isAlive, namesIn, readIfThere, readStat, unlinkIfThere } from "../base/index.js";
import type { Process } from "../process/index.js";

/** Marks a person's terminal as attached: until the returned function is called, or this program ends, no program answers in its place. */
export function attend(attached: Process): () => void {
	const file = path.join(attached.dir, `attached.${process.pid}.${readStat(process.pid)?.start ?? "0"}.${randomBytes(3).toString("hex")}`);
	fs.writeFileSync(file, "", { mode: 0o600 });
	return () => {
		// Queries up to this offset were for the person's terminal, also for programs that look later.
		fs.writeFileSync(path.join(attached.dir, "attended"), String(attached.log.bounds().end), { mode: 0o600 });
		unlinkIfThere(file);
	};
}

/** Returns the offset up to which a person's terminal answers: infinity while one is attached, otherwise the end of the log when the last one left. */
export function answeredByPersons(dir: string): number {
	let attended = false;
	for (const name of namesIn(dir)) {
		const match = /^attached\.(\d+)\.(\d+)\./.exec(name);
		if (!match) continue;
		if (isAlive({ pid: Number(match[1]), start: match[2] as string })) attended = true;
		else unlinkIfThere(path.join(dir, name)); // its program was killed before it could remove the file
	}
	// In this order: a leaving terminal writes `attended` first.
	return attended ? Number.POSITIVE_INFINITY : Number(readIfThere(path.join(dir, "attended")) ?? 0) || 0;
}
