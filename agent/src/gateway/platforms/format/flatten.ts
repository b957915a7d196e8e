/** Markdown into plain text with spans over it: what every platform makes its own form of. Offsets are UTF-16 units, as JavaScript and Telegram count. */
import type { Token, Tokens } from "marked";
import { lexMarkdown } from "./lex.js";
import { tableText } from "./table.js";

export type SpanKind = "bold" | "italic" | "strike" | "code" | "pre" | "link" | "quote";

export interface TextSpan {
	readonly kind: SpanKind;
	readonly start: number;
	readonly end: number;
	/** A link's address. */
	readonly href?: string;
	/** A code block's language. */
	readonly lang?: string;
}

/** Spans contain each other or lie apart; outer ones come first. */
export interface FlatText {
	readonly text: string;
	readonly spans: readonly TextSpan[];
}

export function flatten(markdown: string): FlatText {
	const out = new Flattened();
	out.blocks(lexMarkdown(markdown), "\n\n");
	const text = out.text.trimEnd();
	const spans = out.spans.map((span) => ({ ...span, end: Math.min(span.end, text.length) })).filter(({ start, end }) => end > start);
	// Nothing but definitions of links or the like: shown as it was written.
	return text === "" ? { text: markdown.trim(), spans: [] } : { text, spans: spans.sort((a, b) => a.start - b.start || b.end - a.end) };
}

const ENTITIES: Readonly<Record<string, string>> = { amp: "&", lt: "<", gt: ">", quot: '"', "#39": "'" };
const plain = (text: string): string => text.replace(/&(amp|lt|gt|quot|#39);/g, (_, name: string) => ENTITIES[name] as string);

class Flattened {
	text = "";
	readonly spans: TextSpan[] = [];
	#indent = "";

	blocks(tokens: readonly Token[], gap: string): void {
		let first = true;
		for (const token of tokens) {
			if (token.type === "space" || token.type === "def") continue;
			if (!first) this.#write(gap);
			first = false;
			this.#block(token);
		}
	}

	#block(token: Token): void {
		if (token.type === "heading") this.#span("bold", () => this.#inline((token as Tokens.Heading).tokens));
		else if (token.type === "code") this.#pre(token.text as string, (token as Tokens.Code).lang);
		else if (token.type === "table") this.#pre(tableText(token as Tokens.Table));
		else if (token.type === "list") this.#list(token as Tokens.List);
		else if (token.type === "blockquote") this.#span("quote", () => this.blocks((token as Tokens.Blockquote).tokens, "\n\n"));
		else if (token.type === "hr") this.#write("———");
		else if (token.type === "paragraph" || token.type === "text") this.#inline((token as Tokens.Paragraph).tokens ?? [token]);
		else this.#write(token.raw.trimEnd()); // HTML: as it was written
	}

	#list(list: Tokens.List): void {
		list.items.forEach((item, at) => {
			if (at > 0) this.#write("\n");
			const marker = list.ordered ? `${Number(list.start || 1) + at}. ` : "• ";
			const box = item.task ? (item.checked ? "[x] " : "[ ] ") : "";
			this.#write(marker + box);
			const before = this.#indent;
			this.#indent += " ".repeat(marker.length);
			this.blocks(
				item.tokens.filter(({ type }) => type !== "checkbox"),
				"\n",
			);
			this.#indent = before;
		});
	}

	#inline(tokens: readonly Token[]): void {
		for (const token of tokens) {
			const inner = (): void => this.#inline((token as Tokens.Strong).tokens ?? []);
			if (token.type === "strong") this.#span("bold", inner);
			else if (token.type === "em") this.#span("italic", inner);
			else if (token.type === "del") this.#span("strike", inner);
			else if (token.type === "codespan") this.#span("code", () => this.#write(token.text as string));
			else if (token.type === "br") this.#write("\n");
			else if (token.type === "link") this.#span("link", inner, { href: (token as Tokens.Link).href });
			else if (token.type === "image") this.#span("link", () => this.#write(token.text || "image"), { href: (token as Tokens.Image).href });
			else if (token.type === "escape") this.#write(token.text as string);
			else if (token.type === "text" && (token as Tokens.Text).tokens) this.#inline((token as Tokens.Text).tokens as Token[]);
			else this.#write(token.type === "text" ? plain(token.text as string) : token.raw);
		}
	}

	#pre(code: string, lang?: string): void {
		const name = /^[\w+#.-]+/.exec(lang ?? "")?.[0];
		const before = this.#indent;
		this.#indent = "";
		this.#span("pre", () => this.#write(code), name === undefined ? {} : { lang: name });
		this.#indent = before;
	}

	#span(kind: SpanKind, inner: () => void, more: { readonly href?: string; readonly lang?: string } = {}): void {
		const start = this.text.length;
		inner();
		if (this.text.length > start) this.spans.push({ kind, start, end: this.text.length, ...more });
	}

	#write(text: string): void {
		this.text += this.#indent === "" ? text : text.replaceAll("\n", `\n${this.#indent}`);
	}
}
