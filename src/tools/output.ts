/**
 * Reads a range of a log as text for a result: valid UTF-8, without escape sequences unless asked for, with secrets masked, and within the size limit.
 * Reads piece by piece, so that memory does not grow with the log.
 */
import { setImmediate as turn } from "node:timers/promises";
import { counted, utf8, wholeCharacters } from "../base/index.js";
import { reveal } from "../base/secrets/index.js";
import { hiddenText, type Process } from "../process/index.js";
import { positionOf, stripAnsi, wholeSequences } from "./ansi.js";
import { Excerpt, lastOf } from "./excerpt.js";
import type { TerminalResult } from "./result.js";

const PIECE = 256 * 1024;
const HEAD_SHARE = 0.4;
const MARKER_ROOM = 160;

export interface OutputOptions {
	readonly from: number;
	/** Default: the current end. */
	readonly to?: number;
	readonly maxChars: number;
	/** The part to keep of a text that is too long. */
	readonly keep: "ends" | "start" | "end";
	/** Keeps escape sequences. */
	readonly raw: boolean;
	/** No output will follow, so an incomplete character or sequence at the end is included; else it is left for the next reader. */
	readonly final: boolean;
	/** Text to append. */
	readonly after?: string;
}

export interface OutputText {
	readonly text: string;
	/** The start of the text in the log: later than requested if the ring has dropped the beginning. */
	readonly offset: number;
	/** The offset at which to continue: with `keep: "start"` the end of the text, else the end of the range. */
	readonly next: number;
	/** Undefined with `keep: "start"`, which does not read the rest; `next` shows the cut. */
	readonly truncated: NonNullable<TerminalResult["truncated"]> | undefined;
	/** Characters omitted from the text that the log still has. */
	readonly leftOut?: number;
}

export async function readOutput(process: Process, options: OutputOptions): Promise<OutputText> {
	const { from, maxChars, keep, raw } = options;
	const to = options.to ?? process.log.bounds().end;
	const headMost = keep === "ends" ? Math.floor((maxChars - MARKER_ROOM) * HEAD_SHARE) : keep === "start" ? maxChars : 0;
	const excerpt = new Excerpt({ head: headMost, tail: maxChars - headMost });
	let offset: number | undefined;
	let next = from;
	let droppedBytes = 0;
	let cutAt: number | undefined;
	for (const piece of pieces(process, from, to, options)) {
		if (offset === undefined || piece.offset > next) offset = piece.offset; // a ring may drop output during the read
		droppedBytes += piece.offset - next;
		next = piece.offset + piece.bytes.length;
		const { text } = piece;
		const inHead = excerpt.push(raw ? text : stripAnsi(text));
		if (inHead !== undefined) cutAt = piece.offset + bytesOf(piece.bytes, raw ? inHead : positionOf(text, inHead));
		if (cutAt !== undefined && keep === "start") return { text: reveal(excerpt.head), offset, next: cutAt, truncated: undefined };
		if (to - from > PIECE) await turn(); // a log may have 64 MiB: let other work run
	}
	// Bytes that a ring has dropped count too. They can no longer be read, so their number of characters is estimated from the rest.
	const readBytes = next - from - droppedBytes;
	const dropped = readBytes === 0 ? 0 : Math.round(droppedBytes * (excerpt.total / readBytes));
	excerpt.push(process.secrets.hide(options.after ?? ""));
	offset ??= from;
	if (excerpt.total <= maxChars) return { text: reveal(excerpt.head + excerpt.tail), offset, next, truncated: undefined };
	const tail = keep === "ends" ? lastOf(excerpt.tail, maxChars - MARKER_ROOM - excerpt.head.length) : excerpt.tail;
	const omitted = excerpt.total - excerpt.head.length - tail.length;
	const truncated = { total_chars: excerpt.total + dropped, omitted_chars: omitted + dropped, session_id: process.id, byte_offset: cutAt ?? offset };
	return {
		text: reveal(keep === "ends" ? `${excerpt.head}${marker(excerpt.head, omitted, truncated)}${tail}` : tail),
		offset,
		next,
		truncated,
		leftOut: omitted,
	};
}

/** Returns the end of the output, from the start of a line if possible; `whole` if it is the entire output. */
export async function readEnd(
	process: Process,
	options: Pick<OutputOptions, "maxChars" | "raw" | "final">,
): Promise<{ text: string; whole: boolean; next: number }> {
	const to = process.log.bounds().end;
	const { text, offset, next, truncated } = await readOutput(process, { ...options, from: Math.max(0, to - 4 * options.maxChars), to, keep: "end" }); // up to 4 bytes per character
	if (offset === 0 && !truncated) return { text, whole: true, next };
	const line = text.indexOf("\n");
	return { text: line >= 0 && line < text.length - 1 ? text.slice(line + 1) : text, whole: false, next };
}

function marker(head: string, omitted: number, cut: NonNullable<OutputText["truncated"]>): string {
	const where = `process(action="log", session_id="${cut.session_id}", byte_offset=${cut.byte_offset})`;
	return `${head === "" || head.endsWith("\n") ? "" : "\n"}[${counted(omitted, "character")} left out; ${where} shows them]\n`;
}

/** Yields pieces whose texts can be joined: none ends inside a character or an escape sequence. Secrets are hidden character by character. */
function* pieces(
	process: Process,
	from: number,
	to: number,
	{ raw, final, to: wanted }: OutputOptions,
): Generator<{ readonly bytes: Buffer; readonly text: string; readonly offset: number }> {
	const end = wanted === undefined ? to : process.log.bounds().end;
	for (let next = from; next < to; ) {
		const slice = process.read(next, Math.min(PIECE, to - next));
		if (slice.bytes.length === 0) return;
		const last = slice.next >= to;
		const whole = last && final ? slice.bytes.length : wholePart(slice.bytes, raw);
		if (whole === 0 && last) return;
		const some = whole === 0 ? slice.bytes : slice.bytes.subarray(0, whole);
		const hidden = hiddenText(process, { bytes: some, offset: slice.offset }, { end, live: last && !final });
		if (hidden.bytes === 0) return;
		const bytes = some.subarray(0, hidden.bytes);
		yield { bytes, text: hidden.text, offset: slice.offset };
		if (bytes.length < some.length) return;
		next = slice.offset + bytes.length;
	}
}

function wholePart(bytes: Buffer, raw: boolean): number {
	const characters = wholeCharacters(bytes);
	return raw ? characters : Math.min(characters, wholeSequences(bytes));
}

/** Returns how many bytes the first characters came from. Their length in UTF-8 differs, since invalid bytes became U+FFFD. */
function bytesOf(bytes: Buffer, characters: number): number {
	let low = 0;
	let high = bytes.length;
	while (low < high) {
		const middle = Math.ceil((low + high) / 2);
		if (utf8(bytes.subarray(0, middle)).length <= characters) low = middle;
		else high = middle - 1;
	}
	return low;
}
