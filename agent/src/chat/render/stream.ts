/**
 * Markdown that arrives in pieces, as lines that are final: what was given out is never drawn again. A block is given out when it is over; code by the
 * line, lists by the item, and paragraphs by the line as soon as nothing that may follow can change it. The lines do not depend on where the pieces end.
 */
import type { Token, Tokens } from "marked";
import { blockLines, codeCloses, codeLine, codeOpens, itemLines, markerOf, paragraphLines } from "./blocks.js";
import { lex } from "./lex.js";
import type { Look } from "./look.js";
import { settledLength } from "./settled.js";
import { visible } from "./visible.js";

/** A paragraph without line breaks is looked at again when it has grown by so many characters, and every block when it has grown by an eighth. */
const LOOK_EVERY = 40;
const GROWN_BY = 8;
/** A block longer than this is given out in parts, so that no text costs more than in proportion to its length. */
const LONGEST_BLOCK = 8_000;
const OPENING = /^ {0,3}(`{3,}|~{3,})[^\n`]*\n/;
/** The beginning of an escape sequence whose end may be in the next piece. */
const HALF_ESCAPE = /(?:\u001b[^\n\u001b]{0,64}|\r)$/;

export class MarkdownStream {
	readonly #look: () => Look;
	/** The text that is not given out yet; of a paragraph all of it, until it is over. */
	#rest = "";
	#held = "";
	#fence: string | undefined;
	/** Lines of the paragraph at the start of `#rest` that were given out. */
	#shown: string[] = [];
	/** An empty line goes before the next block. */
	#gap = false;
	/** The next block continues the last one. */
	#joined = false;
	#sinceLook = 0;

	/** `look` is asked for every line: a terminal may change its size. */
	constructor(look: () => Look) {
		this.#look = look;
	}

	push(piece: string): string[] {
		const text = this.#held + piece;
		this.#held = HALF_ESCAPE.exec(text)?.[0] ?? "";
		return this.#take(visible(text.slice(0, text.length - this.#held.length)));
	}

	/** All that is left. The stream can be used for the next text then. */
	end(): string[] {
		const held = this.#held;
		this.#held = "";
		const lines = [...this.#take(visible(held)), ...this.#finish()];
		this.#gap = false;
		this.#joined = false;
		return lines;
	}

	#take(text: string): string[] {
		const lines: string[] = [];
		for (let from = 0; from < text.length; ) {
			const end = this.#stop(text, from);
			this.#rest += text.slice(from, end);
			this.#sinceLook += end - from;
			if (this.#isTime()) {
				this.#sinceLook = 0;
				while (this.#step(lines));
			}
			from = end;
		}
		return lines;
	}

	#isTime(): boolean {
		if (this.#fence !== undefined) return this.#rest.endsWith("\n");
		if (this.#sinceLook >= LONGEST_BLOCK || this.#rest.endsWith("\n\n")) return true;
		const grown = this.#sinceLook * GROWN_BY >= this.#rest.length;
		return grown && (this.#rest.endsWith("\n") || (this.#rest.endsWith(" ") && this.#sinceLook >= LOOK_EVERY));
	}

	/** Returns the next place to look at: behind the next line break or space, wherever pieces end. */
	#stop(text: string, from: number): number {
		const found = text.slice(from, from + LONGEST_BLOCK - this.#sinceLook).search(/[ \n]/);
		return found < 0 ? Math.min(text.length, from + LONGEST_BLOCK - this.#sinceLook) : from + found + 1;
	}

	/** Gives out one thing from the start of the rest. False: nothing there is final yet. */
	#step(lines: string[]): boolean {
		if (this.#fence !== undefined) return this.#codeLine(lines);
		if (OPENING.test(this.#rest)) return this.#openCode(lines);
		const whole = this.#rest.lastIndexOf("\n") + 1;
		const tokens = lex(this.#rest.slice(0, whole));
		const [first, next] = tokens;
		if (first?.type === "space") return this.#drop(first.raw.length);
		if (first && (next ? isOver(first, tokens) : ENDS_ITSELF.has(first.type))) return this.#block(first, lines);
		if (first?.type === "list" && (first as Tokens.List).items.length > 1) return this.#items(first as Tokens.List, lines);
		return this.#growing(lines);
	}

	#block(token: Token, lines: string[]): boolean {
		this.#show(token, lines);
		return this.#drop(token.raw.length);
	}

	/** A whole block. A paragraph of which lines were given out may have become a heading by the line below it; it stays a paragraph then. */
	#show(token: Token, lines: string[]): void {
		if (token.type === "paragraph") this.#showParagraph(token.raw, lines, { whole: true });
		else if (token.type === "heading" && this.#shown.length > 0) this.#showParagraph(token.raw.trimEnd().replace(/\n.*$/, ""), lines, { whole: true });
		else this.#give(blockLines(token, this.#look()), lines);
		this.#shown = [];
	}

	/** All items but the last, which may still grow. */
	#items(list: Tokens.List, lines: string[]): boolean {
		const ready = list.items.slice(0, -1);
		for (const [at, item] of ready.entries()) {
			this.#give(itemLines(item, markerOf(list, at), this.#look()), lines);
			this.#joined = !item.raw.endsWith("\n\n");
		}
		return this.#drop(ready.reduce((sum, { raw }) => sum + raw.length, 0));
	}

	#growing(lines: string[]): boolean {
		const [first, more] = lex(this.#rest);
		if (first?.type !== "paragraph" || more || mayBecomeTable(this.#rest)) return this.#rest.length >= LONGEST_BLOCK && this.#cut(lines);
		const settled = settledLength(this.#rest);
		if (settled > 0) this.#showParagraph(this.#rest.slice(0, settled), lines, { whole: false });
		return this.#rest.length >= LONGEST_BLOCK && this.#cut(lines);
	}

	/** The lines of a paragraph that were not given out yet; unless it is whole its last one may still get longer. */
	#showParagraph(text: string, lines: string[], { whole }: { whole: boolean }): void {
		const [token] = lex(text);
		if (token?.type !== "paragraph") return;
		const all = paragraphLines(token as Tokens.Paragraph, this.#look());
		const ready = whole ? all : all.slice(0, -1);
		const first = this.#shown.length === 0;
		const fresh = this.#shown.every((line, at) => line === ready[at]) ? ready.slice(this.#shown.length) : whole ? ready : [];
		if (fresh.length === 0) return;
		if (first) this.#give(fresh, lines);
		else lines.push(...fresh);
		this.#shown.push(...fresh);
	}

	/** Gives out the beginning of a block that is too long to wait for. */
	#cut(lines: string[]): boolean {
		const at = this.#rest.lastIndexOf("\n") + 1 || this.#rest.lastIndexOf(" ") + 1 || this.#rest.length;
		for (const token of lex(this.#rest.slice(0, at))) this.#show(token, lines);
		this.#drop(at);
		this.#joined = true;
		return this.#rest !== "";
	}

	#openCode(lines: string[]): boolean {
		const [line, fence] = OPENING.exec(this.#rest) as unknown as [string, string];
		this.#fence = fence;
		this.#give(codeOpens(line.trim().slice(fence.length).trim(), this.#look()), lines);
		this.#joined = !this.#look().colour;
		return this.#drop(line.length);
	}

	#codeLine(lines: string[]): boolean {
		const end = this.#rest.indexOf("\n");
		if (end < 0) return false;
		this.#code(this.#rest.slice(0, end), lines);
		return this.#drop(end + 1);
	}

	#code(line: string, lines: string[]): void {
		const bare = line.trim();
		const fence = this.#fence as string;
		if (bare.length < fence.length || bare.replaceAll(fence[0] as string, "") !== "") {
			this.#startBlock(lines);
			lines.push(codeLine(line, this.#look()));
			this.#joined = true;
			return;
		}
		lines.push(...codeCloses(this.#look()));
		this.#closeCode();
	}

	#closeCode(): void {
		this.#fence = undefined;
		this.#gap = true;
		this.#joined = false;
	}

	#finish(): string[] {
		const lines: string[] = [];
		if (this.#fence !== undefined) {
			if (this.#rest !== "") this.#code(this.#rest, lines);
			if (this.#fence !== undefined) lines.push(...codeCloses(this.#look()));
			this.#closeCode();
			this.#rest = "";
		}
		for (const token of lex(this.#rest)) this.#show(token, lines);
		this.#rest = "";
		this.#sinceLook = 0;
		return lines;
	}

	#give(block: readonly string[], lines: string[]): void {
		if (block.length === 0) return;
		this.#startBlock(lines);
		lines.push(...block);
		this.#gap = true;
		this.#joined = false;
	}

	#startBlock(lines: string[]): void {
		if (this.#gap && !this.#joined) lines.push("");
		this.#gap = false;
	}

	#drop(length: number): true {
		this.#rest = this.#rest.slice(length);
		this.#shown = [];
		return true;
	}
}

export function renderMarkdown(text: string, look: Look): string[] {
	const stream = new MarkdownStream(() => look);
	return [...stream.push(text), ...stream.end()];
}

const ENDS_ITSELF = new Set(["heading", "hr"]);

/** Whether nothing can be added to the first block any more: what follows an empty line may still belong to a list or to indented code. */
function isOver(first: Token, [, next, further]: readonly Token[]): boolean {
	const reopens = first.type === "list" || first.type === "code" || first.type === "html";
	return !(next?.type === "space" && reopens && further === undefined);
}

/** Its first line has a bar, so the second one may make it the head of a table. */
function mayBecomeTable(text: string): boolean {
	const [head = "", rule] = text.split("\n", 2);
	return head.includes("|") && (rule === undefined || /^[\s|:-]*$/.test(rule));
}
