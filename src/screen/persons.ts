/**
 * Which program answers terminal queries while a person looks at the terminal. A person's terminal answers by itself: while there is one, as a
 * file `attached.PID.START.NONCE` says, no program does; `attended` is the offset up to which there was one.
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
		// What was asked until now was theirs to answer, also for who looks only later.
		fs.writeFileSync(path.join(attached.dir, "attended"), String(attached.log.bounds().end), { mode: 0o600 });
		unlinkIfThere(file);
	};
}

/** Up to which offset it is for a person's terminal to answer: everything while one is there, else what came before the last one left. */
export function answeredByPersons(dir: string): number {
	let attended = false;
	for (const name of namesIn(dir)) {
		const match = /^attached\.(\d+)\.(\d+)\./.exec(name);
		if (!match) continue;
		if (isAlive({ pid: Number(match[1]), start: match[2] as string })) attended = true;
		else unlinkIfThere(path.join(dir, name)); // it was killed before it could say good-bye
	}
	// In this order: who leaves writes `attended` first.
	return attended ? Number.POSITIVE_INFINITY : Number(readIfThere(path.join(dir, "attended")) ?? 0) || 0;
}
