/** One block of markdown as lines for a terminal. Prose is never wider than 100 columns; code is never broken, so that it can be copied. */
import type { Token, Tokens } from "marked";
import { inlineSpans } from "./inline.js";
import { type Look, paint } from "./look.js";
import { tableLines } from "./table.js";
import { width } from "./width.js";
import { type Span, wrapSpans } from "./wrap.js";

const WIDEST_PROSE = 100;
const CODE_INDENT = "  ";

export function blockLines(token: Token, look: Look): string[] {
	switch (token.type) {
		case "heading":
			return heading(token as Tokens.Heading, look);
		case "list":
			return (token as Tokens.List).items.flatMap((item, at) => [
				...(at > 0 && (token as Tokens.List).loose ? [""] : []),
				...itemLines(item, markerOf(token as Tokens.List, at), look),
			]);
		case "code":
			return [
				...codeOpens((token as Tokens.Code).lang ?? "", look),
				...(token.text as string).split("\n").map((line) => codeLine(line, look)),
				...codeCloses(look),
			];
		case "table":
			return tableLines(token as Tokens.Table, look);
		case "blockquote":
			return quote((token as Tokens.Blockquote).tokens, look);
		case "hr":
			return [paint(look, "dim", "─".repeat(Math.min(look.columns, 40)))];
		case "space":
			return [];
		case "paragraph":
		case "text":
			return paragraphLines(token as Tokens.Paragraph, look);
		default:
			return prose([{ text: token.raw.trimEnd(), style: [] }], look); // HTML, definitions of links: as they were written
	}
}

export const paragraphLines = (token: Tokens.Paragraph, look: Look): string[] => prose(inlineSpans(token.tokens ?? [token], look.colour), look);

const prose = (spans: readonly Span[], look: Look): string[] => wrapSpans(spans, { ...look, columns: Math.min(look.columns, WIDEST_PROSE) });

function heading({ depth, tokens }: Tokens.Heading, look: Look): string[] {
	const mark: Span[] = look.colour ? [] : [{ text: `${"#".repeat(depth)} `, style: [] }];
	return prose([...mark, ...inlineSpans(tokens, look.colour, depth === 1 ? ["bold", "underline"] : ["bold"])], look);
}

export function markerOf(list: Tokens.List, at: number): string {
	return list.ordered ? `${Number(list.start || 1) + at}. ` : "• ";
}

/** An item with what is nested in it. */
export function itemLines(item: Tokens.ListItem, marker: string, look: Look): string[] {
	const inner = { ...look, columns: Math.max(10, Math.min(look.columns, WIDEST_PROSE) - width(marker)) };
	const [box, tokens] = item.tokens[0]?.type === "checkbox" ? [item.tokens[0], item.tokens.slice(1)] : [undefined, item.tokens];
	const lines = tokens.flatMap((token, at): string[] => {
		const spans = token.type === "text" || token.type === "paragraph" ? inlineSpans((token as Tokens.Text).tokens ?? [token], look.colour) : undefined;
		const tick = at === 0 && box ? [{ text: item.checked ? "[x] " : "[ ] ", style: [] }] : [];
		return spans ? wrapSpans([...tick, ...spans], inner) : blockLines(token, inner);
	});
	if (lines.length === 0) lines.push(box ? (item.checked ? "[x]" : "[ ]") : "");
	const indent = " ".repeat(width(marker));
	return lines.map((line, at) => `${at === 0 ? marker : line === "" ? "" : indent}${line}`.trimEnd());
}

function quote(tokens: readonly Token[], look: Look): string[] {
	const bar = paint(look, "dim", look.colour ? "│ " : "> ");
	const inner = { ...look, columns: look.columns - 2 };
	const blocks = tokens.filter(({ type }) => type !== "space").map((token) => blockLines(token, inner));
	return blocks.flatMap((lines, at) => [...(at > 0 ? [""] : []), ...lines]).map((line) => `${bar}${line}`.trimEnd());
}

/** With colour a code block is told by its colour and indent, else by its fences. */
export const codeOpens = (lang: string, look: Look): string[] => (look.colour ? [] : [`\`\`\`${lang}`]);
export const codeLine = (line: string, look: Look): string => (look.colour ? `${CODE_INDENT}${paint(look, "cyan", line)}`.trimEnd() : line);
export const codeCloses = (look: Look): string[] => (look.colour ? [] : ["```"]);
