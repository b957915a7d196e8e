import { hide, revealInPlace } from "./index.js";

/** The rows of a screen with what is secret in them masked, everything in its place. Rows that are full may go on in the next one. */
export function redactScreen(screen: string, cols: number): string {
	const rows = screen.split("\n");
	const hidden = hide(rows.map((row) => row + (row.length >= cols ? "" : "\n")).join(""));
	let at = 0;
	return rows
		.map((row) => {
			const shown = hidden.slice(at, at + row.length);
			at += row.length + (row.length >= cols ? 0 : 1);
			return revealInPlace(shown);
		})
		.join("\n");
}
