/** The sizes of a terminal over time: the `size OFFSET COLS ROWS` lines of `times`, read as they arrive. */
import fs from "node:fs";
import path from "node:path";
import { errno } from "../base/index.js";
import type { Process } from "./process.js";

export interface Size {
	/** Bytes printed before the change. */
	readonly offset: number;
	readonly cols: number;
	readonly rows: number;
}

const LINE = /size (\d+) (\d+) (\d+)\n/y;

export class Sizes {
	readonly #file: string;
	#read = 0;
	#half = "";

	constructor(dir: string) {
		this.#file = path.join(dir, "times");
	}

	/** Returns the sizes recorded since the last call, in order. */
	next(): Size[] {
		const text = this.#half + this.#more();
		this.#half = text.slice(text.lastIndexOf("\n") + 1);
		const sizes: Size[] = [];
		// Skips the times, of which there are many more than sizes.
		for (let at = text.indexOf("size "); at >= 0; at = text.indexOf("size ", at + 1)) {
			LINE.lastIndex = at;
			const match = LINE.exec(text);
			if (match) sizes.push({ offset: Number(match[1]), cols: Number(match[2]), rows: Number(match[3]) });
		}
		return sizes;
	}

	#more(): string {
		let fd: number;
		try {
			fd = fs.openSync(this.#file, "r");
		} catch (error) {
			if (errno(error) === "ENOENT") return ""; // nothing has been printed yet
			throw error;
		}
		try {
			const bytes = Buffer.alloc(Math.max(0, fs.fstatSync(fd).size - this.#read));
			const got = fs.readSync(fd, bytes, 0, bytes.length, this.#read);
			this.#read += got;
			return bytes.toString("latin1", 0, got);
		} finally {
			fs.closeSync(fd);
		}
	}
}

/** Returns the current size of a process's terminal; undefined if it has no terminal. */
export function sizeOf(process: Process): Pick<Size, "cols" | "rows"> | undefined {
	return process.spec.terminal && (new Sizes(process.dir).next().at(-1) ?? process.spec.terminal);
}
