/** Where the CLI's words go: tables and colour for people, neither when piped, JSON when asked. */
import { HoldfastError } from "../../base/errors.js";
import { redact } from "../../base/secrets/index.js";

const STYLES = { bold: [1, 22], dim: [2, 22], red: [31, 39], green: [32, 39], yellow: [33, 39], cyan: [36, 39] } as const;
type Style = keyof typeof STYLES;

export class Output {
	readonly json: boolean;
	readonly #colour: boolean;
	#remarks: string[] = [];
	#notes: () => readonly string[] = () => [];

	constructor(options: { json: boolean }) {
		this.json = options.json;
		this.#colour = !options.json && process.stdout.isTTY === true && !process.env.NO_COLOR && process.env.TERM !== "dumb";
	}

	style(style: Style, text: string): string {
		const [on, off] = STYLES[style];
		return this.#colour ? `\x1b[${on}m${text}\x1b[${off}m` : text;
	}

	/** Columns of the terminal that reads this; without one there is no end to a line. */
	get columns(): number {
		return process.stdout.isTTY ? process.stdout.columns : Number.POSITIVE_INFINITY;
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

	/** Where more remarks come from. They are made with the next object, at the end, or when `tell` is called. */
	hear(takeNotes: () => readonly string[]): void {
		this.#notes = takeNotes;
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

	table(head: readonly string[], rows: readonly (readonly string[])[]): void {
		const widths = head.map((title, column) => Math.max(title.length, ...rows.map((row) => width(row[column] ?? ""))));
		const before = widths.slice(0, -1).reduce((sum, column) => sum + column + 2, 0);
		const render = (cells: readonly string[]) =>
			cells
				.map((cell, column) => (column === cells.length - 1 ? cut(cell, this.columns - before) : cell + " ".repeat((widths[column] ?? 0) - width(cell))))
				.join("  ")
				.trimEnd();
		this.line(this.style("dim", render(head)));
		for (const row of rows) this.line(render(row));
	}

	/** One sentence on stderr, or an object on stdout. */
	error(error: unknown): void {
		const code = error instanceof HoldfastError ? error.code : "INTERNAL";
		const message = redact(error instanceof Error ? error.message : String(error));
		if (this.json) this.data({ error: { code, message } });
		else process.stderr.write(`holdfast: ${message}\n`);
	}
}

/** The last column of a table ends where the terminal does, unless nearly nothing would be left of it. */
const cut = (cell: string, room: number): string => (cell.includes("\u001b") || width(cell) <= room ? cell : oneLine(cell, Math.max(8, room)));

const STYLE = /\u001b\[[0-9;]*m/g;
export const width = (text: string): number => text.replace(STYLE, "").length;

const ESCAPES = /\u001b\[[0-9;?]*[ -/]*[@-~]/g;
const CONTROLS = /[\u0000-\u001f\u007f-\u009f]+/g;

/** Text of a program, made safe for one line of a table. */
export function oneLine(text: string, max: number): string {
	const flat = text.replace(ESCAPES, "").replace(CONTROLS, " ").trim();
	return flat.length > max ? `${flat.slice(0, max - 1)}…` : flat;
}
