/** Applies the hunks of a diff to a text: at the given line, else where their lines match, else where they match apart from whitespace. */
import { HoldfastError } from "../../../base/index.js";
import { asBytesText } from "../text.js";
import { nearest } from "./nearest.js";
import type { Hunk } from "./unified.js";

export interface Applied {
	readonly text: string;
	/** Deviations from the diff, one sentence each. */
	readonly notes: readonly string[];
}

export function applyHunks(text: string, hunks: readonly Hunk[], file: string): Applied {
	const notes: string[] = [];
	const lines = text.split("\n"); // the last element is the text after the last newline
	let moved = 0;
	let from = 0;
	for (const [index, hunk] of hunks.entries()) {
		const old = hunk.lines.filter(({ sign }) => sign !== "+").map(({ text: line }) => asBytesText(line));
		const at = old.length === 0 ? insertionPoint(hunk, lines, moved, from) : find(lines, old, { hint: hunk.at - 1 + moved, from, any: hunk.at === 0 });
		if (at === undefined) throw notFound(text, hunk, old, { file, number: index + 1 });
		if (at.loose)
			notes.push(`Hunk ${index + 1} fits line ${at.line + 1} only without regard to whitespace; the file's own lines were kept where it does not change them.`);
		if (hunk.at > 0 && at.line !== hunk.at - 1 + moved && old.length > 0)
			notes.push(`Hunk ${index + 1} says line ${hunk.at + moved}, and was found at line ${at.line + 1}.`);
		const fresh: string[] = [];
		let taken = at.line;
		for (const { sign, text: line } of hunk.lines) {
			if (sign === "+") fresh.push(asBytesText(line));
			else {
				if (sign === " ") fresh.push(lines[taken] as string);
				taken++;
			}
		}
		lines.splice(at.line, old.length, ...fresh);
		moved += fresh.length - old.length;
		from = at.line + fresh.length;
		if (index === hunks.length - 1) end(lines, hunk, from);
	}
	return { text: lines.join("\n"), notes };
}

/** Sets whether the text ends with a newline, if the hunk reaches its end. */
function end(lines: string[], { bare }: Hunk, from: number): void {
	if (from >= lines.length && !bare.fresh) lines.push("");
	else if (from === lines.length - 1 && lines.at(-1) === "" && bare.fresh) lines.pop();
}

interface Place {
	readonly line: number;
	readonly loose: boolean;
}

function insertionPoint({ at }: Hunk, lines: readonly string[], moved: number, from: number): Place {
	const line = at === 0 ? from : at + moved; // no old lines to match: after the line that the hunk names
	return { line: Math.max(from, Math.min(line, lines.at(-1) === "" ? lines.length - 1 : lines.length)), loose: false };
}

/** Returns the match nearest to the hint; without a hint, the only match. */
function find(lines: readonly string[], old: readonly string[], { hint, from, any }: { hint: number; from: number; any: boolean }): Place | undefined {
	for (const loose of [false, true]) {
		const norm = loose ? (line: string) => line.trim().replace(/[ \t]+/g, " ") : (line: string) => line;
		const wanted = old.map(norm);
		const found: number[] = [];
		for (let line = from; line + old.length <= lines.length; line++)
			if (wanted.every((one, below) => one === norm(lines[line + below] as string))) found.push(line);
		if (found.length === 0) continue;
		if (found.length > 1 && (any || loose) && !found.includes(hint)) return undefined;
		return { line: found.reduce((best, line) => (Math.abs(line - hint) < Math.abs(best - hint) ? line : best)), loose };
	}
	return undefined;
}

function notFound(text: string, { at }: Hunk, old: readonly string[], { file, number }: { file: string; number: number }): HoldfastError {
	const { message } = nearest(text, old.join("\n"), "", file);
	return new HoldfastError(
		"INVALID",
		message
			.replace("old_string is not in", `hunk ${number}${at > 0 ? ` (line ${at})` : ""} does not fit: its lines are not, or not only once, in`)
			.replace("Take old_string from there, exactly", "Correct the hunk"),
	);
}
