/** What is asked about a process directory, and what the remote end answers. docs/link.md, `m`. */
import type { LinkQuestion } from "./questions.js";

export interface Known {
	/** Up to where the log is known. */
	readonly offset: number;
	/** The records that matter, by name, each as it is known; "" if nothing is in it. */
	readonly records: Readonly<Record<string, string>>;
	/** Other files that matter, by name, each with the size that is known; -1 if it is not there. */
	readonly sizes?: Readonly<Record<string, number>>;
	/** How much of the log the answer may carry. */
	readonly max: number;
}

export interface WatchAnswer {
	/** All the records that were asked about, as they are now. */
	readonly records: Readonly<
		Record<string, { readonly text: string /** Milliseconds, by the clock there; undefined if no record has changed. */; readonly at: number | undefined }>
	>;
	readonly sizes: Readonly<Record<string, number>>;
	/** The segments of the log, oldest first. */
	readonly segments: readonly { readonly offset: number; readonly size: number }[];
	/** Where `bytes` starts: later than was asked for where the older part is gone. */
	readonly offset: number;
	readonly bytes: Buffer;
	/** Where the log ended when the answer was made, which is after the records were read. */
	readonly end: number;
	/** To the questions, if the remote end could answer them with it, after it had read the log. */
	readonly answers?: readonly (Buffer | undefined)[];
	/** What the remote end knows this answer by. */
	readonly id?: number;
}

export interface Watching {
	/** Also to be answered when there are news. */
	readonly questions?: readonly LinkQuestion[];
	/** An answer of the same link, to the same questions, which is all that is known. */
	readonly after?: number | undefined;
}

/** The items of the request, records first. The dot keeps spaces at the end. */
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
