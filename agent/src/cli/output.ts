/** Writes the words of commands: colour for people at a terminal, JSON for programs. */

const STYLES = { bold: [1, 22], dim: [2, 22], red: [31, 39], green: [32, 39], yellow: [33, 39], cyan: [36, 39] } as const;

/** Codes that move the cursor, set a title or turn the reading direction. Words may be of strangers: task names, output of tests. Colours are ours. */
const HARMFUL = /\u001b\[(?:0|1|2|22|3[1236]|39)m|[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u200e\u200f\u202a-\u202e\u2066-\u2069]/g;

const safe = (text: string): string =>
	text.replace(/\r\n?/g, "\n").replace(HARMFUL, (found) => (found.length > 1 ? found : found < " " ? String.fromCharCode(0x2400 + found.charCodeAt(0)) : ""));

let unread: (() => void) | undefined;

/** Sets what to do when the reader of this program's words is gone. Without that the program ends. */
export const whenUnread = (end: () => void): void => {
	unread = end;
};

/** Returns whether the command does something about it. */
export function isEndedUnread(): boolean {
	unread?.();
	return unread !== undefined;
}

export class Output {
	readonly json: boolean;
	readonly #colour: boolean;

	constructor({ json }: { readonly json: boolean }) {
		this.json = json;
		const { NO_COLOR, TERM } = process.env;
		this.#colour = !json && process.stdout.isTTY === true && !NO_COLOR && TERM !== undefined && TERM !== "" && TERM !== "dumb";
	}

	style(style: keyof typeof STYLES, text: string): string {
		const [on, off] = STYLES[style];
		return this.#colour ? `\u001b[${on}m${text}\u001b[${off}m` : text;
	}

	/** Columns of the terminal; without one there is no end to a line. */
	get columns(): number {
		return process.stdout.isTTY ? process.stdout.columns || 80 : Number.POSITIVE_INFINITY;
	}

	line(text = ""): void {
		process.stdout.write(`${safe(text)}\n`);
	}

	data(value: unknown): void {
		process.stdout.write(`${JSON.stringify(value, null, process.stdout.isTTY ? 2 : undefined)}\n`);
	}

	/** A remark for the person; never part of what a script reads. */
	note(text: string): void {
		process.stderr.write(`${safe(text)}\n`);
	}

	/** The last column is cut at the width of the terminal. */
	table(head: readonly string[], given: readonly (readonly string[])[]): void {
		const rows = given.map((row) => row.map((cell) => safe(cell).replace(/\s+/g, " ")));
		const widths = head.map((title, column) => Math.max(title.length, ...rows.map((row) => row[column]?.length ?? 0)));
		const render = (cells: readonly string[]) =>
			cells
				.map((cell, at) => (at === cells.length - 1 ? cell : cell.padEnd(widths[at] ?? 0)))
				.join("  ")
				.slice(0, Math.min(this.columns, 100_000))
				.trimEnd();
		this.line(this.style("dim", render(head)));
		for (const row of rows) this.line(render(row));
	}

	/** One sentence on stderr, or an object on stdout. */
	error(error: unknown): void {
		const code = (error as { readonly code?: unknown }).code;
		const message = error instanceof Error ? error.message : String(error);
		if (this.json) this.data({ error: { code: typeof code === "string" ? code : "INTERNAL", message } });
		else this.note(`holdfast-agent: ${message}`);
	}
}
