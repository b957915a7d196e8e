/** Removes escape sequences from text. A terminal would act on them; a model reads them as noise. */

import { SEQUENCE } from "../base/index.js";

/** An incomplete sequence at the end of the text. */
const UNFINISHED = /\x1b(?:\[[0-?]*[ -/]*|[\]PX^_][^\x07\x1b\n]*\x1b?|[ -/]*)$/;
const LONGEST = 4 * 1024;

export const stripAnsi = (text: string): string => text.replace(SEQUENCE, "");

/** Returns how many bytes can be stripped without knowing what follows. A very long sequence counts as text. */
export function wholeSequences(bytes: Uint8Array): number {
	const tail = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString("latin1", Math.max(0, bytes.length - LONGEST));
	const match = UNFINISHED.exec(tail);
	return match ? bytes.length - tail.length + match.index : bytes.length;
}

/** Returns where in `text` the first `count` characters of the stripped text end. */
export function positionOf(text: string, count: number): number {
	let kept = 0;
	let from = 0;
	for (const match of text.matchAll(SEQUENCE)) {
		if (kept + match.index - from >= count) break;
		kept += match.index - from;
		from = match.index + match[0].length;
	}
	return from + count - kept;
}
