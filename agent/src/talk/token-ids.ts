/**
 * Token ids in a conversation. A line of an answer has those that are new: while each prompt begins with all that came before (the prompt and the answer of the
 * last line with ids), the ids of one segment follow each other through the lines. A prompt that begins differently (the template has dropped old reasoning, a
 * text was tokenised anew, the conversation was made shorter) begins a new segment with its whole prompt. Segments are never joined.
 */
import type { AnswerTokens } from "../model/index.js";
import type { Entry, TokenRecord } from "./entry.js";
import { undoneLines } from "./history.js";

/** One sequence as the model had it: what it read has no logprobs and is not trained on. */
export interface TokenSegment {
	readonly ids: readonly number[];
	/** Whether the model wrote it. */
	readonly written: readonly boolean[];
	/** One for each id, 1 where the model read it; undefined if the endpoint gave none for some answer. */
	readonly logprobs?: readonly number[];
	/** How many answers are in it. */
	readonly answers: number;
}

/** Returns what the next line has to say of the ids of its answer. */
export function tokenRecord(entries: readonly Entry[], { prompt, completion, logprobs }: AnswerTokens): TokenRecord {
	const segments = segmentsOf(entries);
	const before = segments.at(-1)?.ids ?? [];
	const goesOn = before.length > 0 && before.length < prompt.length && before.every((id, at) => id === prompt[at]);
	const segment = segments.length === 0 ? 0 : segments.length - (goesOn ? 1 : 0);
	return { segment, prompt: goesOn ? prompt.slice(before.length) : prompt, completion, ...(logprobs ? { logprobs } : {}) };
}

/** Returns the sequences of a conversation, without lines that were taken back. */
export function segmentsOf(entries: readonly Entry[]): TokenSegment[] {
	const taken = undoneLines(entries);
	const records = entries.flatMap((entry) => (entry.t === "assistant" && entry.tokens && !taken(entry.n) ? [entry.tokens] : []));
	const groups: TokenRecord[][] = [];
	for (const [at, record] of records.entries()) {
		if (at > 0 && records[at - 1]?.segment === record.segment) groups.at(-1)?.push(record);
		else groups.push([record]);
	}
	return groups.map(joined);
}

function joined(records: readonly TokenRecord[]): TokenSegment {
	const same = <T>(list: readonly unknown[], value: T): T[] => list.map(() => value);
	return {
		ids: records.flatMap(({ prompt, completion }) => [...prompt, ...completion]),
		written: records.flatMap(({ prompt, completion }) => [...same(prompt, false), ...same(completion, true)]),
		...(records.every(({ logprobs }) => logprobs) ? { logprobs: records.flatMap(({ prompt, logprobs }) => [...same(prompt, 1), ...(logprobs ?? [])]) } : {}),
		answers: records.length,
	};
}
