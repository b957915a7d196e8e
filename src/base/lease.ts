/**
 * One program at a time: a file names the one that does something, {pid, start, nonce}. Its content decides, so the holder
 * reads it again before each thing it does. A holder that has died is replaced; so is one that gave no sign of life for
 * `freshMs`, where those who take it have agreed on that.
 */
import { randomBytes } from "node:crypto";
import fs from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import * as z from "zod";
import { errno, fromSystem } from "./errors.js";
import { readIfThere, statIfThere, unlinkIfThere } from "./files.js";
import { isAlive, readStat } from "./proc.js";

const holderSchema = z.looseObject({ pid: z.number(), start: z.string(), nonce: z.string() });

export interface LeaseOptions {
	/** What others are to know of the holder. */
	readonly about?: Readonly<Record<string, unknown>>;
	/** How long it holds without a `renew`. Default: as long as the program lives. */
	readonly freshMs?: number;
	/** Take it from whoever has it. */
	readonly force?: boolean;
}

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
	static async take(file: string, options: LeaseOptions = {}): Promise<Lease | undefined> {
		const nonce = randomBytes(6).toString("hex");
		const text = JSON.stringify({ ...options.about, pid: process.pid, start: readStat(process.pid)?.start ?? "0", nonce });
		const lease = new Lease(file, text);
		const holder = readIfThere(file);
		if (holder !== undefined && !options.force && isHeld(holder) && isFresh(file, options.freshMs)) return undefined;
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

	/** What is said of the holder, and whether it still holds; undefined when there is none. */
	static holder(file: string, freshMs?: number): { about: Readonly<Record<string, unknown>>; text: string; held: boolean } | undefined {
		const text = readIfThere(file);
		if (text === undefined) return undefined;
		try {
			return { about: holderSchema.parse(JSON.parse(text)), text, held: isHeld(text) && isFresh(file, freshMs) };
		} catch {
			return { about: {}, text, held: false };
		}
	}

	held(): boolean {
		return readIfThere(this.#file) === this.#text;
	}

	/** A sign of life. False: somebody else has it now. */
	renew(): boolean {
		if (!this.held()) return false;
		const now = new Date();
		try {
			fs.utimesSync(this.#file, now, now);
		} catch (error) {
			if (errno(error) !== "ENOENT") throw fromSystem(error, `cannot renew ${this.#file}`);
			return false;
		}
		return true;
	}

	release(): void {
		if (this.held()) unlinkIfThere(this.#file);
	}
}

function isFresh(file: string, freshMs: number | undefined): boolean {
	return freshMs === undefined || Date.now() - (statIfThere(file)?.mtimeMs ?? 0) < freshMs;
}

function isHeld(text: string): boolean {
	try {
		return isAlive(holderSchema.parse(JSON.parse(text)));
	} catch {
		return false; // not something that we write: nobody holds it
	}
}
