/** Markdown into tokens. What would take the parser too long, or too deep, is shown as it was written. */
import { lexer, type Token } from "marked";

/** Longer texts are shown as they are: parsing would keep the browser from answering. */
const MOST_CHARS = 100_000;
/** Marks in one block: the time that they take grows with their square. */
const MOST_MARKS = 2_000;
const MARKS = /[*_~[\]`]/g;
/** Every row of a table gets as many cells as its widest has. */
const BROAD = /^(?:[^\n|]*\|){200}/m;
/** Quotes and lists in each other, on one line; and indented more deeply than anyone means. */
const DEEP = /^(?:[ \t]*(?:>|[-*+]|\d{1,9}[.)])){20}|^[ \t]{80}/m;

export type { Token };

export function lex(text: string): Token[] {
	if (text.length > MOST_CHARS || DEEP.test(text) || BROAD.test(text) || hasManyMarks(text)) return [asWritten(text)];
	try {
		return lexer(text, { gfm: true });
	} catch {
		return [asWritten(text)]; // its stack was too small for it
	}
}

/** In one block, as blank lines part them. In code between fences marks cost nothing. */
function hasManyMarks(text: string): boolean {
	let marks = 0;
	let fence: string | undefined;
	for (const line of text.split("\n")) {
		const edge = /^ {0,3}(`{3}|~{3})/.exec(line)?.[1];
		if (fence !== undefined) {
			if (edge === fence) fence = undefined;
			continue;
		}
		if (edge !== undefined || line.trim() === "") marks = 0;
		else marks += line.match(MARKS)?.length ?? 0;
		fence = edge;
		if (marks > MOST_MARKS) return true;
	}
	return false;
}

const asWritten = (text: string): Token => ({ type: "code", raw: text, text, codeBlockStyle: "written" }) as Token;

export const isAsWritten = (token: Token): boolean => token.type === "code" && (token as { codeBlockStyle?: string }).codeBlockStyle === "written";

/** A text that grows: blocks that are whole are not parsed again. */
export class GrowingText {
	#settled = "";
	#tokens: readonly Token[] = [];

	tokens(text: string): readonly Token[] {
		if (!text.startsWith(this.#settled)) {
			this.#settled = "";
			this.#tokens = [];
		}
		const rest = lex(text.slice(this.#settled.length));
		const whole = rest.slice(0, -1);
		// Only what parts again into the same text can be left alone from now on.
		if (whole.length > 0) {
			this.#settled += whole.map(({ raw }) => raw).join("");
			this.#tokens = [...this.#tokens, ...whole];
			if (!text.startsWith(this.#settled)) return lex(text);
		}
		return [...this.#tokens, ...rest.slice(-1)];
	}
}
