/** Entries that have a text in them: in what they say, or in what was printed. */
import type { TranscriptEntry } from "./entry.js";
import { linesOf } from "./output.js";
import type { EntryOfProcess } from "./read.js";

const LINES = 5; // of an output that has it
const LINE_CHARS = 400;

/** Returns the lines of its output that have it, a few at most; undefined if it is nowhere in the entry. Case does not matter. */
export function matching({ entry, process }: EntryOfProcess, wanted: string): string[] | undefined {
	const text = wanted.toLowerCase();
	const lines: string[] = [];
	if (process)
		for (const line of linesOf(process)) {
			const at = line.toLowerCase().indexOf(text);
			if (at < 0) continue;
			lines.push(around(line, at));
			if (lines.length === LINES) break;
		}
	return lines.length > 0 || says(entry, text) ? lines : undefined;
}

const around = (line: string, at: number): string => (line.length <= LINE_CHARS ? line : line.slice(Math.max(0, at - LINE_CHARS / 2), at + LINE_CHARS / 2));

function says({ command, message, by, tool, cwd, session_id, approval_id, rule, outcome, note }: TranscriptEntry, text: string): boolean {
	return [command, message, by, tool, cwd, session_id, approval_id, rule, outcome, note].some((field) => field?.toLowerCase().includes(text));
}
