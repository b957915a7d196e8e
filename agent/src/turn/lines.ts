/** Reads the conversation's present state from the lines of its log. */
import type { BusyMode, Entry, Log } from "../talk/index.js";

interface Settings {
	readonly title: string;
	readonly place: string;
	readonly model: string;
	readonly endpoint: string;
	readonly mode: BusyMode;
}

const FROM_THE_BEGINNING: readonly string[] = ["place", "model", "endpoint"] satisfies (keyof Settings)[];

/** The last value that was set. */
export function lastSaid<K extends keyof Settings>(entries: readonly Entry[], name: K): Settings[K] | undefined {
	for (const entry of [...entries].reverse()) {
		if (entry.t === "set" && entry[name] !== undefined) return entry[name] as Settings[K];
		if (entry.t === "begun" && FROM_THE_BEGINNING.includes(name)) return entry[name as "place" | "model" | "endpoint"] as Settings[K] | undefined;
	}
	return undefined;
}

/** The endpoint as a line names it. */
export const atEndpoint = ({ endpoint }: { readonly endpoint?: string }): { readonly endpoint?: string } => (endpoint === undefined ? {} : { endpoint });

/** A turn was begun and is not over: calls are open, or the last message has no answer and no one has stopped the turn. */
export function isUnanswered(log: Log): boolean {
	if (log.openCalls.length > 0) return true;
	if (!log.answerable) return false;
	const undone = log.entries.flatMap((entry) => (entry.t === "undone" ? [{ from: entry.from, to: entry.n }] : []));
	const counts = log.entries.filter(({ t, n }) => (MESSAGES.has(t) || t === "stopped") && !undone.some(({ from, to }) => n >= from && n < to));
	const last = counts.at(-1)?.t;
	return last !== undefined && last !== "stopped";
}

const MESSAGES = new Set<Entry["t"]>(["user", "notice", "assistant", "partial", "note", "result"]);
