/**
 * The lines of a conversation. A conversation is `conversations/ID.jsonl`: lines are appended and never changed, so any program can read it at any moment.
 * docs: agent/docs/conversations.md
 *
 * The log is valid by construction: an `assistant` line is written only when its stream has closed; after it come exactly the results of its calls, in their
 * order, and nothing else until all are there but `set`, `shown` and `failure`, which no model is sent. A message that arrives meanwhile waits in the inbox.
 */
import type { ModelCall, Reasoning, ToolShown, Usage } from "../model/index.js";

/** The sender: `person` is an id of that platform. `message` and `reply` are ids of the platform's messages. */
export interface Origin {
	readonly platform: string;
	readonly person: string;
	readonly name?: string;
	readonly message?: string;
	readonly reply?: string;
}

/** A file that came with a message, by its path in the task's place. */
export interface FileRef {
	readonly name: string;
	readonly path: string;
	readonly bytes: number;
}

/** The effect of a message on a turn that is under way. */
export type BusyMode = "steer" | "queue" | "interrupt";

/** How a result came about: the call ran; it was found after a crash; it was not made; a person or a rule refused it; nobody knows. */
export type ResultHow = "ran" | "recovered" | "skipped" | "refused" | "unknown";

/** The ids of one answer that are new in its segment (token-ids.ts). */
export interface TokenRecord {
	/** The number of the segment, from 0. */
	readonly segment: number;
	/** The tokens that the model has read since the answer before; at the beginning of a segment the whole prompt. */
	readonly prompt: readonly number[];
	readonly completion: readonly number[];
	readonly logprobs?: readonly number[];
}

export type EntryBody =
	/** `endpoint`: the name of the one that has the model; `from`: the conversation that this one goes on from. */
	| {
			readonly t: "begun";
			readonly v: 1;
			readonly id: string;
			readonly task: string;
			readonly place: string;
			readonly model: string;
			readonly endpoint?: string;
			readonly from?: string;
	  }
	/** `id` is that of its inbox line: a second line with it is not written. */
	| { readonly t: "user"; readonly id: string; readonly text: string; readonly by: Origin; readonly files?: readonly FileRef[] }
	/** A notice of the core; sent as a user message that says so. */
	| { readonly t: "notice"; readonly id: string; readonly text: string }
	| {
			readonly t: "assistant";
			readonly text: string;
			readonly reasoning?: readonly Reasoning[];
			readonly calls: readonly ModelCall[];
			readonly stop: "done" | "calls" | "length";
			readonly usage?: Usage;
			readonly model: string;
			readonly tokens?: TokenRecord;
			/** Ids of tokens were asked for, and this answer has none: why. */
			readonly noTokens?: string;
	  }
	/** Text of an answer that never became whole. */
	| { readonly t: "partial"; readonly text: string; readonly why: "interrupted" | "cut" | "length" }
	/** A word of the program to the model (an empty answer, a call that was cut): sent as a user message that says so. */
	| { readonly t: "note"; readonly text: string }
	| { readonly t: "result"; readonly call: string; readonly text: string; readonly failed: boolean; readonly process?: string; readonly how: ResultHow }
	/** Stands for everything up to line `upto`; `before` and `after` are estimated tokens of the whole. */
	| { readonly t: "summary"; readonly upto: number; readonly text: string; readonly before: number; readonly after: number }
	/** From here on, results up to line `upto` are sent shortened, with the call that reads them back. */
	| { readonly t: "shortened"; readonly upto: number; readonly before: number; readonly after: number }
	/** The last turn is taken back: lines from `from` on are not sent any more. */
	| { readonly t: "undone"; readonly from: number }
	/** `auto`: nobody has chosen the model for this conversation; it was opened with another one than before. */
	| {
			readonly t: "set";
			readonly model?: string;
			readonly endpoint?: string;
			readonly auto?: boolean;
			readonly place?: string;
			readonly title?: string;
			readonly mode?: BusyMode;
	  }
	/** The parts of every request behind it besides the messages: written in runs, for training data. */
	| { readonly t: "shown"; readonly system: string; readonly tools: readonly ToolShown[] }
	/** A call failed: for statistics. `args` is cut to 200 characters. */
	| { readonly t: "failure"; readonly turn: number; readonly tool: string; readonly args: string; readonly error: string }
	/** The turn is over without an answer, by a person or a limit: it is not gone on with until someone writes. `why` is a `TurnEnd`, `text` its words. */
	| { readonly t: "stopped"; readonly why: string; readonly text: string }
	| { readonly t: "ended"; readonly why: string };

/** `n` is the number of the line, from 0; `at` is an ISO time. */
export type Entry = EntryBody & { readonly n: number; readonly at: string };
