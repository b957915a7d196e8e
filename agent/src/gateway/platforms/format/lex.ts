/** Markdown into blocks. What would take the parser too long, or too deep for its stack, is shown as it was written. */
import { lexer, type Token } from "marked";

/** The parser's time grows with the square of the marks of emphasis. */
const MOST_MARKS = 2000;
/** Quotes and lists in each other, on one line. */
const DEEP = /^(?:[ \t]*(?:>|[-*+]|\d{1,9}[.)])){20}/m;

export function lexMarkdown(text: string): Token[] {
	const marks = text.match(/[*_~]/g)?.length ?? 0;
	return marks > MOST_MARKS || DEEP.test(text) ? [{ type: "html", raw: text, text, block: true, pre: false } as Token] : lexer(text, { gfm: true });
}
