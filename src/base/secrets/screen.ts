import { type Redactor, revealInPlace } from "./index.js";

/** The rows of a screen with what is secret in them masked, everything in its place. Rows that are full may go on in the next one. */
export function redactScreen(secrets: Redactor, screen: string, cols: number): string {
	const rows = screen.split("\n");
	const hidden = secrets.hide(rows.map((row) => row + (row.length >= cols ? "" : "\n")).join(""));
	let at = 0;
	return rows
		.map((row) => {
			const shown = hidden.slice(at, at + row.length);
			at += row.length + (row.length >= cols ? 0 : 1);
			return revealInPlace(shown);
		})
		.join("\n");
}
