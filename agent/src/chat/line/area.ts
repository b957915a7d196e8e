/** The rows at the bottom of a terminal that are drawn again and again; everything above them is final. */
import { width } from "../render/width.js";
import type { Laid } from "./layout.js";

export interface AreaOutput {
	readonly columns?: number;
	readonly rows?: number;
	write(text: string): unknown;
}

const UP = (rows: number): string => (rows > 0 ? `\u001b[${rows}A` : "");
const RIGHT = (columns: number): string => (columns > 0 ? `\u001b[${columns}C` : "");
const ERASE_BELOW = "\u001b[J";

export class LiveArea {
	readonly #out: AreaOutput;
	/** The widths of the rows that are drawn, and in which of them the cursor is. */
	#drawn: { readonly widths: readonly number[]; readonly row: number } | undefined;

	constructor(out: AreaOutput) {
		this.#out = out;
	}

	/** Draws the area anew, with finished lines above it. One write, so that nothing flickers. */
	draw(above: readonly string[], status: readonly string[], input: Laid): void {
		const rows = [...status, ...input.rows];
		const row = status.length + input.row;
		const lines = above.map((line) => `${line}\n`).join("");
		this.#out.write(`${this.#erasing()}${lines}${rows.join("\n")}${UP(rows.length - 1 - row)}\r${RIGHT(input.column)}`);
		this.#drawn = { widths: rows.map(width), row };
	}

	/** Takes the area away; the cursor stands where it began. */
	erase(above: readonly string[] = []): void {
		this.#out.write(`${this.#erasing()}${above.map((line) => `${line}\n`).join("")}`);
		this.#drawn = undefined;
	}

	/** The screen was cleared: nothing is drawn any more. */
	forget(): void {
		this.#drawn = undefined;
	}

	/** A terminal that has become narrower has broken rows in two. */
	#erasing(): string {
		if (!this.#drawn) return "";
		const columns = this.#out.columns || 80;
		const above = this.#drawn.widths.slice(0, this.#drawn.row).reduce((sum, size) => sum + Math.max(1, Math.ceil(size / columns)), 0);
		return `\r${UP(above)}${ERASE_BELOW}`;
	}
}
