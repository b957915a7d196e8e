/**
 * One writer at a time. A claim is a directory whose entries are generations: symbolic links 1, 2, 3 … of which the highest counts. Its target names
 * the holder: nothing is torn, and on a full disk it can still be made. Letting go renames it to N.free. The next generation is made by
 * symlink(2), which one program can do and no other, and only when the last one is free or its holder is dead. The highest is never removed, lower ones are:
 * so a program that was stopped between its look and its symlink finds that the generation it had looked at is gone, and gives up.
 *
 * A holder on another host cannot be looked at: it touches its link every minute, and after ten minutes of silence it counts as dead.
 */
import { randomBytes } from "node:crypto";
import fs from "node:fs";
import path from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { errno, fromSystem } from "./errors.js";
import { ensureDir, namesIn } from "./files.js";
import { isRunning, type ProgramIdentity, thisProgram } from "./proc.js";

const SIGN_MS = 60_000;
const SILENT_MS = 10 * 60_000;
/** Between two looks at a claim that is waited for: it is let go of after a write, or after a turn. */
const LOOK_MS = { first: 2, most: 100 };

export interface ClaimHolder extends ProgramIdentity {
	/** The purpose: "chat", "gateway" … */
	readonly what: string;
}

interface Generation {
	readonly number: number;
	readonly name: string;
	readonly target: string;
}

export class Claim {
	readonly #dir: string;
	readonly #number: number;
	readonly #target: string;
	readonly #sign: NodeJS.Timeout;
	#released = false;

	private constructor(dir: string, number: number, target: string) {
		this.#dir = dir;
		this.#number = number;
		this.#target = target;
		this.#sign = setInterval(() => this.#signLife(), SIGN_MS).unref();
	}

	/** Takes it, or returns who has it. */
	static take(dir: string, what: string): Claim | ClaimHolder {
		try {
			ensureDir(dir);
			for (;;) {
				const last = newest(dir);
				const holder = livingHolder(dir, last);
				if (holder) return holder;
				const target = targetOf(what);
				if (follow(dir, last, target)) return new Claim(dir, last.number + 1, target);
			}
		} catch (error) {
			throw fromSystem(error, `cannot claim ${dir}`);
		}
	}

	/** Waits until it can be taken. Rejects with the signal's reason. */
	static async wait(dir: string, what: string, signal?: AbortSignal): Promise<Claim> {
		for (let ms = LOOK_MS.first; ; ms = Math.min(ms * 2, LOOK_MS.most)) {
			signal?.throwIfAborted();
			const taken = Claim.take(dir, what);
			if (taken instanceof Claim) return taken;
			await sleep(ms, undefined, signal ? { signal } : {}).catch(() => {}); // aborted: the next round throws the reason
		}
	}

	static holder(dir: string): ClaimHolder | undefined {
		return livingHolder(dir, newest(dir));
	}

	/** False: it was let go of, or taken over by a program that had no sign of ours for too long. */
	held(): boolean {
		if (this.#released) return false;
		const last = newest(this.#dir);
		return last.number === this.#number && last.target === this.#target;
	}

	/** Idempotent. One that was taken over is not touched. */
	release(): void {
		if (this.#released) return;
		clearInterval(this.#sign);
		const held = this.held();
		this.#released = true;
		if (!held) return;
		try {
			fs.renameSync(path.join(this.#dir, String(this.#number)), path.join(this.#dir, `${this.#number}.free`));
		} catch (error) {
			if (errno(error) !== "ENOENT") throw fromSystem(error, `cannot let go of ${this.#dir}`);
		}
	}

	[Symbol.dispose](): void {
		this.release();
	}

	#signLife(): void {
		const now = new Date();
		try {
			fs.lutimesSync(path.join(this.#dir, String(this.#number)), now, now);
		} catch {
			// gone or read-only: `held` tells the truth
		}
	}
}

/** Does something while this program has the claim, and waits for it first. */
export async function withClaim<T>(dir: string, what: string, work: () => Promise<T> | T, signal?: AbortSignal): Promise<T> {
	const claim = await Claim.wait(dir, what, signal);
	try {
		return await work();
	} finally {
		claim.release();
	}
}

export const heldBy = ({ pid, what }: ClaimHolder): string => `${what || "another program"} (pid ${pid})`;

/** The highest generation. A number that is both held and free is left by a taker that came too late: it counts as held until that one removes it. */
function newest(dir: string): Generation {
	for (;;) {
		const names = generations(dir);
		const number = Math.max(0, ...names.map(numberOf));
		if (number === 0) return { number, name: "", target: "" };
		const name = names.includes(String(number)) ? String(number) : `${number}.free`;
		const target = readTarget(path.join(dir, name));
		if (target !== undefined) return { number, name, target };
		// else it was let go of, or a higher one has come, since the look
	}
}

const generations = (dir: string): string[] => namesIn(dir).filter((name) => /^[1-9]\d*(\.free)?$/.test(name));
const numberOf = (name: string): number => Number.parseInt(name, 10);

function readTarget(file: string): string | undefined {
	try {
		return fs.readlinkSync(file);
	} catch (error) {
		if (errno(error) === "ENOENT") return undefined;
		throw error;
	}
}

/** Makes the generation after `last`; false if another program was quicker. */
function follow(dir: string, last: Generation, target: string): boolean {
	const number = last.number + 1;
	const own = path.join(dir, String(number));
	try {
		fs.symlinkSync(target, own);
	} catch (error) {
		if (errno(error) === "EEXIST") return false;
		throw error;
	}
	const others = generations(dir).filter((name) => name !== String(number));
	const same = last.number === 0 || readTarget(path.join(dir, last.name)) === last.target;
	if (!same || others.some((name) => numberOf(name) >= number)) {
		fs.rmSync(own, { force: true });
		return false;
	}
	for (const name of others.sort((a, b) => numberOf(a) - numberOf(b))) fs.rmSync(path.join(dir, name), { force: true });
	return true;
}

/** PID START HOST NONCE WHAT */
const targetOf = (what: string): string => {
	const { pid, start, host } = thisProgram();
	return `${pid} ${start} ${host} ${randomBytes(6).toString("hex")} ${what.replace(/[\0\n]/g, " ").slice(0, 100)}`;
};

function livingHolder(dir: string, { name, target }: Generation): ClaimHolder | undefined {
	if (name === "" || name.endsWith(".free")) return undefined;
	const [pid = "", start = "", host = "", , ...what] = target.split(" ");
	const holder: ClaimHolder = { pid: Number(pid), start, host, what: what.join(" ") };
	const running = isRunning(holder) ?? !isSilent(path.join(dir, name));
	return running ? holder : undefined;
}

function isSilent(file: string): boolean {
	const stat = fs.lstatSync(file, { throwIfNoEntry: false });
	return stat === undefined || Date.now() - stat.mtimeMs > SILENT_MS;
}
