/** Draws what a terminal shows at the end of an asciicast as SVG: text that can be read, selected and scaled. */
import xterm from "@xterm/headless";

const CELL = { width: 8.4, height: 18 };
const PAD = 16;
const FONT = "ui-monospace, SFMono-Regular, Menlo, Consolas, 'DejaVu Sans Mono', monospace";
const COLOURS = { back: "#16181d", text: "#d6d9e0", dim: "#8b909c" };
const PALETTE = [
	...["#16181d", "#e5727a", "#8fc379", "#dfb967", "#6fa8e8", "#c58bd8", "#5fbfc4", "#d6d9e0"],
	...["#6c717d", "#f08b92", "#a5d691", "#efcf84", "#8dbdf2", "#d6a6e5", "#7fd3d7", "#f4f5f8"],
];

/** `cast`: the text of an asciicast v2. `title`: what the picture shows, for who cannot see it. */
export async function drawing(cast, title) {
	const [header, ...events] = cast
		.trimEnd()
		.split("\n")
		.map((line) => JSON.parse(line));
	const terminal = new xterm.Terminal({ cols: header.width, rows: header.height, allowProposedApi: true, convertEol: false });
	for (const [, kind, text] of events) if (kind === "o") await new Promise((resolve) => terminal.write(text, resolve));
	const rows = screenRows(terminal);
	terminal.dispose();
	const [width, height] = [header.width * CELL.width + 2 * PAD, rows.length * CELL.height + 2 * PAD];
	return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${round(width)} ${round(height)}" width="${round(width)}" height="${round(height)}" font-family="${FONT}" font-size="14">
<title>${title}</title>
<rect width="100%" height="100%" rx="8" fill="${COLOURS.back}"/>
${rows.flatMap((runs, row) => runs.map((run) => drawn(run, row))).join("\n")}
</svg>
`;
}

/** Runs of cells that look alike, for each row down to the last with something on it. */
function screenRows(terminal) {
	const { active } = terminal.buffer;
	const rows = Array.from({ length: active.length }, (_, at) => runsOf(active.getLine(at)));
	return rows.slice(0, rows.findLastIndex((runs) => runs.length > 0) + 1);
}

function runsOf(line) {
	const runs = [];
	for (let column = 0; column < line.length; column++) {
		const cell = line.getCell(column);
		if (cell.getWidth() === 0) continue;
		const [text, look] = [cell.getChars() || " ", lookOf(cell)];
		const last = runs.at(-1);
		if (last && last.look === look && last.column + last.cells === column) Object.assign(last, { text: last.text + text, cells: last.cells + cell.getWidth() });
		else runs.push({ column, text, cells: cell.getWidth(), look });
	}
	const last = runs.at(-1);
	if (last) Object.assign(last, { text: last.text.trimEnd(), cells: last.cells - (last.text.length - last.text.trimEnd().length) });
	return runs.filter(({ text }) => text.trim() !== "");
}

function lookOf(cell) {
	const fill = cell.isFgPalette() ? (PALETTE[cell.getFgColor()] ?? COLOURS.text) : cell.isDim() ? COLOURS.dim : COLOURS.text;
	return [
		`fill="${fill}"`,
		...(cell.isBold() ? ['font-weight="bold"'] : []),
		...(cell.isItalic() ? ['font-style="italic"'] : []),
		...(cell.isUnderline() ? ['text-decoration="underline"'] : []),
	].join(" ");
}

function drawn({ column, text, cells, look }, row) {
	const x = round(PAD + column * CELL.width);
	const y = round(PAD + row * CELL.height + 13);
	return `<text x="${x}" y="${y}" textLength="${round(cells * CELL.width)}" xml:space="preserve" ${look}>${escaped(text)}</text>`;
}

const escaped = (text) => text.replaceAll("&", "&amp;").replaceAll("<", "&lt;");
const round = (value) => Number(value.toFixed(1));
