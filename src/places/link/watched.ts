/** Questions about a process directory, and the remote end's answers. docs/link.md, `m`. */
import type { LinkQuestion } from "./questions.js";

export interface Known {
	/** How far the log is known. */
	readonly offset: number;
	/** The watched records by name, each with its known content; "" if empty. */
	readonly records: Readonly<Record<string, string>>;
	/** Other watched files by name, each with its known size; -1 if absent. */
	readonly sizes?: Readonly<Record<string, number>>;
	/** Limit on the bytes of log in the answer. */
	readonly max: number;
}

export interface WatchAnswer {
	/** All requested records in their current state. */
	readonly records: Readonly<
		Record<string, { readonly text: string /** Milliseconds, by the remote clock; undefined if no record has changed. */; readonly at: number | undefined }>
	>;
	readonly sizes: Readonly<Record<string, number>>;
	/** The segments of the log, oldest first. */
	readonly segments: readonly { readonly offset: number; readonly size: number }[];
	/** Where `bytes` starts: later than requested if the older part is gone. */
	readonly offset: number;
	readonly bytes: Buffer;
	/** The end of the log when the answer was made, which is after the records were read. */
	readonly end: number;
	/** To the questions, if the remote end could answer them too, after it had read the log. */
	readonly answers?: readonly (Buffer | undefined)[];
	/** The remote end's id of this answer. */
	readonly id?: number;
}

export interface Watching {
	/** Questions to answer together with the news. */
	readonly questions?: readonly LinkQuestion[];
	/** An earlier answer of the same link to the same questions: it is the known state. */
	readonly after?: number | undefined;
}

/** Returns the items of the request, records first. The dot protects trailing spaces. */
export function watchItems(known: Known): string {
	const records = Object.entries(known.records).map(([name, text]) => `r${name} ${text}`);
	const sizes = Object.entries(known.sizes ?? {}).map(([name, size]) => `s${name} ${size}`);
	return [...records, ...sizes, "."].join("\t");
}

export function parseNews(head: string, bytes: Buffer): WatchAnswer {
	const records: Record<string, { text: string; at: number | undefined }> = {};
	const sizes: Record<string, number> = {};
	const segments: { offset: number; size: number }[] = [];
	let offset = 0;
	for (const line of head.split("\n")) {
		const [kind, first = "", second = "", ...rest] = line.split(" ");
		if (kind === "r") records[first] = { text: rest.join(" "), at: Number(second) > 0 ? Number(second) * 1000 : undefined };
		else if (kind === "s") sizes[first] = Number(second);
		else if (kind === "o") segments.push({ offset: Number(first), size: Number(second) });
		else if (kind === "l") offset = Number(first);
	}
	const last = segments.at(-1);
	return { records, sizes, segments, offset, bytes, end: last ? last.offset + last.size : 0 };
}
