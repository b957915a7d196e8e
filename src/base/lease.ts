/**
 * One program at a time. A lease has generations: files FILE.1, FILE.2 … beside each other, of which the highest counts. Its content names
 * the holder, or none when it is free. The next generation is made with link(2), which one program can do and no other, and only when the last
 * one is free or stale. The highest is never removed, lower ones are, lowest first. So at most one program holds a generation, and a holder
 * that was replaced finds that out by asking `held` before each thing it does.
 *
 * A holder gives a sign of life now and then: the time of its file. Without one for `freshMs` it is stale; so is one that has died, if it can
 * be looked at from here, which takes the same host and pid namespace.
 */
import { randomBytes } from "node:crypto";
import fs from "node:fs";
import path from "node:path";
import * as z from "zod";
import { errno, fromSystem } from "./errors.js";
import { namesIn, readIfThere, statIfThere, unlinkIfThere } from "./files.js";
import { isAlive, readStat } from "./proc.js";
import { here } from "./who.js";

/** Earlier versions had no `host`, and one file: FILE. */
const holderSchema = z.lazy(() => z.looseObject({ pid: z.number(), start: z.string(), nonce: z.string(), host: z.string().optional() }));

/** How long a holder may be silent, where its users have not agreed on another time. */
const FRESH_MS = 15_000;

export interface LeaseOptions {
	/** Told to others about the holder. */
	readonly about?: Readonly<Record<string, unknown>>;
	/** How long it holds without a `renew`, by the caller. Default: it is renewed as long as this program runs. */
	readonly freshMs?: number;
	/** Take it from its holder. */
	readonly force?: boolean;
}

export interface LeaseHolder {
	readonly about: Readonly<Record<string, unknown>>;
	readonly held: boolean;
	/** Frees the lease. True for one of all programs that try. */
	clear(): boolean;
}

interface Generation {
	readonly number: number;
	readonly file: string;
	readonly text: string;
}

export class Lease {
	readonly #file: string;
	readonly #number: number;
	readonly #text: string;
	#timer: NodeJS.Timeout | undefined;

	private constructor(file: string, number: number, text: string) {
		this.#file = file;
		this.#number = number;
		this.#text = text;
	}

	/** Returns undefined while another program has it, or when it cannot be written: on a full disk, or in a directory that was removed. */
	static take(file: string, options: LeaseOptions = {}): Lease | undefined {
		const last = newest(file);
		if (!options.force && isHeld(last, options.freshMs)) return undefined;
		const text = JSON.stringify({
			...options.about,
			pid: process.pid,
			start: readStat(process.pid)?.start ?? "0",
			host: here(),
			nonce: randomBytes(6).toString("hex"),
		});
		if (!follow(file, last, text)) return undefined;
		const lease = new Lease(file, last.number + 1, text);
		if (options.freshMs === undefined) lease.#timer = setInterval(() => lease.#renewOrStop(), FRESH_MS / 3).unref();
		return lease;
	}

	/** The lease is free. */
	static isFree(file: string): boolean {
		return !isHeld(newest(file), undefined);
	}

	/** The holder has ended or let go. A holder on this machine that is alive has not, also while it is stopped. `freshMs`: as it was taken with. */
	static isAbandoned(file: string, freshMs?: number): boolean {
		const last = newest(file);
		const holder = holderOf(last);
		return !holder || (isLocal(holder) ? !isAlive(holder) : !isHeld(last, freshMs));
	}

	/** When its holder last renewed or released it; undefined if it was never held. */
	static lastSign(file: string): number | undefined {
		return statIfThere(newest(file).file)?.mtimeMs;
	}

	/** Returns what the lease says about its holder, and whether that still holds it; undefined when it is free. */
	static holder(file: string, freshMs?: number): LeaseHolder | undefined {
		const last = newest(file);
		if (last.text === "" || isFreeText(last.text)) return undefined;
		return { about: holderOf(last) ?? {}, held: isHeld(last, freshMs), clear: () => follow(file, last, freeText()) };
	}

	held(): boolean {
		return readIfThere(nameOf(this.#file, this.#number)) === this.#text && !fs.existsSync(nameOf(this.#file, this.#number + 1));
	}

	/** A sign of life. False: it is lost. */
	renew(): boolean {
		const now = new Date();
		try {
			fs.utimesSync(nameOf(this.#file, this.#number), now, now);
		} catch (error) {
			if (errno(error) !== "ENOENT") throw fromSystem(error, `cannot renew ${this.#file}`);
			return false;
		}
		return this.held();
	}

	/** Idempotent. One that was taken over is not touched. */
	release(): void {
		clearInterval(this.#timer);
		follow(this.#file, { number: this.#number, file: nameOf(this.#file, this.#number), text: this.#text }, freeText());
	}

	#renewOrStop(): void {
		try {
			if (this.renew()) return;
		} catch {
			// a disk that cannot be written to: the lease gets stale, and `held` still tells the truth
		}
		clearInterval(this.#timer);
	}
}

const nameOf = (file: string, number: number): string => (number === 0 ? file : `${file}.${number}`);

/** The highest generation; number 0 is FILE itself, or nothing. */
function newest(file: string): Generation {
	for (;;) {
		const number = Math.max(0, ...numbersOf(file));
		const text = readIfThere(nameOf(file, number));
		if (text !== undefined || number === 0) return { number, file: nameOf(file, number), text: text ?? "" };
		// else a higher one has come, and this one was removed
	}
}

function numbersOf(file: string): number[] {
	const prefix = `${path.basename(file)}.`;
	return namesIn(path.dirname(file))
		.filter((name) => name.startsWith(prefix) && /^[1-9]\d*$/.test(name.slice(prefix.length)))
		.map((name) => Number(name.slice(prefix.length)));
}

/**
 * Makes the generation after `last`; false if another program has, or if it cannot be written just now. This program may have been stopped since it
 * read `last`, and the next generations may have come and gone: then `last` is gone too, for lower ones are removed first.
 */
function follow(file: string, last: Generation, text: string): boolean {
	const number = last.number + 1;
	const temp = path.join(path.dirname(file), `.${randomBytes(6).toString("hex")}`);
	try {
		fs.writeFileSync(temp, text, { mode: 0o600, flag: "wx" });
		fs.linkSync(temp, nameOf(file, number)); // like O_EXCL, but with its content from the first moment
	} catch (error) {
		if (["EEXIST", "ENOENT", "ENOSPC", "EDQUOT"].includes(errno(error) ?? "")) return false;
		throw fromSystem(error, `cannot write ${file}`);
	} finally {
		unlinkIfThere(temp);
	}
	const numbers = numbersOf(file).sort((a, b) => a - b);
	if ((readIfThere(last.file) ?? "") !== last.text || numbers.some((other) => other > number)) {
		unlinkIfThere(nameOf(file, number));
		return false;
	}
	for (const other of [0, ...numbers]) if (other < number) unlinkIfThere(nameOf(file, other));
	return true;
}

/** Unique, so a program that has read one can tell whether it is still in place. */
const freeText = (): string => JSON.stringify({ free: randomBytes(6).toString("hex") });
const isFreeText = (text: string): boolean => text.startsWith('{"free":');

function holderOf({ text }: Generation): z.infer<typeof holderSchema> | undefined {
	try {
		return holderSchema.parse(JSON.parse(text));
	} catch {
		return undefined; // not something that we write
	}
}

const isLocal = ({ host }: { readonly host?: string | undefined }): boolean => host === undefined || host === here();

function isHeld(generation: Generation, freshMs: number | undefined): boolean {
	const holder = holderOf(generation);
	if (!holder) return false;
	if (isLocal(holder) && !isAlive(holder)) return false;
	if (holder.host === undefined && freshMs === undefined) return true; // an earlier version gives no other sign of life
	return Date.now() - (statIfThere(generation.file)?.mtimeMs ?? 0) < (freshMs ?? FRESH_MS);
}
