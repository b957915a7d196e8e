/** Old results, sent in short: the beginning, and the exact call that reads the whole back from the log. */
import type { Entry } from "./entry.js";

type Result = Extract<Entry, { t: "result" }>;

const SHORT = 600; // characters: shorter results stay whole
const HEAD = 240;

/** Returns what is sent of a result that was shortened. */
export function shortResult({ call, text, process }: Result): string {
	if (text.length <= SHORT) return text;
	const of = process ? `, of process ${process}` : "";
	return `${headOf(text)}\n[shortened: ${number(lines(text))} lines, ${number(text.length)} characters${of}; recall(call=${JSON.stringify(call)}, offset=0) has them]`;
}

/** Returns the text of a result by the id of its call, exactly as the log has it. */
export const recallResult = (entries: readonly Entry[], call: string): string | undefined =>
	entries.findLast((entry): entry is Result => entry.t === "result" && entry.call === call)?.text;

/** Up to the end of a line if one is near, and never half of a character. */
function headOf(text: string): string {
	const cut = text.slice(0, HEAD);
	const line = cut.lastIndexOf("\n");
	return (line > HEAD / 2 ? cut.slice(0, line) : cut).replace(/[\ud800-\udbff]$/, "").trimEnd();
}

const lines = (text: string): number => text.split("\n").length - (text.endsWith("\n") ? 1 : 0);
const number = (value: number): string => value.toLocaleString("en-US");
