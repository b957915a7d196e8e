/** A draft as rows of the terminal: where each letter stands, and where the cursor is. */
import { letters, letterWidth, width } from "../render/width.js";

export interface Laid {
	readonly rows: readonly string[];
	/** The cursor's row, from 0. */
	readonly row: number;
	readonly column: number;
}

export interface LayoutOptions {
	readonly prompt: string;
	/** The prompt may have colours; its width is taken without them. */
	readonly columns: number;
	readonly most: number;
	/** Returns the text to show in place of a letter; undefined: the letter itself. */
	readonly show?: (letter: string) => string | undefined;
}

/** The last column stays empty: terminals differ in where the cursor is after it. Of a long draft the rows around the cursor are shown. */
export function layout(text: string, cursor: number, { prompt, columns, most, show }: LayoutOptions): Laid {
	const room = Math.max(4, columns - 1);
	const hang = " ".repeat(Math.min(width(prompt), room - 2));
	const rows: string[] = [prompt];
	let used = width(prompt);
	let at = 0;
	let found: { row: number; column: number } | undefined;
	const breakRow = () => {
		rows.push(hang);
		used = hang.length;
	};
	const put = (letter: string) => {
		if (used + letterWidth(letter) > room) breakRow();
		rows[rows.length - 1] += letter;
		used += letterWidth(letter);
	};
	for (const letter of letters(text)) {
		if (at === cursor) found = { row: rows.length - 1, column: used };
		at += letter.length;
		if (letter === "\n") breakRow();
		else for (const shown of letters(show?.(letter) ?? letter)) put(shown);
	}
	if (used >= room && cursor >= at) breakRow();
	const { row, column } = found ?? { row: rows.length - 1, column: used };
	const first = Math.min(Math.max(0, row - most + 1), Math.max(0, rows.length - most));
	return { rows: rows.slice(first, first + most), row: row - first, column };
}
