/**
 * Put a table into a TOML text, or take it out, and leave every other byte as it is. No library does that, and no TOML is
 * parsed here: a line begins a statement exactly if everything before it is a whole document. The caller compares
 * what smol-toml reads before and after.
 */
import { parse } from "smol-toml";

const NOTHING = /^\s*(?:#.*)?\s*$/; // an empty line, or a comment
type Path = readonly string[]; // [table, name] or [table, name, key]

/** A whole table is written anew at the end; a key is changed where it is, or added to its table. */
export function setToml(text: string, path: Path, value: unknown): string {
	const [table, name, key] = path;
	if (key !== undefined) return setKey(text, path, key, value);
	const rest = removeToml(text, path);
	const eol = eolOf(text);
	const keys = Object.entries(value as Record<string, unknown>).map(([key, item]) => `${key} = ${print(item)}${eol}`);
	return `${rest}${rest === "" || rest.endsWith("\n") ? "" : eol}${rest.trim() === "" ? "" : eol}[${table}.${name}]${eol}${keys.join("")}`;
}

/** With its sub-tables. Comments above the next table are the next one's. */
export function removeToml(text: string, path: Path): string {
	let rest = text;
	for (const { start, end } of blocks(text, path).reverse()) {
		const before = rest.slice(0, start);
		const after = rest.slice(end);
		const [blankBefore, blankAfter] = [/(?<=^|\n)[ \t]*\r?\n$/, /^[ \t]*\r?\n/]; // one of the two is enough
		if (before === "") rest = after.replace(blankAfter, "");
		else rest = (after === "" || blankAfter.test(after) ? before.replace(blankBefore, "") : before) + after;
	}
	return rest;
}

function setKey(text: string, path: Path, key: string, value: unknown): string {
	const block = blocks(text, path).find(({ own }) => own);
	if (!block) return text;
	const eol = eolOf(text);
	const assignment = new RegExp(`^[ \\t]*${word(key)}[ \\t]*=`);
	for (let start = block.body; start < block.end; start = statementEnd(text, start)) {
		const end = statementEnd(text, start);
		const statement = text.slice(start, end);
		if (!assignment.test(statement)) continue;
		const indent = /^[ \t]*/.exec(statement)?.[0];
		return `${text.slice(0, start)}${indent}${key} = ${print(value)}${commentOf(text, start, end)}${eol}${text.slice(end)}`;
	}
	const head = text.slice(0, block.body);
	return `${head}${head.endsWith("\n") ? "" : eol}${key} = ${print(value)}${eol}${text.slice(block.body)}`;
}

interface Block {
	readonly start: number;
	/** Behind the header's line. */
	readonly body: number;
	/** Behind the last statement. */
	readonly end: number;
	/** Not a sub-table. */
	readonly own: boolean;
}

function blocks(text: string, [table, name]: Path): Block[] {
	const header = new RegExp(`^[ \\t]*\\[[ \\t]*${word(table as string)}[ \\t]*\\.[ \\t]*${word(name as string)}[ \\t]*([.\\]]).*(?:\\n|$)`, "gm");
	const found: Block[] = [];
	for (const match of text.matchAll(header)) {
		if (!isStatement(text, match.index)) continue; // in the middle of a text of many lines
		const body = match.index + match[0].length;
		let end = body;
		for (let next = body; next < text.length && !/^[ \t]*\[/.test(text.slice(next, next + 200)); ) {
			const statement = text.slice(next, statementEnd(text, next));
			next += statement.length;
			if (!NOTHING.test(statement)) end = next;
		}
		found.push({ start: match.index, body, end, own: match[1] === "]" });
	}
	return found;
}

function statementEnd(text: string, start: number): number {
	for (let line = start; ; ) {
		const end = text.indexOf("\n", line) + 1;
		if (end === 0) return text.length;
		if ((line === start && NOTHING.test(text.slice(line, end))) || isStatement(text, end)) return end;
		line = end;
	}
}

function isStatement(text: string, offset: number): boolean {
	try {
		parseToml(text.slice(0, offset));
		return true;
	} catch {
		return false; // cut in the middle of something
	}
}

/** Returns a person's comment behind a value on its line. */
function commentOf(text: string, start: number, end: number): string {
	for (let hash = text.indexOf("#", start); hash >= 0 && hash < end; hash = text.indexOf("#", hash + 1))
		if (isStatement(text, hash)) return ` ${text.slice(hash, end).trimEnd()}`;
	return "";
}

export const parseToml = (text: string): Record<string, unknown> => parse(text, { integersAsBigInt: "asNeeded" });

const word = (key: string): string => `(?:${key}|"${key}"|'${key}')`;
const eolOf = (text: string): string => (text.includes("\r\n") ? "\r\n" : "\n");
/** Strings of JSON are strings of TOML. */
const print = (value: unknown): string => (Array.isArray(value) ? `[${value.map(print).join(", ")}]` : JSON.stringify(value));
