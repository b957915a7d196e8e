/** A table: in columns if they fit, with broken cells if they nearly fit, else a list of its rows. */
import type { Tokens } from "marked";
import { inlineSpans } from "./inline.js";
import { type Look, paint } from "./look.js";
import { pad, width } from "./width.js";
import { type Span, wrapSpans } from "./wrap.js";

const BETWEEN = " │ ";
const NARROWEST = 8;

export function tableLines(table: Tokens.Table, look: Look): string[] {
	const cell = ({ tokens }: Tokens.TableCell): Span[] => inlineSpans(tokens, look.colour);
	const head = table.header.map(cell);
	const rows = table.rows.map((row) => head.map((_, at) => (row[at] ? cell(row[at]) : [])));
	const natural = head.map((title, at) => Math.max(3, ...[title, ...rows.map((row) => row[at] as Span[])].map(widthOf)));
	const columns = fitted(natural, look.columns - BETWEEN.length * (head.length - 1));
	if (!columns) return asList(head, rows, look);
	const line = (cells: readonly Span[][], bold: boolean): string[] => {
		const wrapped = cells.map((spans, at) =>
			wrapSpans(bold ? spans.map(({ text, style }) => ({ text, style: [...style, "bold" as const] })) : spans, { ...look, columns: columns[at] as number }),
		);
		const height = Math.max(...wrapped.map(({ length }) => length));
		return Array.from({ length: height }, (_, row) =>
			wrapped
				.map((lines, at) => aligned(lines[row] ?? "", columns[at] as number, table.align[at]))
				.join(paint(look, "dim", BETWEEN))
				.trimEnd(),
		);
	};
	const rule = paint(look, "dim", columns.map((size) => "─".repeat(size)).join("─┼─"));
	return [...line(head, true), rule, ...rows.flatMap((row) => line(row, false))];
}

const widthOf = (spans: readonly Span[]): number => spans.reduce((sum, { text }) => sum + width(text), 0);

/** The widest columns give way first; undefined if one would be too narrow to read. */
function fitted(natural: readonly number[], room: number): number[] | undefined {
	const sizes = [...natural];
	for (let over = sizes.reduce((sum, size) => sum + size, 0) - room; over > 0; over--) {
		const widest = sizes.indexOf(Math.max(...sizes));
		if ((sizes[widest] as number) <= NARROWEST) return undefined;
		sizes[widest] = (sizes[widest] as number) - 1;
	}
	return sizes;
}

function aligned(text: string, columns: number, side: "left" | "right" | "center" | null | undefined): string {
	const free = Math.max(0, columns - width(text));
	const before = side === "right" ? free : side === "center" ? Math.floor(free / 2) : 0;
	return pad(" ".repeat(before) + text, columns);
}

function asList(head: readonly Span[][], rows: readonly Span[][][], look: Look): string[] {
	const name = (at: number): Span[] => [
		...(head[at] as Span[]).map(({ text, style }) => ({ text, style: [...style, "bold" as const] })),
		{ text: ": ", style: [] },
	];
	return rows.flatMap((row, index) => [
		...(index > 0 ? [""] : []),
		...row.flatMap((spans, at) => wrapSpans([...name(at), ...spans], look, { first: "", rest: "  " })),
	]);
}
