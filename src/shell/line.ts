/** How one shell is reached and looked at: here through its FIFO and /proc, on another machine over the link, as it was last seen. */
import fs from "node:fs";
import path from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { errno } from "../base/errors.js";
import { readStart } from "../base/files.js";
import { type Identity, isAlive, ProcFile } from "../base/proc.js";
import { RECORD_BYTES } from "../keeper/layout.js";
import { isDead, readThere } from "../keeper/there.js";
import type { Box } from "../places/far/box.js";
import type { Placed } from "../places/far/files.js";
import type { From } from "../places/far/removed.js";
import type { Process } from "../process/process.js";
import { waitsForCommands } from "../process/status.js";

/** What tells it from all else that is written, and the files that it is about: on another machine it may have to be sent again. */
export interface Once {
	readonly name: string;
	readonly placed: readonly Placed[];
	/** See Told in places/far/commands.ts. */
	readonly life?: string;
	readonly farewell?: boolean;
	readonly from?: From;
}

export interface Line {
	/** In one piece, smaller than a pipe takes: all of it arrives, or nothing. False: nobody reads there any more. */
	write(text: string, once: Once): boolean;
	/** The first line of `begun`. */
	begun(): string;
	children(): number[];
	/** A mark that changes whenever the shell has waited for a child. */
	reaped(): string;
	/** It has nothing more to read. */
	isIdle(): boolean;
	lives(): boolean;
	/** What was written last has been delivered, or has failed. */
	delivery(): Promise<unknown>;
	/** What was written last could not be delivered, for this reason. */
	readonly failed: Error | undefined;
	/** Where a shell elsewhere had to go before it took that, since its own directory was gone; of one here that is seen beforehand. */
	moved(): Promise<string | undefined>;
	close(): void;
}

const WORD_MS = 1_000; // the command has ended, so the word that it was delivered is on its way, unless the link broke
const record = Buffer.allocUnsafeSlow(RECORD_BYTES);

export class NearLine implements Line {
	readonly failed = undefined;
	readonly #bash: Identity;
	readonly #in: number;
	readonly #begun: number;
	readonly #stat: ProcFile;
	readonly #children: ProcFile;

	constructor({ dir }: Process, bash: Identity) {
		this.#bash = bash;
		this.#in = fs.openSync(path.join(dir, "in"), fs.constants.O_WRONLY | fs.constants.O_NONBLOCK);
		try {
			this.#begun = fs.openSync(path.join(dir, "shell", "begun"), "r");
		} catch (error) {
			fs.closeSync(this.#in);
			throw error;
		}
		this.#stat = new ProcFile(`/proc/${bash.pid}/stat`);
		this.#children = new ProcFile(`/proc/${bash.pid}/task/${bash.pid}/children`);
	}

	write(text: string): boolean {
		try {
			fs.writeSync(this.#in, text);
			return true;
		} catch {
			return false; // EPIPE: it has ended. Else it does not read, which comes to the same
		}
	}

	async moved(): Promise<undefined> {}

	delivery(): Promise<unknown> {
		return Promise.resolve();
	}

	begun(): string {
		return record.toString("latin1", 0, fs.readSync(this.#begun, record, 0, record.length, 0));
	}

	children(): number[] {
		return (this.#children.read() ?? "").trim().split(" ").filter(Boolean).map(Number);
	}

	/** The page faults of those it has waited for. */
	reaped(): string {
		const stat = this.#stat.read() ?? "";
		const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ", 11);
		return `${fields[8]} ${fields[10]}`;
	}

	isIdle(): boolean {
		return waitsForCommands(this.#bash.pid);
	}

	lives(): boolean {
		return isAlive(this.#bash);
	}

	close(): void {
		fs.closeSync(this.#in);
		fs.closeSync(this.#begun);
		this.#stat.close();
		this.#children.close();
	}
}

export class FarLine implements Line {
	readonly #box: Box;
	readonly #process: Process;
	readonly #bash: Identity;
	readonly #changed: () => void;
	readonly #unfollow: () => void;
	#delivery: Promise<string | undefined> = Promise.resolve(undefined);
	failed: Error | undefined;
	/** The life of its machine in which it was found alive. */
	readonly #life: string;

	constructor(process: Process, box: Box, bash: Identity, changed: () => void) {
		this.#life = box.life;
		this.#process = process;
		this.#box = box;
		this.#bash = bash;
		this.#changed = changed;
		this.#unfollow = box.follow(process.id, { shell: bash });
	}

	/** It is on its way; should it not arrive, `failed` says so. */
	write(text: string, once: Once): boolean {
		if (this.#box.life !== this.#life) return false; // its machine has been started again since
		this.failed = undefined;
		this.#delivery = this.#box.command(this.#process.id, text, { ...once, bash: this.#bash }).catch((error: Error) => {
			this.failed = error;
			this.#changed();
			return undefined;
		});
		return true;
	}

	delivery(): Promise<unknown> {
		return this.#delivery;
	}

	moved(): Promise<string | undefined> {
		return Promise.race([this.#delivery, sleep(WORD_MS, undefined, { ref: false })]);
	}

	begun(): string {
		try {
			return readStart(path.join(this.#process.dir, "shell", "begun"), RECORD_BYTES);
		} catch (error) {
			if (errno(error) === "ENOENT") return "";
			throw error;
		}
	}

	children(): number[] {
		return [...(this.#box.lastSeen(this.#bash.pid)?.children ?? [])];
	}

	reaped(): string {
		return this.#box.lastSeen(this.#bash.pid)?.reaped ?? "";
	}

	isIdle(): boolean {
		return this.#box.lastSeen(this.#bash.pid)?.idle ?? false;
	}

	lives(): boolean {
		const there = readThere(this.#process.dir);
		return there?.lost === undefined && !isDead(there, this.#bash);
	}

	close(): void {
		this.#unfollow();
	}
}
