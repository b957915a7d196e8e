/** Chooses where a conversation is cut to make it shorter. */
import type { Message } from "../model/index.js";
import type { Entry } from "./entry.js";
import { type SentLine, sentLines } from "./history.js";
import { shortResult } from "./recall.js";
import { roughTokens } from "./tokens.js";

/**
 * Returns the last line whose result is to be sent in short, so that about `keep` tokens of the newest results stay whole; undefined: none. Results that the
 * model has not answered yet stay whole in any case: it has just asked for them.
 */
export function chooseShortened(entries: readonly Entry[], keep: number): number | undefined {
	const already = entries.findLast((entry) => entry.t === "shortened")?.upto ?? -1;
	const lines = sentLines(entries);
	const answered = lines.findLast(({ entry }) => entry.t === "assistant")?.entry.n ?? 0;
	const results = lines.filter(({ entry }) => entry.t === "result" && entry.n > already && entry.n < answered);
	let kept = roughTokens(lines.flatMap(({ entry, messages }) => (entry.t === "result" && entry.n > answered ? messages : [])));
	const upto = results.findLast(({ messages }) => {
		kept += roughTokens(messages);
		return kept > keep;
	})?.entry.n;
	const gains = results.some(({ entry }) => entry.t === "result" && entry.n <= (upto ?? -1) && shortResult(entry).length < entry.text.length);
	return gains ? upto : undefined;
}

/**
 * Returns the last line that a summary is to stand for, so that about `keep` tokens stay; undefined: there is none. What stays begins with a message of a
 * person; only if the last turn alone is longer than that, with an answer in the middle of it, and never between a call and its result.
 */
export function chooseBoundary(entries: readonly Entry[], keep: number, measure: (messages: readonly Message[]) => number): number | undefined {
	const lines = sentLines(entries);
	const tails = tailTokens(lines, measure);
	const starts = (kind: Entry["t"]) => lines.flatMap(({ entry }, at) => (entry.t === kind && at > 0 ? [{ n: entry.n, tail: tails[at] ?? 0 }] : [])); // at 0 a summary would stand for nothing
	const [turns, answers] = [starts("user"), starts("assistant")];
	const fits = ({ tail }: { readonly tail: number }) => tail <= keep;
	const last = Math.max(turns.at(-1)?.n ?? 0, answers.at(-1)?.n ?? 0);
	const first = (turns.find(fits) ?? answers.find(fits))?.n ?? last;
	return first > 0 ? first - 1 : undefined;
}

/** By line: the tokens of it and of all behind it. */
function tailTokens(lines: readonly SentLine[], measure: (messages: readonly Message[]) => number): number[] {
	const tails: number[] = [];
	let sum = 0;
	for (let at = lines.length - 1; at >= 0; at--) {
		sum += measure(lines[at]?.messages ?? []);
		tails[at] = sum;
	}
	return tails;
}
