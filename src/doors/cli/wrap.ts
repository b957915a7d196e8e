/** Text as wide as the terminal that it is read on. */
import { width } from "./output.js";

const NARROW = 6;

/** Lines that are too wide are broken between words, under their second column if they have one. Examples stay whole: they are there to be copied. */
export function wrap(text: string, columns: number): string {
	if (!Number.isFinite(columns)) return text;
	return sentences(text.split("\n"))
		.flatMap((line) => broken(line, columns))
		.join("\n");
}

/** A line of prose that ends in the middle of a sentence goes on in the next one. */
function sentences(lines: readonly string[]): string[] {
	const whole: string[] = [];
	for (const line of lines) {
		const last = whole.at(-1);
		if (last !== undefined && /^\S.*[^.:\s]$/.test(last) && /^\S/.test(line) && !TITLE.test(last)) whole[whole.length - 1] = `${last} ${line}`;
		else whole.push(line);
	}
	return whole;
}

const TITLE = /^\S*(?:Options|Examples?)\S*$/;

function broken(line: string, columns: number): string[] {
	const head = /^ +\S.*? {2,}(?=\S)/.exec(line)?.[0] ?? "";
	return head === "" && line.startsWith(" ") ? [line] : under(head, line.slice(head.length), columns);
}

/** The text behind its head, broken between words; what follows begins under where it began, if that leaves it room. If not, a column of texts begins below its heads. */
export function under(head: string, text: string, columns: number): string[] {
	const isWide = width(head) > columns / 2;
	const isBelow = isWide && /\S {2,}$/.test(head) && width(head) + width(text) > columns;
	const hang = " ".repeat(isWide ? NARROW : width(head));
	const lines = isBelow ? [head.trimEnd()] : [];
	let current = isBelow ? hang : head;
	let empty = true;
	for (const word of text.split(" ")) {
		if (width(current) + width(word) + (empty ? 0 : 1) > columns && (!empty || hang.length < width(current))) {
			lines.push(current.trimEnd());
			current = hang;
			empty = true;
		}
		current += empty ? word : ` ${word}`;
		empty = false;
	}
	return [...lines, current];
}
