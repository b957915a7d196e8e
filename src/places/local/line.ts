/** The line to a local shell: its FIFO, its records and /proc. */
import fs from "node:fs";
import path from "node:path";
import { type Identity, isAlive, ProcFile, readProc, readsStdin, statIfThere } from "../../base/index.js";
import { RECORD_BYTES } from "../../keeper/index.js";
import type { LineOf, ShellLine } from "../line.js";
import { existingParent, isRemoved, isSame, trueDirectory } from "./directory.js";
import type { Guards } from "./guard.js";

const NOTHING = Promise.resolve(undefined);
const record = Buffer.allocUnsafeSlow(RECORD_BYTES);

/** Returns whether a shell has read everything it was sent. */
export const waitsForCommands = (pid: number): boolean => readsStdin(readProc(`/proc/${pid}/syscall`));

export class LocalLine implements ShellLine {
	readonly failed = undefined;
	readonly takesText = true;
	readonly #bash: Identity;
	readonly #sandboxed: boolean;
	readonly #at: (file: string) => string;
	readonly #in: number;
	readonly #begun: number;
	readonly #stat: ProcFile;
	readonly #children: ProcFile;
	readonly #unguard: () => void;

	constructor({ dir, spec, bash, at }: LineOf, changed: () => void, guards: Guards) {
		this.#bash = bash;
		this.#sandboxed = spec.sandbox !== undefined;
		this.#at = at;
		this.#in = fs.openSync(path.join(dir, "in"), fs.constants.O_WRONLY | fs.constants.O_NONBLOCK);
		try {
			this.#begun = fs.openSync(path.join(dir, "shell", "begun"), "r");
		} catch (error) {
			fs.closeSync(this.#in);
			throw error;
		}
		this.#stat = new ProcFile(`/proc/${bash.pid}/stat`);
		this.#children = new ProcFile(`/proc/${bash.pid}/task/${bash.pid}/children`);
		this.#unguard = guards.add(dir, spec, changed);
	}

	write(text: string): boolean {
		try {
			fs.writeSync(this.#in, text);
			return true;
		} catch {
			return false; // EPIPE: it has ended. Otherwise it does not read, with the same effect
		}
	}

	/** A write is in the FIFO at once. */
	isUnderWay(): boolean {
		return false;
	}

	delivery(): Promise<unknown> {
		return NOTHING;
	}

	/** Seen before the line is written: `refuge`. */
	moved(): Promise<undefined> {
		return NOTHING;
	}

	async isThere(): Promise<boolean> {
		return true; // it is open
	}

	begun(): string {
		return record.toString("latin1", 0, fs.readSync(this.#begun, record, 0, record.length, 0));
	}

	children(): number[] {
		return (this.#children.read() ?? "").trim().split(" ").filter(Boolean).map(Number);
	}

	/** Returns the page faults of reaped children. */
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

	isLost(): boolean {
		return false;
	}

	directory(said: string): string {
		return trueDirectory(said, this.#bash.pid, this.#sandboxed);
	}

	refuge(cwd: string): string | undefined {
		return isDirectory(this.#at(cwd)) && !isRemoved(this.#bash.pid) ? undefined : existingParent(cwd, this.#at);
	}

	existing(dir: string): string {
		return existingParent(dir, this.#at);
	}

	isSame(one: string, other: string): boolean {
		return isSame(one, other);
	}

	close(): void {
		this.#unguard();
		fs.closeSync(this.#in);
		fs.closeSync(this.#begun);
		this.#stat.close();
		this.#children.close();
	}
}

/** A directory that cannot be examined (a locked parent, a too long path) counts as present: the shell is in it. */
function isDirectory(dir: string): boolean {
	try {
		return statIfThere(dir)?.isDirectory() ?? false;
	} catch {
		return true;
	}
}
