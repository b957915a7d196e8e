/**
 * Who answers for a terminal. Several programs may look at one process, and a question must be answered once: the file
 * `answerer` in its directory names the one that does, {pid, start, nonce}. Its content decides, so it is read again
 * before each answer. A holder that has died is replaced. A person's terminal answers by itself: while there is one, as a
 * file `attached.PID.START.NONCE` says, nobody else does; `attended` is the offset up to which there was one.
 */
import { randomBytes } from "node:crypto";
import fs from "node:fs";
import path from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import * as z from "zod";
import { errno, fromSystem } from "../base/errors.js";
import { namesIn, readIfThere, unlinkIfThere } from "../base/files.js";
import { isAlive, readStat } from "../base/proc.js";
import type { Process } from "../process/process.js";

const holderSchema = z.object({ pid: z.number(), start: z.string(), nonce: z.string() });

/** Two who find the same dead holder both write their name over it. After so long, whoever is still named has won. */
const SETTLE_MS = 20;

const ownStart = (): string => readStat(process.pid)?.start ?? "0";

export class Lease {
	readonly #file: string;
	readonly #text: string;

	private constructor(file: string, text: string) {
		this.#file = file;
		this.#text = text;
	}

	/** undefined while somebody else has it. */
	static async take(dir: string): Promise<Lease | undefined> {
		const file = path.join(dir, "answerer");
		const nonce = randomBytes(6).toString("hex");
		const text = JSON.stringify({ pid: process.pid, start: ownStart(), nonce });
		const lease = new Lease(file, text);
		const holder = readIfThere(file);
		if (holder !== undefined && isHeld(holder)) return undefined;
		const temp = `${file}.${nonce}`;
		try {
			fs.writeFileSync(temp, text, { mode: 0o600 });
			if (holder === undefined)
				fs.linkSync(temp, file); // like O_EXCL, but with its content from the first moment
			else fs.renameSync(temp, file);
		} catch (error) {
			// Another was faster; or the process was pruned; or the disk is full, and perhaps not when there is something to answer.
			if (["EEXIST", "ENOENT", "ENOSPC", "EDQUOT"].includes(errno(error) ?? "")) return undefined;
			throw fromSystem(error, "cannot answer for the terminal");
		} finally {
			unlinkIfThere(temp);
		}
		if (holder !== undefined) await sleep(SETTLE_MS);
		return lease.held() ? lease : undefined;
	}

	held(): boolean {
		return readIfThere(this.#file) === this.#text;
	}

	release(): void {
		if (this.held()) unlinkIfThere(this.#file);
	}
}

function isHeld(text: string): boolean {
	try {
		return isAlive(holderSchema.parse(JSON.parse(text)));
	} catch {
		return false; // not something that we write: nobody holds it
	}
}

/** Say that a person's terminal is attached; until the returned function is called, or we die, nobody answers in its place. */
export function attend(attached: Process): () => void {
	const file = path.join(attached.dir, `attached.${process.pid}.${ownStart()}.${randomBytes(3).toString("hex")}`);
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
