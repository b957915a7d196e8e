/**
 * Makes room in a conversation that grows out of the model's window. First old results are sent in short, with the call that reads them back: that costs
 * nothing and loses nothing. If it is not enough, the model summarises what is old, once. A summary that gains less than a fifth is thrown away and not tried
 * again until the conversation has grown: endless compaction is worse than a clear end. Until the summary is whole, nothing has changed.
 */
import type { AgentConfig } from "../base/index.js";
import { AgentError } from "../base/index.js";
import type { Message, Model } from "../model/index.js";
import { chooseBoundary, chooseShortened } from "./boundary.js";
import type { Entry } from "./entry.js";
import { history } from "./history.js";
import type { Log } from "./log.js";
import { SUMMARY_SYSTEM, summaryRequest, summaryWith } from "./summary.js";
import { roughTokens } from "./tokens.js";

export interface CompactOptions {
	/** Writes the summary. */
	readonly model: Model;
	/** Tokens that the conversation's model takes. */
	readonly window: number;
	/** Tokens of a request besides the messages: system prompt, tools. */
	readonly overhead?: number;
	readonly settings: AgentConfig["compact"];
	/** Running processes, open questions, changed files: always in view after a summary. */
	readonly digest: () => string | Promise<string>;
	readonly signal: AbortSignal;
	/** Also if there is room: the provider said that it is too long, or the person asks for it. */
	readonly force?: boolean;
	/** Default: characters / 3.5. */
	readonly measure?: (messages: readonly Message[]) => number;
}

/** `before` and `after` are estimated tokens of a request; `fits`: it is below the limit. */
export type Compacted =
	| { readonly did: "nothing"; readonly before: number; readonly fits: boolean; readonly why: string }
	| { readonly did: "shortened" | "summarised"; readonly before: number; readonly after: number; readonly fits: boolean };

const LEAST_GAIN = 0.2;
/** Shortening alone is enough if it leaves so much of the limit unused that it is not needed again in the next step. */
const ROOMY = 0.8;
/** The same where the estimate was wrong, since the provider said that it is too long: if it leaves so much of what there was. */
const HALF = 0.5;

/** How many tokens a request may have before the conversation is made shorter: the rest is for the answer. */
export const compactAbove = (window: number): number => window - Math.min(Math.max(16_384, Math.ceil(window * 0.15)), Math.floor(window / 2));

/** Compactions that gained too little: the size at which they were tried. */
const vain = new WeakMap<Log, number>();

/** Never rejects for anything that the model or its endpoint does; the reason is in `why`. Rejects if the log cannot be written, or has open calls. */
export async function compact(log: Log, options: CompactOptions): Promise<Compacted> {
	if (log.openCalls.length > 0) throw new AgentError("SEQUENCE", "a conversation cannot be made shorter between a call and its result");
	const { window, overhead = 0, measure = roughTokens, settings, force = false } = options;
	const limit = compactAbove(window);
	const sizeOf = (entries: readonly Entry[]) => overhead + measure(history(entries));
	const before = sizeOf(log.entries);
	const nothing = (why: string): Compacted => ({ did: "nothing", before, fits: before <= limit, why });
	if (before <= limit && !force) return nothing("there is room");
	const tried = vain.get(log);
	if (tried !== undefined && before < tried * (1 + LEAST_GAIN)) return nothing("the last try gained too little, and the conversation has hardly grown since");

	const upto = chooseShortened(log.entries, Math.min(settings.keepResults, Math.floor(window * 0.3)));
	const short = upto === undefined ? undefined : planShortened(log.entries, upto, sizeOf, before);
	const shorten = async (): Promise<Compacted | undefined> => {
		if (!short) return undefined;
		await log.append({ t: "shortened", upto: short.upto, before, after: short.after });
		return { did: "shortened", before, after: short.after, fits: short.after <= limit };
	};
	if (short && short.after <= (force ? before * HALF : limit * ROOMY) && !isLittle(before, short.after)) return (await shorten()) ?? nothing("");

	const made = await summarise(log, options, before, sizeOf);
	if ("text" in made) {
		await log.append({ t: "summary", upto: made.upto, text: made.text, before, after: made.after });
		return { did: "summarised", before, after: made.after, fits: made.after <= limit };
	}
	if (made.why === "interrupted") return nothing(made.why);
	if (made.vain) vain.set(log, before);
	return (await shorten()) ?? nothing(made.why);
}

const isLittle = (before: number, after: number): boolean => before - after < before * LEAST_GAIN;

/** Undefined: it saves nothing. */
function planShortened(entries: readonly Entry[], upto: number, sizeOf: (entries: readonly Entry[]) => number, before: number) {
	const after = sizeOf([...entries, { t: "shortened", upto, before, after: 0, n: entries.length, at: "" }]);
	return after < before ? { upto, after } : undefined;
}

type Made = { readonly upto: number; readonly text: string; readonly after: number } | { readonly why: string; readonly vain?: boolean };

async function summarise(log: Log, options: CompactOptions, before: number, sizeOf: (entries: readonly Entry[]) => number): Promise<Made> {
	const { window, settings, measure = roughTokens, model, signal, force = false } = options;
	const entries = log.entries.slice();
	const keep = Math.min(settings.keepMessages, Math.floor(window * 0.25), force ? Math.floor(before * 0.25) : window);
	const upto = chooseBoundary(entries, keep, measure);
	if (upto === undefined) return { why: "there is nothing in it that a summary could stand for", vain: true };
	const tokens = Math.min(settings.summary, Math.floor(window / 8));
	const deadline = AbortSignal.timeout(settings.seconds * 1_000);
	try {
		const text = await ask(model, summaryRequest(entries, upto, { window, tokens }), tokens, AbortSignal.any([signal, deadline]));
		if (text.trim() === "") return { why: "the model's summary was empty", vain: true };
		const whole = summaryWith(text, entries, upto, await options.digest());
		const after = sizeOf([...entries, { t: "summary", upto, text: whole, before, after: 0, n: entries.length, at: "" }]);
		if (isLittle(before, after)) return { why: `a summary would gain too little (from ${before} to ${after} tokens)`, vain: true };
		return { upto, text: whole, after };
	} catch (error) {
		if (signal.aborted) return { why: "interrupted" };
		if (deadline.aborted) return { why: `the summary was not done within ${settings.seconds} s`, vain: true };
		if (error instanceof AgentError) throw error;
		return { why: `the summary failed: ${error instanceof Error ? error.message : String(error)}`, vain: true };
	}
}

/** Also a model that does not heed the signal is waited for no longer than that. */
async function ask(model: Model, text: string, maxTokens: number, signal: AbortSignal): Promise<string> {
	const pieces = model.ask({ system: SUMMARY_SYSTEM, messages: [{ role: "user", text }], tools: [], maxTokens }, signal);
	const aborted = new Promise<never>((_, reject) => signal.addEventListener("abort", () => reject(signal.reason), { once: true }));
	aborted.catch(() => {}); // nobody may be waiting for it any more
	for (;;) {
		signal.throwIfAborted();
		const { done, value } = await Promise.race([pieces.next(), aborted]);
		if (done) return value.text;
	}
}
