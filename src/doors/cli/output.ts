/** Output of the CLI: tables and colour for people, neither when piped, JSON when asked. */
import { columnsOf, fitted, HoldfastError, visible } from "../../base/index.js";
import type { Redactor } from "../../base/secrets/index.js";
import { terminalSize } from "./terminal-size.js";

const STYLES = { bold: [1, 22], dim: [2, 22], red: [31, 39], green: [32, 39], yellow: [33, 39], cyan: [36, 39] } as const;
type Style = keyof typeof STYLES;

export class Output {
	readonly json: boolean;
	readonly #colour: boolean;
	#remarks: string[] = [];
	#notes: () => readonly string[] = () => [];

	#secrets: () => readonly Redactor[];

	/** `secrets`: those of this program. */
	constructor(options: { json: boolean; secrets: Redactor }) {
		this.#secrets = () => [options.secrets];
		this.json = options.json;
		this.#colour = !options.json && process.stdout.isTTY === true && !process.env.NO_COLOR && process.env.TERM !== "dumb";
	}

	style(style: Style, text: string): string {
		const [on, off] = STYLES[style];
		return this.#colour ? `\x1b[${on}m${text}\x1b[${off}m` : text;
	}

	/** Columns of the terminal that reads this; without one there is no end to a line. */
	get columns(): number {
		return process.stdout.isTTY ? terminalSize().cols : Number.POSITIVE_INFINITY;
	}

	line(text = ""): void {
		process.stdout.write(`${text}\n`);
	}

	/** A remark for the person at the terminal; never part of what a script reads. */
	note(text: string): void {
		process.stderr.write(`${text}\n`);
	}

	/** A note that scripts should know of too: with JSON it is in `notes` of the next object. */
	remark(text: string): void {
		this.note(`holdfast: ${text}`);
		if (this.json) this.#remarks.push(text);
	}

	/** Sets a source of more remarks. It is asked with the next object, at the end, or when `tell` is called. */
	hear(takeNotes: () => readonly string[]): void {
		this.#notes = takeNotes;
	}

	/** Masks these secrets, too. */
	mask(secrets: () => readonly Redactor[]): void {
		const before = this.#secrets;
		this.#secrets = () => [...before(), ...secrets()];
	}

	tell(): void {
		for (const note of this.#notes()) this.remark(note);
	}

	data(value: unknown): void {
		this.tell();
		const notes = this.#remarks.splice(0);
		const shown = notes.length > 0 && !Array.isArray(value) ? { ...(value as object), notes } : value;
		process.stdout.write(`${JSON.stringify(shown, null, process.stdout.isTTY ? 2 : undefined)}\n`);
	}

	/** Prints a table as wide as the terminal: columns in `drop` are left out first, in this order; where too little is left, each row takes two lines. */
	table(head: readonly string[], rows: readonly (readonly string[])[], { drop = [] }: { drop?: readonly string[] } = {}): void {
		const kept = this.#fitting(head, rows, drop);
		const pick = (cells: readonly string[]) => kept.map((column) => cells[column] ?? "");
		const widths = widthsOf(head, rows);
		const before = roomBefore(kept, widths);
		if (this.columns - before < LAST_CHARS) {
			const names = pick(head);
			const named = (cell: string, at: number) => (/^\d+$/.test(cell.replace(STYLE, "")) ? `${cell} ${(names[at] ?? "").toLowerCase()}` : cell); // no heading says of what
			for (const row of rows.map(pick)) {
				this.line(cut(row.slice(0, -1).map(named).join("  "), this.columns));
				this.line(`  ${cut(row.at(-1) ?? "", this.columns - 2)}`);
			}
			return;
		}
		const render = (cells: readonly string[]) =>
			cells
				.map((cell, at) => (at === cells.length - 1 ? cut(cell, this.columns - before) : cell + " ".repeat((widths[kept[at] as number] ?? 0) - width(cell))))
				.join("  ")
				.trimEnd();
		this.line(this.style("dim", render(pick(head))));
		for (const row of rows) this.line(render(pick(row)));
	}

	/** The columns that are shown. */
	#fitting(head: readonly string[], rows: readonly (readonly string[])[], drop: readonly string[]): number[] {
		const widths = widthsOf(head, rows);
		let kept = [...head.keys()];
		for (const name of drop) {
			if (this.columns - roomBefore(kept, widths) >= LAST_CHARS) break;
			kept = kept.filter((column) => head[column] !== name);
		}
		return kept;
	}

	/** Prints one sentence on stderr, or an object on stdout. */
	error(error: unknown): void {
		const code = error instanceof HoldfastError ? error.code : "INTERNAL";
		const message = this.#secrets().reduce((text, one) => one.redact(text), error instanceof Error ? error.message : String(error));
		if (this.json) this.data({ error: { code, message } });
		else process.stderr.write(`holdfast: ${message}\n`);
	}
}

/** The last column has room for this much, or a table is laid out otherwise. */
const LAST_CHARS = 12;

const widthsOf = (head: readonly string[], rows: readonly (readonly string[])[]): number[] =>
	head.map((title, column) => Math.max(title.length, ...rows.map((row) => width(row[column] ?? ""))));

/** Returns the width of all columns but the last, each with the space behind it. */
const roomBefore = (kept: readonly number[], widths: readonly number[]): number =>
	kept.slice(0, -1).reduce((sum, column) => sum + (widths[column] as number) + 2, 0);

/** Colour is left out of what has to be cut. */
const cut = (cell: string, room: number): string => (width(cell) <= room ? cell : fitted(cell.replace(STYLE, ""), Math.max(1, room)));

const STYLE = /\u001b\[[0-9;]*m/g;
/** In columns of a terminal. */
export const width = (text: string): number => columnsOf(text.replace(STYLE, ""));

const ESCAPES = /\u001b\[[0-9;?]*[ -/]*[@-~]/g;
const CONTROLS = /[\u0000-\u001f\u007f-\u009f]+/g;

/** Returns output of a program as one line of at most so many columns, without escape sequences. */
export const plainLine = (text: string, columns: number): string => oneLine(text.replace(ESCAPES, "").replace(CONTROLS, " "), columns);

/** A name or a command on one line of so many columns. Nothing in it is hidden: controls and invisible characters are shown as what they are. */
export const oneLine = (text: string, columns: number): string => fitted(visible(text.replace(/[\t\r\n]+/g, " ")).trim(), columns);
