/** Styled text, broken between words at the width of the terminal. */
import { type Look, paint, type Style } from "./look.js";
import { letters, letterWidth, width } from "./width.js";

/** A piece of text in one style. A line break in it stays one. */
export interface Span {
	readonly text: string;
	readonly style: readonly Style[];
}

export interface Indent {
	readonly first: string;
	readonly rest: string;
}

const NONE: Indent = { first: "", rest: "" };
const NARROWEST = 8;

export function wrapSpans(spans: readonly Span[], look: Look, indent: Indent = NONE): string[] {
	const room = Math.max(NARROWEST, look.columns - Math.max(width(indent.first), width(indent.rest)));
	const lines: Span[][] = [[]];
	let used = 0;
	const breakLine = () => {
		lines.push([]);
		used = 0;
	};
	for (const word of wordsOf(spans)) {
		if (word === "\n") {
			breakLine();
			continue;
		}
		const size = word.spans.reduce((sum, { text }) => sum + width(text), 0);
		const space = used === 0 || word.space === undefined ? [] : [word.space];
		if (used > 0 && used + space.length + size > room) breakLine();
		else {
			lines.at(-1)?.push(...space);
			used += space.length;
		}
		if (size <= room) {
			lines.at(-1)?.push(...word.spans);
			used += size;
			continue;
		}
		for (const { text, style } of word.spans)
			for (const letter of letters(text)) {
				if (used + letterWidth(letter) > room) breakLine();
				lines.at(-1)?.push({ text: letter, style });
				used += letterWidth(letter);
			}
	}
	return lines.map((line, at) => `${at === 0 ? indent.first : indent.rest}${painted(line, look)}`.trimEnd());
}

export const wrapText = (text: string, look: Look, indent?: Indent): string[] => wrapSpans([{ text, style: [] }], look, indent);

const DEEPER = 4;

/** Text that is laid out already (lists, columns): a line that is too wide is broken under its second column, or below its first one. */
export function wrapLaidOut(text: string, look: Look): string[] {
	return text.split("\n").flatMap((line) => {
		if (width(line) <= look.columns) return [line.trimEnd()];
		const start = /^ */.exec(line)?.[0] ?? "";
		const column = /^ *\S.*? {2,}(?=\S)/.exec(line)?.[0] ?? start;
		const rest = line.slice(column.length);
		if (width(column) <= look.columns / 2) return wrapText(rest, look, { first: column, rest: " ".repeat(width(column)) });
		const indent = start + " ".repeat(DEEPER);
		return [column.trimEnd(), ...wrapText(rest, look, { first: indent, rest: indent })];
	});
}

/** A part that must stay together, with the space before it; a word may have several styles. */
type Word = "\n" | { readonly spans: Span[]; readonly space: Span | undefined };

function* wordsOf(spans: readonly Span[]): Generator<Word> {
	let current: Span[] = [];
	let space: Span | undefined;
	for (const { text, style } of spans)
		for (const part of text.split(/(\n| +)/)) {
			if (part === "") continue;
			if (part !== "\n" && !part.startsWith(" ")) {
				current.push({ text: part, style });
				continue;
			}
			if (current.length > 0) yield { spans: current, space };
			current = [];
			space = part === "\n" ? undefined : { text: " ", style };
			if (part === "\n") yield "\n";
		}
	if (current.length > 0) yield { spans: current, space };
}

/** Neighbours of one style are painted together. */
function painted(line: readonly Span[], look: Look): string {
	let out = "";
	for (let at = 0; at < line.length; ) {
		const { style } = line[at] as Span;
		let text = "";
		for (; at < line.length && (line[at] as Span).style.join() === style.join(); at++) text += (line[at] as Span).text;
		out += paint(look, style, text);
	}
	return out;
}
