/** Entries of a log as the page shows them: long texts are cut for the way, and what no person is shown is left out. */
import type { Entry } from "../talk/index.js";
import { type CutText, RESULT_CHARS, type ShownEntry, TEXT_CHARS } from "./messages.js";

/** Undefined: there is nothing to show. `whole`: nothing is cut. */
export function shownEntry(entry: Entry, { whole = false }: { readonly whole?: boolean } = {}): ShownEntry | undefined {
	const cut = (text: string, most = TEXT_CHARS): CutText => (whole ? { text } : cutText(text, most));
	const { n, at } = entry;
	switch (entry.t) {
		case "begun":
			return { n, at, t: "begun", place: entry.place, model: entry.model, ...(entry.from === undefined ? {} : { from: entry.from }) };
		case "user":
			return { n, at, t: "user", id: entry.id, text: cut(entry.text), by: entry.by, files: (entry.files ?? []).map(({ name, bytes }) => ({ name, bytes })) };
		case "notice":
		case "note":
			return { n, at, t: entry.t, text: cut(entry.text) };
		case "assistant":
			return {
				...{ n, at, t: "assistant" as const, text: cut(entry.text), model: entry.model },
				thought: cut(
					(entry.reasoning ?? [])
						.map(({ text }) => text)
						.join("\n\n")
						.trim(),
					RESULT_CHARS,
				),
				calls: entry.calls.map(({ id, name, args }) => ({ id, name, args: cut(args, RESULT_CHARS) })),
				...(entry.usage ? { usage: entry.usage } : {}),
			};
		case "partial":
			return { n, at, t: "partial", text: cut(entry.text), why: entry.why };
		case "result": {
			const { call, failed, how, process } = entry;
			return { n, at, t: "result", call, text: cut(entry.text, RESULT_CHARS), failed, how, ...(process === undefined ? {} : { process }) };
		}
		case "summary":
			return { n, at, t: "summary", text: cut(entry.text, RESULT_CHARS), before: entry.before, after: entry.after };
		case "shortened":
			return { n, at, t: "shortened", before: entry.before, after: entry.after };
		case "undone":
			return { n, at, t: "undone", from: entry.from };
		case "set": {
			const { model, place, title, mode } = entry;
			return { n, at, t: "set", ...defined({ model, place, title, mode }) };
		}
		case "stopped":
			return { n, at, t: "stopped", why: entry.why, text: entry.text };
		case "ended":
			return { n, at, t: "ended", why: entry.why };
		case "failure":
			return undefined; // the result says it too
	}
}

export function cutText(text: string, most: number): CutText {
	return text.length <= most ? { text } : { text: text.slice(0, most).replace(/[\ud800-\udbff]$/, ""), chars: text.length };
}

const defined = <T extends object>(object: T): T => Object.fromEntries(Object.entries(object).filter(([, value]) => value !== undefined)) as T;
