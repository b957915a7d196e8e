/** The headings of a text with their offsets, and passages of it. */
export interface Heading {
	readonly level: number;
	readonly text: string;
	readonly offset: number;
}

const MOST_HEADING = 2_000; // a page may have one of millions of brackets, which the search for links would go through for each of them

export function outlineOf(markdown: string): Heading[] {
	const found: Heading[] = [];
	let fence: string | undefined;
	let offset = 0;
	for (const line of markdown.split("\n")) {
		const mark = /^\s*(`{3,}|~{3,})/.exec(line)?.[1];
		if (mark && fence === undefined) fence = mark;
		else if (mark && fence !== undefined && mark.startsWith(fence)) fence = undefined;
		const heading = fence === undefined ? /^(#{1,6})\s+(.+)$/.exec(line) : null;
		if (heading)
			found.push({
				level: heading[1]?.length ?? 1,
				text: (heading[2] ?? "")
					.slice(0, MOST_HEADING)
					.replace(/\[([^\]]*)\]\([^)]*\)/g, "$1")
					.slice(0, 120),
				offset,
			});
		offset += line.length + 1;
	}
	return found;
}

const LEAST = 8;

/** At most so many lines: of many headings, the deeper levels are left out first. */
export function shownOutline(headings: readonly Heading[], most = 40): string {
	let shown = headings;
	for (let level = 6; level > 1 && shown.length > most; level--) {
		const fewer = shown.filter((one) => one.level < level);
		if (fewer.length < LEAST) break; // all of them are of one level: some of these are shown
		shown = fewer;
	}
	if (shown.length > most) shown = shown.filter((_, at) => at % Math.ceil(shown.length / most) === 0);
	const lines = shown.map(({ level, text, offset }) => `${"  ".repeat(level - 1)}${offset}: ${text}`);
	if (shown.length < headings.length) lines.push(`(${headings.length - shown.length} more headings are not shown)`);
	return lines.join("\n");
}

/** A part from an offset on, which ends at a paragraph or a line where one is near. */
export function partOf(text: string, offset: number, most: number): { text: string; end: number } {
	const piece = text.slice(offset, offset + most);
	if (offset + piece.length >= text.length) return { text: piece, end: text.length };
	const least = most * 0.7;
	const at = [piece.lastIndexOf("\n\n"), piece.lastIndexOf("\n"), piece.lastIndexOf(" ")].find((found) => found > least);
	const end = at ?? piece.replace(/[\uD800-\uDBFF]$/, "").length;
	return { text: piece.slice(0, end), end: offset + end };
}

const AROUND = 240;
const MOST_FOUND = 12;

/** Finds a text, whatever its case and spacing, and returns it with its surroundings. */
export function findIn(text: string, wanted: string): { count: number; passages: { offset: number; text: string }[] } {
	const pattern = new RegExp(
		wanted
			.trim()
			.split(/\s+/)
			.map((word) => word.replace(/[.*+?^${}()|[\]\\]/g, "\\$&"))
			.join("\\s+"),
		"giu",
	);
	const passages: { offset: number; text: string }[] = [];
	let count = 0;
	let covered = -1;
	for (const match of text.matchAll(pattern)) {
		count++;
		if (match.index < covered || passages.length >= MOST_FOUND) continue;
		const from = Math.max(0, match.index - AROUND);
		covered = Math.min(text.length, match.index + match[0].length + AROUND);
		passages.push({ offset: from, text: text.slice(from, covered) });
	}
	return { count, passages };
}
