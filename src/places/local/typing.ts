/**
 * The input of a terminal, kept open between keys: to open it, and to look for an end, for each of them takes longer than a
 * key takes to the program and back. Nobody misses the end of input by it, since on a terminal that is a key too.
 */
import fs from "node:fs";
import path from "node:path";

const ATOMIC = 4096; // PIPE_BUF: whole or not at all
const IDLE_MS = 1_000;
const BLANK = 32;
const first = Buffer.alloc(1);

interface Open {
	readonly in: number;
	readonly exit: number;
	readonly idle: NodeJS.Timeout;
}

export class Typing {
	readonly #dir: string;
	#open: Open | undefined;

	constructor(dir: string) {
		this.#dir = dir;
	}

	/** False, and nothing done, if that is not possible just like that: it has ended, or does not read. */
	type(bytes: Buffer): boolean {
		if (bytes.length > ATOMIC) return false;
		try {
			this.#open ??= this.#start();
			this.#open.idle.refresh();
			if (fs.readSync(this.#open.exit, first, 0, 1, 0) === 1 && first[0] === BLANK) {
				fs.writeSync(this.#open.in, bytes);
				return true;
			}
		} catch {
			// who writes with more care finds out what is wrong
		}
		this.#close();
		return false;
	}

	#start(): Open {
		const exit = fs.openSync(path.join(this.#dir, "exit"), "r");
		try {
			const fd = fs.openSync(path.join(this.#dir, "in"), fs.constants.O_WRONLY | fs.constants.O_NONBLOCK);
			return { in: fd, exit, idle: setTimeout(() => this.#close(), IDLE_MS).unref() };
		} catch (error) {
			fs.closeSync(exit);
			throw error;
		}
	}

	#close(): void {
		if (!this.#open) return;
		clearTimeout(this.#open.idle);
		fs.closeSync(this.#open.in);
		fs.closeSync(this.#open.exit);
		this.#open = undefined;
	}
}
