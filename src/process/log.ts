/** Reads the segments of a process, or a range of them, as one byte stream. Readers own their offset; this module keeps no state on disk. */
import fs from "node:fs";
import path from "node:path";
import { errno, HoldfastError } from "../base/index.js";
import { segmentName, segmentStarts } from "../keeper/index.js";

export interface Slice {
	readonly bytes: Buffer;
	/** Start of `bytes`. Greater than requested if the older part is gone (a ring log drops its oldest segment). */
	readonly offset: number;
	/** Offset for the next read. */
	readonly next: number;
}

const CHUNK = 256 * 1024;

/** One buffer for all reads, since most return a line or nothing. A big read is returned without a copy. */
let scratch = Buffer.allocUnsafeSlow(CHUNK);
function take(length: number): Buffer {
	if (length < CHUNK / 8) return Buffer.from(scratch.subarray(0, length));
	const bytes = scratch.subarray(0, length);
	scratch = Buffer.allocUnsafeSlow(CHUNK);
	return bytes;
}

/** The part of a directory's log that belongs to one command. Its offsets count from 0. */
export interface LogRange {
	readonly from: number;
	/** Infinity while the command may still print. */
	readonly to: number;
}

const WHOLE: LogRange = { from: 0, to: Number.POSITIVE_INFINITY };

export class Log {
	readonly #dir: string;
	readonly #range: LogRange;

	constructor(dir: string, range: LogRange = WHOLE) {
		this.#dir = dir;
		this.#range = range;
	}

	/** Returns the offset of the oldest byte kept, and the offset after the newest. */
	bounds(): { first: number; end: number } {
		const { from, to } = this.#range;
		for (;;) {
			const starts = segmentStarts(this.#dir);
			const last = starts.at(-1);
			if (last === undefined) {
				const end = Number.isFinite(to) ? to - from : 0;
				return { first: end, end };
			}
			try {
				const end = Math.max(0, Math.min(to, last + fs.statSync(this.#path(last)).size) - from);
				return { first: Math.min(end, Math.max(0, (starts[0] as number) - from)), end };
			} catch (error) {
				if (errno(error) !== "ENOENT") throw error; // the ring moved on between the two calls: try again
			}
		}
	}

	/** Returns a reader that keeps its position. */
	cursor(offset: number): LogCursor {
		return new LogCursor(this.#dir, offset, this.#range);
	}

	read(offset: number, max = CHUNK): Slice {
		const cursor = this.cursor(offset);
		try {
			const slices: Slice[] = [];
			let left = max;
			for (let slice = cursor.read(left); slice.bytes.length > 0; slice = cursor.read(left)) {
				// a gap ends this read: a slice is contiguous
				if (slices.length > 0 && slice.offset !== slices.at(-1)?.next) break;
				slices.push(slice);
				left -= slice.bytes.length;
				if (left <= 0) break;
			}
			const first = slices[0];
			if (!first) return { bytes: Buffer.alloc(0), offset: cursor.offset, next: cursor.offset };
			return {
				bytes: slices.length === 1 ? first.bytes : Buffer.concat(slices.map((slice) => slice.bytes)),
				offset: first.offset,
				next: (slices.at(-1) as Slice).next,
			};
		} finally {
			cursor.close();
		}
	}

	/** Removes whole segments below `offset` (never the one being written), for logs that pause their writer when full. */
	discard(offset: number): number {
		const starts = segmentStarts(this.#dir);
		for (let i = 0; i + 1 < starts.length && (starts[i + 1] as number) <= offset + this.#range.from; i++)
			fs.rmSync(this.#path(starts[i] as number), { force: true });
		return this.bounds().first;
	}

	/** Frees the disk space reserved after the end of the last segment. Only for a closed log. */
	release(): void {
		const last = segmentStarts(this.#dir).at(-1);
		if (last === undefined) return;
		const file = this.#path(last);
		fs.truncateSync(file, fs.statSync(file).size);
	}

	#path(start: number): string {
		return path.join(this.#dir, segmentName(start));
	}
}

/** A reader that keeps its segment open, so that following costs one read per wake-up. */
export class LogCursor {
	readonly #dir: string;
	readonly #from: number;
	readonly #length: number;
	#fd: number | undefined;
	/** Start of the open segment, as an offset of the range: negative if the segment begins with another command. */
	#start = 0;
	offset: number;

	constructor(dir: string, offset: number, { from, to }: LogRange = WHOLE) {
		this.#dir = dir;
		this.#from = from;
		this.#length = to - from;
		this.offset = offset;
	}

	/** Returns up to `max` bytes of one segment at the offset; empty at the end. */
	read(max = CHUNK): Slice {
		for (;;) {
			if (this.#fd === undefined && !this.#open()) return this.#nothing();
			const most = Math.min(max, CHUNK, this.#length - this.offset);
			if (most <= 0) return this.#nothing();
			const got = fs.readSync(this.#fd as number, scratch, 0, most, this.offset - this.#start);
			if (got > 0) {
				const slice = { bytes: take(got), offset: this.offset, next: this.offset + got };
				this.offset = slice.next;
				return slice;
			}
			// The end of this segment is the end of the log unless the next one begins exactly at this offset. A writer creates the next segment only after
			// its last byte in this one, so this one needs no second read.
			const dropped = fs.fstatSync(this.#fd as number).nlink === 0;
			if (!dropped && (this.#start === this.offset || !fs.existsSync(path.join(this.#dir, segmentName(this.offset + this.#from))))) return this.#nothing();
			this.close();
		}
	}

	close(): void {
		if (this.#fd !== undefined) fs.closeSync(this.#fd);
		this.#fd = undefined;
	}

	#nothing(): Slice {
		return { bytes: Buffer.alloc(0), offset: this.offset, next: this.offset };
	}

	/** Opens the segment that contains the offset; if that is gone, the oldest one. */
	#open(): boolean {
		for (;;) {
			const starts = segmentStarts(this.#dir);
			if (starts.length === 0) return false;
			const start = starts.findLast((candidate) => candidate <= this.offset + this.#from) ?? (starts[0] as number);
			try {
				this.#fd = fs.openSync(path.join(this.#dir, segmentName(start)), "r");
			} catch (error) {
				if (errno(error) === "ENOENT") continue; // the ring moved on
				throw error;
			}
			this.#start = start - this.#from;
			if (this.offset < this.#start) this.offset = Math.min(this.#start, this.#length);
			return true;
		}
	}
}

/** Throws unless the value is a whole number of bytes; NaN would silently read from an undefined position. */
export function checkCount(value: number, what: string): void {
	if (!Number.isSafeInteger(value) || value < 0) throw new HoldfastError("INVALID", `${what} must be a whole number from 0 on, not ${value}`);
}
