/** Text for platforms without markup of their own: IRC with its control codes, XMPP with message styling (XEP-0393), e-mail as people write it. */
import { flatten, type TextSpan } from "./flatten.js";
import { type Weaving, weave } from "./weave.js";

/** The address of a link stands behind its words, unless they are the address. */
const linkEnd = ({ href = "" }: TextSpan, words: string): string => (words.trim() === href || `mailto:${words}` === href ? "" : ` (${href})`);

/** `*bold*`, `_italic_`, fences around code: what people write, and XMPP clients show. */
export const styledText = (markdown: string): string => woven(markdown, { bold: "*", italic: "_", strike: "~", code: "`" }, "```\n", "\n```");

/** Codes that IRC clients show as bold and italic. A code block is its lines. */
export const ircText = (markdown: string): string => woven(markdown, { bold: "\u0002", italic: "\u001d", strike: "", code: "" }, "", "");

function woven(markdown: string, marks: Readonly<Record<"bold" | "italic" | "strike" | "code", string>>, fence: string, fenceEnd: string): string {
	const flat = flatten(markdown);
	const around = (span: TextSpan, open: boolean): string => {
		if (span.kind === "pre") return open ? fence : fenceEnd;
		if (span.kind === "link") return open ? "" : linkEnd(span, flat.text.slice(span.start, span.end));
		return span.kind === "quote" ? "" : marks[span.kind];
	};
	const how: Weaving = { open: (span) => around(span, true), close: (span) => around(span, false), text: (text) => text, quote: "> " };
	return weave(flat, how);
}
