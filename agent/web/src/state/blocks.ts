/** Lines of a log as what is shown of them: a message, an answer with its calls and their results, a remark. */
import type { ShownCall, ShownEntry } from "../../../src/page/messages.js";

type Line<T extends ShownEntry["t"]> = Extract<ShownEntry, { t: T }>;

export interface CallBlock {
	readonly call: ShownCall;
	/** The line that it is in, and that of its result. */
	readonly n: number;
	readonly result: Line<"result"> | undefined;
}

export type Block =
	| { readonly kind: "said"; readonly n: number; readonly entry: Line<"user"> }
	| { readonly kind: "answer"; readonly n: number; readonly entry: Line<"assistant">; readonly calls: readonly CallBlock[] }
	| { readonly kind: "partial"; readonly n: number; readonly entry: Line<"partial"> }
	| {
			readonly kind: "remark";
			readonly n: number;
			readonly text: string;
			readonly tone: "quiet" | "bad";
			readonly more?: { readonly text: string; readonly n: number };
	  };

export function blocksOf(entries: readonly ShownEntry[]): Block[] {
	const results = new Map(entries.flatMap((entry) => (entry.t === "result" ? [[entry.call, entry] as const] : [])));
	return standing(entries).flatMap((entry) => blockOf(entry, results) ?? []);
}

const COUNTS: ReadonlySet<ShownEntry["t"]> = new Set(["user", "notice", "note", "assistant", "partial", "result", "stopped"]);

/** A turn is under way, or was cut short: the last message is not answered, or a call has no result. */
export function isOpen(entries: readonly ShownEntry[]): boolean {
	const last = standing(entries).findLast(({ t }) => COUNTS.has(t));
	return last !== undefined && last.t !== "stopped" && !(last.t === "assistant" && last.calls.length === 0);
}

/** Without those that were taken back. */
function standing(entries: readonly ShownEntry[]): readonly ShownEntry[] {
	const undone = entries.flatMap((entry) => (entry.t === "undone" ? [{ from: entry.from, to: entry.n }] : []));
	return undone.length === 0 ? entries : entries.filter(({ n }) => !undone.some(({ from, to }) => n >= from && n < to));
}

function blockOf(entry: ShownEntry, results: ReadonlyMap<string, Line<"result">>): Block | undefined {
	const { n } = entry;
	const remark = (text: string, more?: string): Block => ({ kind: "remark", n, text, tone: "quiet", ...(more ? { more: { text: more, n } } : {}) });
	switch (entry.t) {
		case "user":
			return { kind: "said", n, entry };
		case "assistant":
			return { kind: "answer", n, entry, calls: entry.calls.map((call) => ({ call, n, result: results.get(call.id) })) };
		case "partial":
			return { kind: "partial", n, entry };
		case "notice":
			return remark("News of a process", entry.text.text);
		case "note":
			return remark("The program told the model something", entry.text.text);
		case "summary":
			return remark(`What was said before is summarised for the model (${rough(entry.before)} to ${rough(entry.after)} tokens)`, entry.text.text);
		case "shortened":
			return remark(`Old results are sent to the model in short (${rough(entry.before)} to ${rough(entry.after)} tokens)`);
		case "undone":
			return remark("A message was taken back, with what came of it");
		case "set":
			return settings(entry) ? remark(settings(entry)) : undefined;
		case "stopped":
			// By the person: the text above says so already, or there is nothing more to say.
			return entry.why === "interrupted" ? remark("Stopped.") : { kind: "remark", n, text: entry.text, tone: "bad" };
		case "ended":
			return remark(`The conversation ended: ${entry.why}`);
		case "begun":
			return entry.from === undefined ? undefined : remark(`It goes on from conversation ${entry.from}`);
		case "result":
			return undefined; // with its call
	}
}

const rough = (tokens: number): string => (tokens < 1_000 ? String(tokens) : `${Math.round(tokens / 1_000)}k`);

const settings = ({ model, place, mode }: Line<"set">): string =>
	[model && `Model: ${model}`, place && `Place: ${place}`, mode && `A message while it works: ${mode}`].filter(Boolean).join(" · ");
