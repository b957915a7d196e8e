/**
 * An index of the lines of a log. A log only grows at its end and is only cut at its beginning, so counts stay valid: each call counts the new part,
 * and subtracts the part that a ring has dropped.
 */
import { setImmediate as turn } from "node:timers/promises";
import type { Process } from "../process/index.js";

const STEP = 256 * 1024;
const NEWLINE = 10;

/** The number of newlines from the start of counting up to an offset. */
interface Mark {
	readonly offset: number;
	readonly newlines: number;
}

export interface LineCount {
	readonly total: number;
	/** The counted part of the log. */
	readonly first: number;
	readonly end: number;
}

export class Lines {
	readonly #process: Process;
	/** STEP apart; the first mark is at the oldest byte. */
	#marks: Mark[] = [];
	#turn: Promise<unknown> = Promise.resolve();

	constructor(process: Process) {
		this.#process = process;
	}

	get task(): string {
		return this.#process.spec.task;
	}

	count(): Promise<LineCount> {
		return this.#inTurn(async () => {
			const { first, end } = this.#process.log.bounds();
			this.#startAt(first);
			let last = this.#marks.at(-1) as Mark;
			while (last.offset < end) {
				const slice = this.#process.read(last.offset, Math.min(STEP, end - last.offset));
				if (slice.bytes.length === 0) break;
				last = { offset: slice.next, newlines: last.newlines + newlinesIn(slice.bytes) };
				if (slice.bytes.length < STEP) break; // the unfinished rest is counted again next time
				this.#marks.push(last);
				await turn();
			}
			const unfinished = end > first && this.#process.read(end - 1, 1).bytes[0] !== NEWLINE;
			return { total: last.newlines - (this.#marks[0] as Mark).newlines + (unfinished ? 1 : 0), first, end };
		});
	}

	/** Returns the offset of a line, 0 being the oldest; the end if there are fewer lines. Call after `count`. */
	startOf(line: number, { first, end }: LineCount): Promise<number> {
		return this.#inTurn(async () => {
			if (line === 0) return first;
			const wanted = (this.#marks[0] as Mark).newlines + line;
			let { offset, newlines } = this.#marks.findLast((mark) => mark.newlines < wanted) as Mark;
			while (offset < end) {
				const { bytes, offset: start, next } = this.#process.read(offset, Math.min(STEP, end - offset));
				for (let at = bytes.indexOf(NEWLINE); at >= 0; at = bytes.indexOf(NEWLINE, at + 1)) if (++newlines === wanted) return start + at + 1;
				if (bytes.length === 0) break;
				offset = next;
				await turn();
			}
			return end;
		});
	}

	/** Returns the end of `lines` lines from `offset` on. */
	async behind(offset: number, lines: number, end: number): Promise<number> {
		for (let left = lines, at = offset; at < end; await turn()) {
			const { bytes, offset: start, next } = this.#process.read(at, Math.min(STEP, end - at));
			for (let found = bytes.indexOf(NEWLINE); found >= 0; found = bytes.indexOf(NEWLINE, found + 1)) if (--left === 0) return start + found + 1;
			if (bytes.length === 0) break;
			at = next;
		}
		return end;
	}

	/** Drops the marks before `first`, and keeps the newline counts consistent. */
	#startAt(first: number): void {
		const next = this.#marks.findIndex((mark) => mark.offset >= first);
		const mark = this.#marks[next];
		if (mark === undefined) this.#marks = [{ offset: first, newlines: 0 }];
		else if (mark.offset > first) {
			const between = newlinesIn(this.#process.read(first, mark.offset - first).bytes);
			this.#marks = [{ offset: first, newlines: mark.newlines - between }, ...this.#marks.slice(next)];
		}
	}

	#inTurn<T>(act: () => Promise<T>): Promise<T> {
		const result = this.#turn.then(act);
		this.#turn = result.catch(() => {}); // a failed call does not fail the next one
		return result;
	}
}

function newlinesIn(bytes: Buffer): number {
	let count = 0;
	for (let at = bytes.indexOf(NEWLINE); at >= 0; at = bytes.indexOf(NEWLINE, at + 1)) count++;
	return count;
}
