/** The marks inside of a paragraph: emphasis, code, links. Without colour the marks themselves stay, so that nothing of their meaning is lost. */
import type { Token, Tokens } from "marked";
import type { Style } from "./look.js";
import type { Span } from "./wrap.js";

const ENTITIES: Readonly<Record<string, string>> = { amp: "&", lt: "<", gt: ">", quot: '"', "#39": "'", nbsp: " " };

export function inlineSpans(tokens: readonly Token[], colour: boolean, style: readonly Style[] = []): Span[] {
	const inner = (token: Token, more: Style, mark: string): Span[] => {
		const marks: Span[] = colour ? [] : [{ text: mark, style }];
		return [...marks, ...inlineSpans((token as Tokens.Strong).tokens ?? [], colour, [...style, more]), ...marks];
	};
	return tokens.flatMap((token): Span[] => {
		switch (token.type) {
			case "strong":
				return inner(token, "bold", "**");
			case "em":
				return inner(token, "italic", "*");
			case "del":
				return inner(token, "strikethrough", "~~");
			case "codespan":
				return [{ text: colour ? token.text : token.raw, style: [...style, "cyan"] }];
			case "br":
				return [{ text: "\n", style }];
			case "link":
				return link(token as Tokens.Link, colour, style);
			case "image":
				return [{ text: `[image: ${token.text || "no description"}] (${token.href})`, style: [...style, "dim"] }];
			case "escape":
				return [{ text: token.text, style }];
			case "checkbox":
				return [{ text: (token as { checked?: boolean }).checked ? "[x] " : "[ ] ", style }];
			case "text":
				if (token.tokens) return inlineSpans(token.tokens, colour, style);
				return [{ text: plain(token.text), style }];
			default:
				return [{ text: token.raw, style }]; // HTML: shown as it was written
		}
	});
}

/** Its address is shown too: a terminal has nothing to hover over. */
function link({ tokens, href, text }: Tokens.Link, colour: boolean, style: readonly Style[]): Span[] {
	const name = inlineSpans(tokens, colour, [...style, "underline"]);
	if (text === href || `mailto:${text}` === href || `http://${text}` === href) return name;
	return [...name, { text: ` (${href})`, style: [...style, "dim"] }];
}

const plain = (text: string): string => text.replace(/&(amp|lt|gt|quot|#39|nbsp);/g, (_, name: string) => ENTITIES[name] as string);
