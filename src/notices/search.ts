/** Lines of a log that contain one of some strings, found from an offset on. A line ends at a line feed or a carriage return. */
import { setImmediate as breathe } from "node:timers/promises";
import { plainText, utf8 } from "../base/index.js";
import { reveal } from "../base/secrets/index.js";
import { hiddenText, type LogCursor, type MaskedLog, type Slice } from "../process/index.js";
import type { Armed } from "./armed.js";
import { excerpt } from "./excerpts.js";

export const LINES_SHOWN = 20;
export const CHARS_SHOWN = 2000;
const LINE_SHOWN = 500;
const LONGEST_LINE = 64 * 1024;
const OVERLAP = 4 * 1024; // of a longer one this much is kept: more than any pattern has, which may go over the border
const AT_ONCE = 4 * 1024 * 1024; // then others have their turn
const ESC = 0x1b;

/** Matches that were not told yet. */
export interface FoundLines {
	/** How many lines, and the first of them. */
	count: number;
	lines: string[];
	patterns: string[];
	/** The offset of the first line. */
	offset: number;
}

export class LineSearch {
	readonly #patterns: readonly string[];
	readonly #needles: readonly Buffer[];
	readonly #cursor: LogCursor;
	readonly #log: MaskedLog;
	#rest: Buffer = Buffer.alloc(0);
	#offset: number;
	#midline: boolean;
	#missed: number;
	found: FoundLines = nothing();

	constructor(log: MaskedLog, patterns: readonly string[], from: Armed["search"]) {
		this.#patterns = patterns;
		this.#needles = patterns.map((pattern) => Buffer.from(pattern));
		this.#cursor = log.log.cursor(from.offset);
		this.#log = log;
		this.#offset = from.offset;
		this.#midline = from.midline;
		this.#missed = from.missed;
	}

	/** Returns the position from which another search finds nothing twice and misses nothing. */
	get position(): Armed["search"] {
		return { offset: this.#offset, midline: this.#midline, missed: this.#missed };
	}

	/** The line that is being printed may match; it counts when it is finished, or when nothing more comes. */
	get undecided(): boolean {
		return this.#rest.length > 0 && this.#mayMatch(this.#rest);
	}

	/** Search up to an offset. `still`: nothing more comes at the moment, so that a line without an end counts. Returns how much was read. */
	async readOn(end: number, still: boolean): Promise<number> {
		const start = this.#cursor.offset;
		let pause = start + AT_ONCE;
		while (this.#cursor.offset < end) {
			const slice = this.#cursor.read(end - this.#cursor.offset);
			if (slice.bytes.length === 0) break;
			this.#push(slice);
			if (this.#cursor.offset < pause) continue;
			pause = this.#cursor.offset + AT_ONCE;
			await breathe();
		}
		if (still && this.undecided && this.#line(this.#rest, this.#offset)) this.#passMidline();
		return this.#cursor.offset - start;
	}

	/** Forgets the found matches, which have been told or counted. */
	forget(): void {
		this.found = nothing();
	}

	close(): void {
		this.#cursor.close();
	}

	#push(slice: Slice): void {
		const gap = slice.offset - this.#offset - this.#rest.length;
		if (gap > 0) {
			// The ring has dropped what is between; what comes next is taken for the start of a line.
			this.#line(this.#rest, this.#offset);
			this.#missed += gap;
			this.#rest = Buffer.alloc(0);
			this.#offset = slice.offset;
			this.#midline = false;
		}
		const bytes = this.#rest.length > 0 ? Buffer.concat([this.#rest, slice.bytes]) : slice.bytes;
		const whole = Math.max(bytes.lastIndexOf("\n"), bytes.lastIndexOf("\r")) + 1;
		if (whole > 0) this.#lines(bytes.subarray(0, whole));
		this.#rest = Buffer.from(bytes.subarray(whole));
		this.#offset += whole;
		if (this.#midline) this.#passMidline();
		else if (this.#rest.length > LONGEST_LINE) this.#cutLongLine();
	}

	/** Whole lines, which start at the offset. */
	#lines(bytes: Buffer): void {
		let at = this.#midline ? lineEnd(bytes, 0) : 0;
		this.#midline = false;
		if (!this.#mayMatch(bytes)) return;
		for (let end = 0; at < bytes.length; at = end) {
			end = lineEnd(bytes, at);
			this.#line(bytes.subarray(at, end - 1), this.#offset + at);
		}
	}

	#line(bytes: Buffer, offset: number): boolean {
		const text = plainText(utf8(bytes));
		const pattern = this.#patterns.find((candidate) => text.includes(candidate));
		if (pattern === undefined) return false;
		const { found } = this;
		if (found.count === 0) found.offset = offset;
		found.count++;
		if (!found.patterns.includes(pattern)) found.patterns.push(pattern);
		if (found.lines.length < found.count - 1 || found.lines.length >= LINES_SHOWN) return true;
		const shown = plainText(hiddenText(this.#log, { bytes, offset }, { end: this.#cursor.offset }).text);
		const line = reveal(excerpt(shown.trimEnd(), text.indexOf(pattern), LINE_SHOWN));
		const room = CHARS_SHOWN - found.lines.reduce((sum, shown) => sum + shown.length + 1, 0);
		// Once one did not fit, none does: what is shown is the beginning.
		if (line.length < room) found.lines.push(line);
		return true;
	}

	/** The line at the offset has been reported: the rest of it, and what still comes of it, is passed over. */
	#passMidline(): void {
		this.#midline = true;
		this.#offset += this.#rest.length;
		this.#rest = Buffer.alloc(0);
	}

	#cutLongLine(): void {
		if (this.#line(this.#rest, this.#offset)) this.#passMidline();
		else {
			const cut = this.#rest.length - OVERLAP;
			this.#offset += cut;
			this.#rest = this.#rest.subarray(cut);
		}
	}

	/** Quick, since most output does not. Escape sequences may stand in the middle of a match. */
	#mayMatch(bytes: Buffer): boolean {
		return bytes.includes(ESC) || this.#needles.some((needle) => bytes.includes(needle));
	}
}

const nothing = (): FoundLines => ({ count: 0, lines: [], patterns: [], offset: 0 });

/** Behind the end of the line that starts at `at`. */
function lineEnd(bytes: Buffer, at: number): number {
	for (let end = at; end < bytes.length; end++) if (bytes[end] === 0x0a || bytes[end] === 0x0d) return end + 1;
	return bytes.length;
}
