/**
 * Long answers in parts that a platform takes: between paragraphs where that is possible, else between lines, sentences, words, characters. A code block that
 * is cut is closed, and opened again in the next part.
 */
export interface Measure {
	readonly limit: number;
	/** In the unit of the limit. */
	measure(markdown: string): number;
}

const FENCE = /^ {0,3}(`{3,}|~{3,})(.*)$/;

/** Each part is within the limit. Joined, they say what the text says. */
export function splitText(text: string, { limit, measure }: Measure): string[] {
	const parts: string[] = [];
	let rest = text.trim();
	/** The fence that the rest begins inside of. */
	let open = "";
	while (rest !== "") {
		const whole = open === "" ? rest : `${open}\n${rest}`;
		if (measure(whole) <= limit) return [...parts, whole];
		const end = cutAt(rest, limit, (head) => measure(closed(open === "" ? head : `${open}\n${head}`).text) <= limit);
		const { text: part, fence } = closed(open === "" ? rest.slice(0, end) : `${open}\n${rest.slice(0, end)}`);
		parts.push(part.trimEnd());
		open = fence;
		rest = open === "" ? rest.slice(end).trimStart() : rest.slice(end).replace(/^\n+/, "");
		if (open !== "" && isClosing(rest, open)) {
			rest = rest.slice(rest.indexOf("\n") < 0 ? rest.length : rest.indexOf("\n") + 1).trimStart(); // nothing but the end of the block was left
			open = "";
		}
	}
	return parts;
}

/** The beginning of a text, whole in itself, of at most so many characters. */
export function opening(text: string, chars: number): string {
	if (text.length <= chars) return text;
	const end = cutAt(text, chars, (head) => closed(head.trimEnd()).text.length <= chars - 2);
	const { text: head, fence } = closed(text.slice(0, end).trimEnd());
	return `${head}${fence === "" ? " " : "\n"}…`;
}

/** The longest head that fits, cut at the best border in its second half. */
function cutAt(text: string, limit: number, fits: (head: string) => boolean): number {
	let low = 0;
	let high = Math.min(text.length, limit * 2 + 1_000); // what is far longer than the limit is not measured
	while (low < high) {
		const middle = Math.ceil((low + high) / 2);
		if (fits(text.slice(0, middle))) low = middle;
		else high = middle - 1;
	}
	const most = Math.max(1, low);
	const head = text.slice(0, most);
	for (const border of ["\n\n", "\n", ". ", " "]) {
		const at = head.lastIndexOf(border);
		if (at > most / 2) return at + border.length;
	}
	// Not through the middle of a character of two units.
	return most > 1 && /[\ud800-\udbff]/.test(text.charAt(most - 1)) ? most - 1 : most;
}

/** A block of code that is open at the end is closed. `fence`: the line that opens it again. */
function closed(text: string): { readonly text: string; readonly fence: string } {
	let fence = "";
	for (const line of text.split("\n")) {
		const [, marks = "", info = ""] = FENCE.exec(line) ?? [];
		if (marks === "") continue;
		if (fence === "") fence = `${marks}${info.trimEnd()}`;
		else if (isClosing(line, fence)) fence = "";
	}
	if (fence === "") return { text, fence };
	const marks = /^[`~]+/.exec(fence)?.[0] ?? "```";
	return { text: `${text.replace(/\n+$/, "")}\n${marks}`, fence };
}

function isClosing(text: string, fence: string): boolean {
	const [line = ""] = text.split("\n", 1);
	const [, marks = "", info = ""] = FENCE.exec(line) ?? [];
	const open = /^[`~]+/.exec(fence)?.[0] ?? "";
	return marks !== "" && marks.charAt(0) === open.charAt(0) && marks.length >= open.length && info.trim() === "";
}
