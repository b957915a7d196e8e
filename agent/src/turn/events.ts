/** A conversation's events for the doors (chat, `-q`, the page, a gateway), in order. */
import type { ModelFailure, Usage } from "../model/index.js";
import type { EntryBody, ResultHow } from "../talk/index.js";
import type { UserQuestion } from "../tools/index.js";

export type TurnEvent =
	/** A line was appended to the log. */
	| { readonly type: "entry"; readonly n: number; readonly entry: EntryBody }
	/** A request was sent: nothing is to be shown until the first piece. */
	| { readonly type: "asking"; readonly model: string; readonly step: number }
	/** Pieces of an answer that is arriving; a `retry` voids them. */
	| { readonly type: "text"; readonly text: string }
	| { readonly type: "reasoning"; readonly text: string }
	| { readonly type: "retry"; readonly kind: ModelFailure; readonly why: string; readonly waitMs: number; readonly attempt: number }
	| { readonly type: "call"; readonly id: string; readonly name: string; readonly args: string }
	| { readonly type: "progress"; readonly id: string; readonly text: string }
	| {
			readonly type: "result";
			readonly id: string;
			readonly name: string;
			readonly text: string;
			readonly failed: boolean;
			readonly process?: string;
			readonly how: ResultHow;
	  }
	/** A question of the model: `conversation.answer(id, text)` answers it. `answered` also if it was answered elsewhere, or is void. */
	| ({ readonly type: "question" } & UserQuestion)
	| { readonly type: "answered"; readonly id: string }
	/** Messages that wait in the inbox, after one came or went. */
	| { readonly type: "waiting"; readonly texts: readonly string[] }
	/** A summary is being written; `done`: no longer, whatever came of it. */
	| { readonly type: "compacting"; readonly done: boolean }
	| { readonly type: "compacted"; readonly before: number; readonly after: number }
	/** A turn that was cut short goes on: so many calls had no result. */
	| { readonly type: "resumed"; readonly calls: number }
	/** For the person alone: what could not be done and does not end the turn. */
	| { readonly type: "warning"; readonly text: string }
	| { readonly type: "end"; readonly why: TurnEnd; readonly text: string; readonly usage: Usage };

/**
 * `answered`: the model has nothing more to do. Others say in `text` what happened and what to do. `approval`: a person must allow a call first; it is made
 * again when the conversation is opened or `resume` is called. `crashes`: the same step was cut short twice. `left`: the program was closed; the turn goes on
 * when the conversation is opened again.
 */
export type TurnEnd = "answered" | "interrupted" | "steps" | "loop" | "empty" | "model" | "too_long" | "approval" | "disk" | "crashes" | "left" | "error";
