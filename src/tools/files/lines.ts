/** Changes a text without its carriage returns, then restores them: each unchanged line keeps its ending. */
import { usualEnding } from "./text.js";

/** Calls `change` with lines that end with \n. */
export function keepingEndings<T extends { text: string }>(text: string, change: (plain: string) => T): T {
	if (!text.includes("\r\n")) return change(text);
	const ending = usualEnding(text);
	const before = text.split("\n");
	const result = change(text.replaceAll("\r\n", "\n"));
	const after = result.text.split("\n");
	const plain = before.map((line) => (line.endsWith("\r") ? line.slice(0, -1) : line));
	const last = before.length - 1;
	let head = 0;
	while (head < Math.min(last, after.length - 1) && plain[head] === after[head]) head++;
	let tail = 0;
	while (tail < Math.min(last, after.length - 1) - head && plain[last - 1 - tail] === after[after.length - 2 - tail]) tail++;
	const end = ending === "\r\n" ? "\r" : "";
	const lines = after.map((line, at) => {
		if (at === after.length - 1) return line; // no line ending follows it
		if (at < head) return before[at] as string;
		if (at >= after.length - 1 - tail) return before[last - (after.length - 1 - at)] as string;
		return line.endsWith("\r") ? line : line + end;
	});
	return { ...result, text: lines.join("\n") };
}
