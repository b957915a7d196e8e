/**
 * The only way from the lines of a log to what a model is sent. It adds nothing that the log does not say and repairs nothing: the log is valid by
 * construction (sequence.ts), and this keeps it so.
 */
import type { Message, Reasoning } from "../model/index.js";
import type { Entry } from "./entry.js";
import { shortResult } from "./recall.js";
import { fileText, noteText, noticeText, partialText, summaryText } from "./words.js";

export type History = (entries: readonly Entry[]) => Message[];

/** Returns what is sent of a conversation. With a summary: that, and what comes behind the lines it stands for. */
export const history: History = (entries) => {
	const summary = entries.findLast((entry) => entry.t === "summary");
	const messages = sentLines(entries).flatMap((line) => line.messages);
	return summary ? [{ role: "user", text: summaryText(summary.text) }, ...messages] : messages;
};

/** Returns all that was said, before any summary, with whole results: for exports. */
export const wholeHistory: History = (entries) => render(entries, { from: 0, shortUpto: -1 }).flatMap((line) => line.messages);

/** A line, and what is sent of it. */
export interface SentLine {
	readonly entry: Entry;
	readonly messages: readonly Message[];
}

/** Returns the lines that are sent as they are: behind the summary, and not taken back. */
export function sentLines(entries: readonly Entry[]): SentLine[] {
	const from = (entries.findLast((entry) => entry.t === "summary")?.upto ?? -1) + 1;
	return render(entries, { from, shortUpto: entries.findLast((entry) => entry.t === "shortened")?.upto ?? -1 });
}

function render(entries: readonly Entry[], { from, shortUpto }: { readonly from: number; readonly shortUpto: number }): SentLine[] {
	const taken = undoneLines(entries);
	const models = modelsInForce(entries);
	const current = models.at(-1);
	return entries
		.slice(from)
		.filter(({ n }) => !taken(n))
		.map((entry) => ({ entry, messages: messagesOf(entry, { short: entry.n <= shortUpto, foreign: models[entry.n] !== current }) }))
		.filter(({ messages }) => messages.length > 0);
}

interface How {
	/** It is sent shortened. */
	readonly short: boolean;
	/** Another model than the current one wrote it: its reasoning means nothing to this one, or is refused. */
	readonly foreign: boolean;
}

function messagesOf(entry: Entry, { short, foreign }: How): Message[] {
	switch (entry.t) {
		case "user":
			return [{ role: "user", text: [entry.text, ...(entry.files ?? []).map(fileText)].filter((text) => text.trim() !== "").join("\n\n") }];
		case "notice":
			return [{ role: "user", text: noticeText(entry.text) }];
		case "note":
			return [{ role: "user", text: noteText(entry.text) }];
		case "assistant":
			return [{ role: "assistant", text: entry.text, reasoning: foreign ? NONE : (entry.reasoning ?? NONE), calls: entry.calls, model: entry.model }];
		case "partial":
			return [
				{ role: "assistant", text: entry.text.trimEnd(), reasoning: NONE, calls: [], model: "" },
				{ role: "user", text: partialText(entry.why) },
			];
		case "result":
			return [{ role: "result", call: entry.call, text: (short ? shortResult(entry) : entry.text) || "(no output)", failed: entry.failed }];
		default:
			return [];
	}
}

const NONE: readonly Reasoning[] = [];

/** Tells lines that were taken back: each `undone` covers those from its `from` up to itself. */
export function undoneLines(entries: readonly Entry[]): (n: number) => boolean {
	const ranges = entries.flatMap((entry) => (entry.t === "undone" ? [{ from: entry.from, to: entry.n }] : []));
	return (n) => ranges.some(({ from, to }) => n >= from && n < to);
}

/** By line: the model as `begun` and `set` name it. What the endpoint calls it in its answers may be another name from day to day. */
function modelsInForce(entries: readonly Entry[]): string[] {
	let model = "";
	return entries.map((entry) => {
		if (entry.t === "begun" || entry.t === "set") model = entry.model ?? model;
		return model;
	});
}
