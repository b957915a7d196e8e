/**
 * Saves context: a long result is shown to the model without what repeats itself and, if that is not enough, without its middle. Each gap names the call
 * that shows exactly the lines that are missing. What is short stays as it is.
 */

/** Consecutive lines of the whole text, the first of which has this number (from 0). */
export interface Stretch {
	readonly line: number;
	readonly text: string;
}

export interface ShortenOptions {
	/** Characters that may be shown, about. */
	readonly most: number;
	/** The call that shows these lines of the whole text. */
	readonly where: (range: { readonly line: number; readonly lines: number }) => string;
	/** Leaves out what repeats itself only if the text is too long. */
	readonly onlySize?: boolean;
}

/** Below this many characters nothing is changed. */
export const SHORT = 2_000;
const WORTH = 300; // characters that must be saved, or the text stays as it is
const HEAD_SHARE = 0.4;
const SAME_RUN = 3; // equal lines in a row
const ALIKE_RUN = 8; // lines in a row that differ only in numbers
const ALIKE_FROM = 0.5; // of `most`: shorter texts keep them, since they may be the data that was asked for
const STATES = 4; // of a line that was drawn again and again
const LONG_LINE = { over: 2_000, head: 1_000, tail: 500 } as const;

/** Returns the text for the model. `stretches`: the whole, or the parts of it that are known, in order. */
export function shorten(stretches: readonly Stretch[], { most, where, onlySize = false }: ShortenOptions): { readonly text: string; readonly cut: boolean } {
	const whole = stretches.map(({ text }) => text).join("");
	const complete = stretches.length === 1;
	if (complete && whole.length <= (onlySize ? Math.max(SHORT, most) : SHORT)) return { text: whole, cut: false };
	const alike = whole.length > most * ALIKE_FROM;
	const parts = stretches.map((stretch) => collapsed(linesOf(stretch), { alike, where }));
	let items = parts.flatMap((part, index) => [...(index === 0 ? [] : [between(parts[index - 1] as Item[], part)]), ...part]);
	if (sizeOf(items, where) > most) items = items.map((item) => shortLine(item, where));
	if (sizeOf(items, where) > most) items = withoutMiddle(items, most);
	const text = items.map((item) => shown(item, where)).join("\n") + (whole.endsWith("\n") ? "\n" : "");
	if (complete && whole.length - text.length < WORTH) return { text: whole, cut: false };
	return { text, cut: true };
}

/** A line that is shown, or lines that are left out. */
type Item =
	| { readonly kind: "line"; readonly line: number; readonly text: string }
	| { readonly kind: "same" | "alike" | "gap"; readonly line: number; readonly lines: number };

type Where = ShortenOptions["where"];

const countOf = (item: Item): number => (item.kind === "line" ? 1 : item.lines);

function shown(item: Item, where: Where): string {
	if (item.kind === "line") return item.text;
	if (item.kind === "same") return `[the line above ${times(item.lines)} more]`;
	const what = item.kind === "alike" ? `${counted(item.lines)} like these` : counted(item.lines);
	return `[${what} left out; ${where({ line: item.line, lines: item.lines })} shows them]`;
}

const number = (value: number): string => value.toLocaleString("en-US");
const counted = (lines: number): string => `${number(lines)} line${lines === 1 ? "" : "s"}`;
const times = (count: number): string => (count === 1 ? "once" : `${number(count)} times`);
const sizeOf = (items: readonly Item[], where: Where): number => items.reduce((sum, item) => sum + shown(item, where).length + 1, 0);

interface Line {
	readonly line: number;
	readonly text: string;
}

function linesOf({ line, text }: Stretch): Line[] {
	const lines = text.split("\n");
	if (lines.at(-1) === "") lines.pop();
	return lines.map((one, index) => ({ line: line + index, text: one }));
}

/** Leaves out what repeats the lines before it. */
function collapsed(lines: readonly Line[], { alike, where }: { alike: boolean; where: Where }): Item[] {
	const items: Item[] = [];
	for (let at = 0; at < lines.length; ) {
		const first = lines[at] as Line;
		let same = at + 1;
		while (same < lines.length && lines[same]?.text === first.text) same++;
		if (same - at >= SAME_RUN) {
			items.push(drawnOnce(first, where), { kind: "same", line: first.line + 1, lines: same - at - 1 });
			at = same;
			continue;
		}
		const end = alike ? alikeUntil(lines, at) : at;
		if (end - at >= ALIKE_RUN) {
			const [second, last] = [lines[at + 1] as Line, lines[end - 1] as Line];
			items.push(drawnOnce(first, where), drawnOnce(second, where), { kind: "alike", line: first.line + 2, lines: end - at - 3 }, drawnOnce(last, where));
			at = end;
			continue;
		}
		items.push(drawnOnce(first, where));
		at++;
	}
	return items;
}

/** Returns the end of the run of lines that differ from this one only in numbers. A line that tells of a failure is never in one. */
function alikeUntil(lines: readonly Line[], at: number): number {
	const key = keyOf((lines[at] as Line).text);
	if (key === undefined) return at;
	let end = at + 1;
	while (end < lines.length && keyOf((lines[end] as Line).text) === key) end++;
	return end;
}

const TELLS = /error|fail|fatal|panic|exception|traceback|warn|denied|refused|cannot|not found|undefined|abort/i;

function keyOf(text: string): string | undefined {
	if (TELLS.test(text)) return undefined;
	return text
		.slice(0, LONG_LINE.over)
		.replaceAll(/\b[0-9a-f]{7,64}\b/gi, "#") // ids, sums
		.replaceAll(/\d+(?:[.,:]\d+)*/g, "#")
		.replaceAll(/[#=>.\-█▏▎▍▌▋▊▉░▒▓━╸╺ ]{2,}/g, " "); // progress bars
}

/** Shows a line that carriage returns drew several times as it was at the end. */
function drawnOnce({ line, text }: Line, where: Where): Item {
	const states = text.replace(/\r$/, "").split("\r");
	const last = states.findLast((state) => state.trim() !== "");
	if (states.length < STATES || last === undefined) return { kind: "line", line, text };
	const note = `${last} [drawn ${times(states.length)}; ${where({ line, lines: 1 })} shows all]`;
	return { kind: "line", line, text: note.length < text.length ? note : text };
}

function shortLine(item: Item, where: Where): Item {
	if (item.kind !== "line" || item.text.length <= LONG_LINE.over) return item;
	const { line, text } = item;
	const [head, tail] = [whole(text.slice(0, LONG_LINE.head)), whole(text.slice(-LONG_LINE.tail))];
	const left = number(text.length - head.length - tail.length);
	return { kind: "line", line, text: `${head} [${left} characters of this line left out; ${where({ line, lines: 1 })} shows it] ${tail}` };
}

/** Without half of a character at either end. */
const whole = (text: string): string => text.replace(/^[\uDC00-\uDFFF]|[\uD800-\uDBFF]$/g, "");

function between(before: readonly Item[], after: readonly Item[]): Item {
	const last = before.at(-1);
	const from = last ? last.line + countOf(last) : 0;
	return { kind: "gap", line: from, lines: Math.max(0, (after[0]?.line ?? from) - from) };
}

/** Keeps the first and the last items that fit. */
function withoutMiddle(items: readonly Item[], most: number): Item[] {
	const size = (item: Item): number => (item.kind === "line" ? item.text.length + 1 : 120);
	let [head, tail, used] = [0, items.length, 0];
	while (head < items.length && used + size(items[head] as Item) <= most * HEAD_SHARE) used += size(items[head++] as Item);
	while (tail > head && used + size(items[tail - 1] as Item) <= most) used += size(items[--tail] as Item);
	if (items[tail]?.kind === "same") tail++; // "the line above" would be another one
	const [first, last] = [items[head], items[tail - 1]];
	if (!first || !last || tail <= head) return [...items];
	return [...items.slice(0, head), { kind: "gap", line: first.line, lines: last.line + countOf(last) - first.line }, ...items.slice(tail)];
}
