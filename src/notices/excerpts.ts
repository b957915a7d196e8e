/** Parts of output as text to read: nothing for a terminal in it, no character cut in two. */
import { plainText } from "../base/index.js";
import { reveal } from "../base/secrets/index.js";
import { hiddenText, type Process } from "../process/index.js";

export interface Tail {
	/** Whole lines, unless the last alone is longer than it may be. */
	readonly text: string;
	/** The offset in the log at which `text` starts, and the end of the log. */
	readonly offset: number;
	readonly end: number;
	/** The log has more since the requested offset. */
	readonly cut: boolean;
}

const READ = 32 * 1024; // escape sequences, which are not shown, may be most of it

/** At most `max` characters of what was printed since `from`, cut at the start of a line. */
export function tailOf(process: Process, max: number, from = 0): Tail {
	const { end } = process.log.bounds();
	const slice = process.read(Math.max(from, end - READ), READ);
	const { bytes } = slice;
	// Line for line what the bytes say, but for what is secret.
	const lines = hiddenText(process, slice, { end }).text.split("\n");
	if (lines.at(-1) === "") lines.pop();
	const shown: string[] = [];
	let length = 0;
	let start = bytes.length; // of the first line that is shown
	while (start > 0) {
		const before = lineStart(bytes, start);
		const line = lineText(lines.at(-1 - shown.length) ?? "");
		if (length + line.length > max) break;
		if (before === 0 && slice.offset > from && shown.length > 0) break; // its beginning is not here
		shown.unshift(line);
		length += line.length + 1;
		start = before;
	}
	if (shown.length === 0 && bytes.length > 0) {
		const last = lineStart(bytes, bytes.length);
		return { text: `…${wellFormed(lineText(lines.at(-1) ?? "").slice(1 - max))}`, offset: slice.offset + last, end, cut: true };
	}
	return { text: shown.join("\n").trimEnd(), offset: slice.offset + start, end, cut: slice.offset + start > from };
}

/** Returns what a terminal would show of a line: the text after the last carriage return. */
function lineText(line: string): string {
	const text = reveal(plainText(line).replace(/\r+$/, ""));
	return text.slice(text.lastIndexOf("\r") + 1);
}

/** The start of the line that ends at `end`, with or without a line feed. */
const lineStart = (bytes: Buffer, end: number): number => (end < 2 ? 0 : bytes.lastIndexOf("\n", end - 2) + 1);

/** At most `max` characters of `text`, those around `at` among them. */
export function excerpt(text: string, at: number, max: number): string {
	if (text.length <= max) return text;
	const start = Math.max(0, Math.min(at - Math.floor(max / 4), text.length - max));
	const end = start + max;
	const before = start > 0 ? "…" : "";
	const after = end < text.length ? "…" : "";
	return `${before}${wellFormed(text.slice(start + before.length, end - after.length))}${after}`;
}

const wellFormed = (text: string): string => text.replace(/^[\udc00-\udfff]|[\ud800-\udbff]$/g, "");
