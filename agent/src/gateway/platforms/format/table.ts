/** A table as aligned text: no chat platform has tables. */
import type { Tokens } from "marked";

const WIDEST = 40;

export function tableText({ header, rows }: Tokens.Table): string {
	const cells = [header, ...rows].map((row) => row.map(({ text }) => text.replace(/\s+/g, " ").trim()));
	const widths = header.map((_, at) => Math.min(WIDEST, Math.max(...cells.map((row) => (row[at] ?? "").length))));
	const line = (row: readonly string[]): string =>
		row
			.map((cell, at) => cell.padEnd(widths[at] ?? 0))
			.join("  ")
			.trimEnd();
	const [head = [], ...body] = cells;
	return [line(head), widths.map((width) => "-".repeat(width)).join("  "), ...body.map(line)].join("\n");
}
