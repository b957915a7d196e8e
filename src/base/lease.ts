/**
 * One program at a time: a file names the one that does something, {pid, start, nonce}. Its content decides, so the holder
 * reads it again before each thing it does. A holder that has died is replaced.
 */
import { randomBytes } from "node:crypto";
import fs from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import * as z from "zod";
import { errno, fromSystem } from "./errors.js";
import { readIfThere, unlinkIfThere } from "./files.js";
import { isAlive, readStat } from "./proc.js";

const holderSchema = z.object({ pid: z.number(), start: z.string(), nonce: z.string() });

/** Two who find the same dead holder both write their name over it. After so long, whoever is still named has won. */
const SETTLE_MS = 20;

export class Lease {
	readonly #file: string;
	readonly #text: string;

	private constructor(file: string, text: string) {
		this.#file = file;
		this.#text = text;
	}

	/** undefined while somebody else has it. */
	static async take(file: string): Promise<Lease | undefined> {
		const nonce = randomBytes(6).toString("hex");
		const text = JSON.stringify({ pid: process.pid, start: readStat(process.pid)?.start ?? "0", nonce });
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
			// Another was faster; or the directory was pruned; or the disk is full, and perhaps not when there is something to do.
			if (["EEXIST", "ENOENT", "ENOSPC", "EDQUOT"].includes(errno(error) ?? "")) return undefined;
			throw fromSystem(error, `cannot write ${file}`);
		} finally {
			unlinkIfThere(temp);
		}
		if (holder !== undefined) await sleep(SETTLE_MS);
		return lease.held() ? lease : undefined;
	}

	/** Nobody alive holds it; taking it would work. */
	static isFree(file: string): boolean {
		const holder = readIfThere(file);
		return holder === undefined || !isHeld(holder);
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
