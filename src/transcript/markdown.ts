/** The transcript as Markdown. What a task has said or printed is code in it, whatever it contains. */
import { counted, visible } from "../base/index.js";
import type { Exported } from "./export.js";
import { outputOf } from "./output.js";
import type { EntryOfProcess } from "./read.js";
import { onOneLine, wordsOf } from "./words.js";

export function* markdownOf({ task, at, entries }: Exported): Generator<string, void> {
	yield `# Transcript of ${span(task)}\n\nExported by Holdfast at ${at.toISOString()}. What looks like a secret is masked.\n`;
	let count = 0;
	for (const told of entries) {
		count++;
		yield entryIn(told);
	}
	yield `\n---\n\n${counted(count, "entry", "entries")}.\n`;
}

function entryIn({ entry, process }: EntryOfProcess): string {
	const { head, text, details } = wordsOf(entry);
	const title = `\n## ${entry.at.slice(0, 19).replace("T", " ")} ${span(head)}\n`;
	const about = details.length > 0 ? `\n${details.map(span).join(", ")}\n` : "";
	if (entry.kind !== "command") return `${title}${about}${text === "" ? "" : `\n${block(entry.message ?? entry.command ?? text, "")}`}`;
	const output = process ? outputOf(process).output : "";
	return `${title}${about}\n${block(entry.command ?? "", "sh")}${output === "" ? "" : `\n${block(output, "text")}`}`;
}

/** Code in a line. Backticks in it are fewer in a row than those around it. */
function span(text: string): string {
	const flat = onOneLine(text);
	const fence = "`".repeat(longestRun(flat) + 1);
	return flat === "" ? "" : `${fence}${/^`|`$/.test(flat) ? ` ${flat} ` : flat}${fence}`;
}

function block(text: string, language: string): string {
	const fence = "`".repeat(Math.max(3, longestRun(text) + 1)); // `visible` adds none
	return `${fence}${language}\n${visible(text).replace(/\n?$/, "\n")}${fence}\n`;
}

function longestRun(text: string): number {
	let longest = 0;
	for (const [run] of text.matchAll(/`+/g)) longest = Math.max(longest, run.length);
	return longest;
}
