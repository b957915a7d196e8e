/**
 * The input of a terminal, kept open between keystrokes: opening it and checking for an end takes longer per key than the round trip to the program.
 * This hides no end of input, since on a terminal that is a key too.
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

	/** Types bytes. Returns false without any effect if that is not simply possible: the program has ended, or does not read. */
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
			// the careful write reports what is wrong
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
