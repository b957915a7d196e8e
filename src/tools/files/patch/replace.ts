/**
 * Replaces one text by another: at exact matches, else at matches that differ only in whitespace. Texts have one character per byte, and lines end
 * with \n.
 */
import { HoldfastError } from "../../../base/index.js";
import { asBytesText } from "../text.js";
import { lineAt, nearest } from "./nearest.js";

export interface Edit {
	readonly old_string: string;
	readonly new_string: string;
	readonly replace_all?: boolean | undefined;
}

export interface Replaced {
	readonly text: string;
	readonly count: number;
	/** The lines of the match, if it matched only apart from whitespace. */
	readonly fuzzy?: readonly [from: number, to: number];
}

/** A range of the text and its replacement. */
interface Piece {
	readonly from: number;
	readonly to: number;
	readonly text: string;
}

export function replaceIn(text: string, edit: Edit, file: string): Replaced {
	const old = asBytesText(edit.old_string.replaceAll("\r\n", "\n"));
	const fresh = asBytesText(edit.new_string.replaceAll("\r\n", "\n"));
	if (old === fresh) throw new HoldfastError("INVALID", "old_string and new_string are the same; nothing was changed");
	const exact = occurrences(text, old).map((from): Piece => ({ from, to: from + old.length, text: fresh }));
	if (exact.length === 1 || (exact.length > 1 && edit.replace_all)) return { text: put(text, exact), count: exact.length };
	if (exact.length > 1) throw several(text, exact, file);
	const loose = looseMatches(text, old, fresh);
	const [first] = loose;
	if (first && (loose.length === 1 || edit.replace_all))
		return { text: put(text, loose), count: loose.length, fuzzy: [lineAt(text, first.from), lineAt(text, first.to)] };
	if (loose.length > 1) throw several(text, loose, file);
	throw nearest(text, old, fresh, file);
}

function occurrences(text: string, old: string): number[] {
	const found: number[] = [];
	for (let at = text.indexOf(old); at >= 0; at = text.indexOf(old, at + old.length)) found.push(at);
	return found;
}

function put(text: string, pieces: readonly Piece[]): string {
	let [result, at] = ["", 0];
	for (const { from, to, text: fresh } of pieces) {
		result += text.slice(at, from) + fresh;
		at = to;
	}
	return result + text.slice(at);
}

const SHOWN = 10;

function several(text: string, pieces: readonly Piece[], file: string): HoldfastError {
	const lines = pieces.slice(0, SHOWN).map(({ from }) => lineAt(text, from));
	const more = pieces.length > SHOWN ? " and more" : "";
	return new HoldfastError(
		"INVALID",
		`old_string is in ${file} ${pieces.length} times (lines ${lines.join(", ")}${more}); nothing was changed. Add lines around it until it is there only once, or say replace_all=true`,
	);
}

/** Returns the matches with the same words but other spaces and tabs between words, or at the beginning and end of lines. */
function looseMatches(text: string, old: string, fresh: string): Piece[] {
	const pattern = loosePattern(old);
	if (!pattern) return [];
	return [...text.matchAll(pattern)].map((match): Piece => {
		const lead = match[1] ?? "";
		return { from: match.index, to: match.index + match[0].length, text: reindent(fresh, indentOf(old), startsLine(text, match.index) ? lead : indentOf(old)) };
	});
}

const startsLine = (text: string, at: number): boolean => at === 0 || text[at - 1] === "\n";

function loosePattern(old: string): RegExp | undefined {
	const lines = old.split("\n");
	const ends = lines.length > 1 && lines.at(-1) === ""; // includes the end of its last line
	if (ends) lines.pop();
	const words = lines.map((line) =>
		line
			.trim()
			.split(/[ \t]+/)
			.filter((word) => word !== ""),
	);
	if (words.every((line) => line.length === 0)) return undefined;
	const source = words.map((line) => line.map((word) => word.replace(/[.*+?^${}()|[\]\\/-]/g, "\\$&")).join("[ \\t]+"));
	let pattern = "";
	let blank = 0;
	for (const [at, line] of source.entries()) {
		if (at > 0) blank++;
		if (line === "" && at < source.length - 1) continue;
		pattern += blank > 0 ? `[ \\t]*(?:\\n[ \\t]*){${blank}}${line}` : line;
		blank = 0;
	}
	return new RegExp(`([ \\t]*)${pattern}${ends ? "[ \\t]*(?:\\n|$)" : /[ \t]$/.test(old) ? "[ \\t]*" : ""}`, "g");
}

const indentOf = (text: string): string => /^[ \t]*/.exec(text.replace(/^\n+/, ""))?.[0] ?? "";

/** Replaces the indentation of the old text by that of the match. */
function reindent(text: string, from: string, to: string): string {
	if (from === to) return text;
	return text
		.split("\n")
		.map((line) => (line.trim() === "" ? line : line.startsWith(from) ? to + line.slice(from.length) : line))
		.join("\n");
}
