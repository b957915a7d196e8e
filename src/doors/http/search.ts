/** Text in many logs, the newest output first, within a time and a number of bytes. */
import { setImmediate as turn } from "node:timers/promises";
import { counted } from "../../base/index.js";
import { reveal } from "../../base/secrets/index.js";
import { hiddenText, type Process } from "../../process/index.js";
import { stripAnsi } from "../../tools/index.js";
import type { SearchResult } from "./schemas.js";

const STEP = 1024 * 1024;
const MOST_BYTES = 512 * 1024 * 1024;
const MOST_MS = 5_000;
const LINE_BYTES = 1_000; // shown of the line on either side
const LINE_CHARS = 300;

export async function searchLogs(processes: readonly Process[], text: string, options: { limit: number; signal?: AbortSignal }): Promise<SearchResult> {
	const wanted = lower(Buffer.from(text));
	const matches: SearchResult["matches"] = [];
	const deadline = performance.now() + MOST_MS;
	let searched = 0;
	for (const process of processes) {
		const { first, end } = process.log.bounds();
		for (let upTo = end; upTo > first; ) {
			const from = Math.max(first, upTo - STEP);
			// A match may begin here and end in what was searched before.
			const { bytes, offset } = process.read(from, upTo - from + wanted.length - 1);
			if (bytes.length === 0) break;
			const haystack = lower(bytes);
			const found: number[] = [];
			for (let at = haystack.indexOf(wanted); at >= 0 && at < upTo - offset; at = haystack.indexOf(wanted, at + wanted.length)) found.push(at);
			for (const at of found.reverse()) {
				if (matches.length >= options.limit)
					return {
						matches,
						searched_bytes: searched + upTo - (offset + at),
						complete: false,
						note: `only the newest ${counted(options.limit, "match is", "matches are")} shown`,
					};
				matches.push({ session_id: process.id, offset: offset + at, ...lineAround(process, offset + at) });
			}
			searched += upTo - from;
			upTo = from;
			await turn();
			if (options.signal?.aborted || performance.now() > deadline || searched > MOST_BYTES)
				return {
					matches,
					searched_bytes: searched,
					complete: false,
					note: `gave up after ${Math.round(searched / 1024 / 1024)} MiB; choose a task or a process to search`,
				};
		}
	}
	return { matches, searched_bytes: searched, complete: true, note: null };
}

/** Returns lower-case text with one character a byte, so that positions are offsets. */
const lower = (bytes: Buffer): string => bytes.toString("latin1").toLowerCase();

function lineAround(process: Process, at: number): { line: string; line_offset: number } {
	const { bytes, offset } = process.read(Math.max(0, at - LINE_BYTES), 2 * LINE_BYTES);
	const here = at - offset;
	const start = bytes.lastIndexOf(10, Math.max(0, here - 1)) + 1;
	const end = bytes.indexOf(10, here);
	const shown = bytes.subarray(Math.min(start, here), end < 0 ? bytes.length : end);
	const text = reveal(
		hiddenText(process, { bytes: shown, offset: offset + Math.min(start, here) }, { end: process.log.bounds().end, context: LINE_BYTES }).text,
	);
	const line = stripAnsi(text).replaceAll(/[\u0000-\u001f\u007f]/g, "");
	return { line: line.slice(0, LINE_CHARS), line_offset: offset + Math.min(start, here) };
}
