/** Markdown into blocks. What would take the parser too long, or too deep for its stack, is shown as it was written. */
import { lexer, type Token } from "marked";

/** Marks of emphasis in one block: the time that they take grows with their square. */
const MOST_MARKS = 400;
/** Quotes and lists in each other, on one line. */
const DEEP = /^(?:[ \t]*(?:>|[-*+]|\d{1,9}[.)])){20}/m;

export function lex(text: string): Token[] {
	if ((text.match(/[*_~]/g)?.length ?? 0) > MOST_MARKS) return [asWritten(text)];
	return DEEP.test(text) ? [asWritten(text)] : lexer(text, { gfm: true });
}

function asWritten(text: string): Token {
	return { type: "paragraph", raw: text, text, tokens: [{ type: "escape", raw: text, text: text.trimEnd() }] };
}
