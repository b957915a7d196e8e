/** Gets a password from a file that a person has named, or from the person; then it is kept for the task, in memory only. */
import path from "node:path";
import { configDir, HoldfastError, readPrivate } from "../base/index.js";
import type { Redactor } from "../base/secrets/index.js";

/** Asks a person. Resolves with null if they give none. */
export type AskPerson = (question: { task: string; signal: AbortSignal }) => Promise<string | null>;

const PATIENCE_MS = 45_000;

export class Passwords {
	readonly #file: () => string | null;
	readonly #secrets: Redactor;
	readonly #cached = new Map<string, string>();
	readonly #asking = new Map<string, Promise<string | null>>();
	#refused: string | undefined; // of the file
	/** Set by a door with a person at it. */
	askPerson: AskPerson | undefined;

	/** `secrets`: where it is known from then on, so that no text has it. */
	constructor(file: () => string | null, secrets: Redactor) {
		this.#file = file;
		this.#secrets = secrets;
	}

	/** Throws a sentence when there is none. */
	async of(task: string): Promise<string> {
		const file = this.#file();
		const password = file === null ? (this.#cached.get(task) ?? (await this.#askOnce(task))) : fromFile(file);
		if (!password)
			throw new HoldfastError(
				"INVALID",
				"sudo wants a password, and there is none; do without sudo, or ask the person to allow it (`sudo.passwordFile` in config.json). Do not guess passwords",
			);
		if (file !== null && password === this.#refused)
			throw new HoldfastError("INVALID", `sudo has refused the password in ${file} before, so it was not tried again; the person has to correct the file`);
		this.#secrets.know(password, { sure: true, task: file === null ? task : undefined });
		return password;
	}

	/** Drops what a person has typed for a task. */
	forget(task: string): void {
		this.#cached.delete(task);
	}

	/** Notes that the password was wrong. Returns what to say. */
	drop(task: string, password: string): string {
		const file = this.#file();
		if (file !== null) this.#refused = password;
		this.#cached.delete(task);
		return file === null
			? "sudo refused the password, so it was forgotten; the next sudo asks again."
			: `sudo refused the password in ${file}; the person has to correct the file.`;
	}

	/** Several sudos at once ask one question. */
	#askOnce(task: string): Promise<string | null> {
		const { askPerson } = this;
		if (!askPerson) return Promise.resolve(null);
		const asking =
			this.#asking.get(task) ??
			askPerson({ task, signal: AbortSignal.timeout(PATIENCE_MS) })
				.then((answer) => {
					if (answer) this.#cached.set(task, answer);
					return answer;
				})
				.finally(() => this.#asking.delete(task));
		this.#asking.set(task, asking);
		return asking;
	}
}

function fromFile(file: string): string {
	const home = process.env.HOME;
	const full = path.resolve(configDir(), home ? file.replace(/^~(?=\/)/, home) : file);
	return readPrivate(full, "the sudo password").replace(/\r?\n$/, "");
}
