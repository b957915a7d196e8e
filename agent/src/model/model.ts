/**
 * The seam to a model. `talk/history.ts` makes `Message`s of a conversation's log; each wire format (`chat.ts`, `responses.ts`, `anthropic.ts`)
 * makes the body of a request of them, checks it (`check.ts`), and reads the stream of the answer.
 */

/** A tool call as the model wrote it. `args` is the exact text; it is parsed when the call runs, and never repaired. */
export interface ModelCall {
	readonly id: string;
	readonly name: string;
	readonly args: string;
	readonly wire?: CallWire;
}

/** The endpoint's data beside a call, which it wants back. `from` names that endpoint and model: no other is sent it. Kept with the call, as it is. */
export interface CallWire {
	readonly from: string;
	/** Its own id of the call, where that is too long or too odd for anyone else. */
	readonly id?: string;
	readonly extra?: Readonly<Record<string, unknown>>;
}

/** A block of reasoning, kept so that it can be sent back unchanged to the model that wrote it. `data` is whatever its wire format needs for that. */
export interface Reasoning {
	readonly text: string;
	readonly format: WireFormat;
	/** The endpoint and model that wrote it: no other is sent it. Without it: the `model` of its message. */
	readonly from?: string;
	readonly data?: unknown;
}

export type WireFormat = "chat" | "responses" | "anthropic";

/** A message to a model. Calls and results alternate as the log has them: after an assistant message with calls come exactly its results, in order. */
export type Message =
	| { readonly role: "user"; readonly text: string }
	| {
			readonly role: "assistant";
			readonly text: string;
			readonly reasoning: readonly Reasoning[];
			readonly calls: readonly ModelCall[];
			readonly model: string;
	  }
	| { readonly role: "result"; readonly call: string; readonly text: string; readonly failed: boolean };

/** A tool as a model is shown it. `schema` is JSON Schema of its arguments. */
export interface ToolShown {
	readonly name: string;
	readonly description: string;
	readonly schema: Readonly<Record<string, unknown>>;
}

export interface ModelRequest {
	readonly system: string;
	readonly messages: readonly Message[];
	readonly tools: readonly ToolShown[];
	/** Without it the endpoint's default, or the largest that the model takes where the format demands a number. */
	readonly maxTokens?: number;
	/** Ids of calls that are not in `messages` any more and still must not come again: those before a summary. */
	readonly usedIds?: ReadonlySet<string>;
}

export interface Usage {
	/** All tokens of the request, cached ones included. */
	readonly input: number;
	readonly output: number;
	readonly cached?: number;
	/** In dollars, where the endpoint says so. */
	readonly cost?: number;
	/** The endpoint did not say; it is counted from the characters. */
	readonly estimated?: boolean;
}

/** A whole answer: its stream closed as the format defines. Nothing else may be acted on. */
export interface Answer {
	readonly text: string;
	readonly reasoning: readonly Reasoning[];
	/** Whole calls only, each with an id that this conversation has not used before and a name. Of a call that `length` cut nothing is here. */
	readonly calls: readonly ModelCall[];
	readonly stop: "done" | "calls" | "length";
	/** With `length`: a call was cut, and is not in `calls`. */
	readonly cutCall?: boolean;
	readonly usage?: Usage;
	/** As the endpoint names it in its answer. */
	readonly model: string;
	/** The ids of its tokens, where they were asked for and can be used. */
	readonly tokens?: AnswerTokens;
	/** They were asked for and cannot be used: why. */
	readonly noTokens?: string;
}

/** Ids of tokens as the endpoint counted them: nothing here is made from text. */
export interface AnswerTokens {
	/** The ids of the whole request. */
	readonly prompt: readonly number[];
	readonly completion: readonly number[];
	/** One for each id of the completion, where the endpoint gives them. */
	readonly logprobs?: readonly number[];
}

/** A part of an answer to show while the answer arrives. None may be acted on. */
export type Piece =
	| { readonly type: "text"; readonly text: string }
	| { readonly type: "reasoning"; readonly text: string }
	| { readonly type: "call"; readonly name: string }
	/** Before another try: why the last one failed, and how long until the next. What the last one has shown is void. */
	| { readonly type: "retry"; readonly why: string; readonly kind: ModelFailure; readonly waitMs: number; readonly attempt: number };

export interface Model {
	readonly name: string;
	readonly format: WireFormat;
	/** The context window in tokens, and where that number comes from. */
	readonly window: { readonly tokens: number; readonly from: "config" | "endpoint" | "default" };
	/** Yields what arrives and returns the whole answer, after retries. Throws `ModelError`; when `signal` aborts, the signal's reason. */
	ask(request: ModelRequest, signal: AbortSignal): AsyncGenerator<Piece, Answer>;
}

/**
 * Failures by their remedy: `again` (5xx, overloaded, a connection that failed: try again), `later` (rate limit), `too_long` (context window), `key` (not
 * authorised), `refused` (by a filter), `cut` (the stream ended before the answer did), `wrong` (the request or the answer is not what the format says).
 */
export type ModelFailure = "again" | "later" | "too_long" | "key" | "refused" | "cut" | "wrong";

export interface ModelErrorDetails {
	readonly status?: number;
	/** As long as the endpoint wants to be left alone. */
	readonly retryAfterMs?: number;
	/** The model's text before it failed. It may be kept as text; nothing else of that answer may. */
	readonly text?: string;
	/** The answer had begun. */
	readonly inStream?: boolean;
	readonly cause?: unknown;
}

export class ModelError extends Error {
	override readonly name = "ModelError";
	constructor(
		readonly kind: ModelFailure,
		message: string,
		readonly details: ModelErrorDetails = {},
	) {
		super(message, { cause: details.cause });
	}
}
