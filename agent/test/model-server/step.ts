/**
 * What the scripted model server does with one request. A step is an answer (reasoning, text, calls, in this order), a fault, or an answer that a fault
 * breaks at a place:
 *
 *     say("hello")                                   calls(["terminal", { command: "ls" }])
 *     fails(429, { headers: { "retry-after": "3" } })
 *     { ...calls(["terminal", { command: "rm -rf build" }]), fault: { kind: "cut", at: "arguments" } }
 */

export interface Step {
	readonly reasoning?: string;
	readonly text?: string;
	readonly calls?: readonly StepCall[];
	/** How the answer closes. Without it as the format has it: `calls` if there are any, else `stop`. `other` is a reason that no format knows. */
	readonly finish?: "stop" | "calls" | "length" | "filter" | "refusal" | "other";
	readonly usage?: StepUsage;
	/** The name that the answer gives to its model. Without it the one that was asked for. */
	readonly model?: string;
	readonly fault?: Fault;
	/** Waits at this place until the promise settles: a test does something meanwhile. */
	readonly pause?: { readonly at: Place; readonly until: Promise<unknown> };
	readonly wire?: WireOddities;
}

export interface StepCall {
	readonly name: string;
	/** An object is written as JSON. A string is the text of the arguments as the model wrote it, valid or not. */
	readonly args: string | Readonly<Record<string, unknown>>;
	/** Without it the server makes one. `null`: the call has none. */
	readonly id?: string | null;
	/** In place of the text of the arguments: `null`, the object itself, the whole text twice, or the text as a JSON string in a JSON string. */
	readonly odd?: "null" | "object" | "doubled" | "quoted";
}

export interface StepUsage {
	readonly input: number;
	readonly output: number;
	readonly cached?: number;
	readonly cost?: number;
}

/**
 * Where in an answer something happens: before the headers, within the first event, after what opens the stream, in the middle of the reasoning, of the text,
 * of the last call's arguments, after all of these, after what closes that call, after the word that closes the answer (and before `[DONE]`, usage or
 * `message_stop`, where the format has them).
 */
export type Place = "headers" | "first byte" | "start" | "reasoning" | "text" | "arguments" | "whole arguments" | "closed call" | "finish";

export type Fault =
	/** An answer with this status instead of a stream. `body` is sent as it is; without it the format's own error with `message`, `type` and `code`. */
	| {
			readonly kind: "status";
			readonly status: number;
			readonly headers?: Readonly<Record<string, string>>;
			readonly message?: string;
			readonly type?: string;
			readonly code?: string;
			readonly body?: string;
	  }
	/** The connection breaks (`socket`, without it), or the body ends as if all had been said (`end`). */
	| { readonly kind: "cut"; readonly at: Place; readonly how?: "socket" | "end" }
	/** The format's error event; then the body ends. */
	| { readonly kind: "error"; readonly at: Place; readonly message?: string; readonly type?: string; readonly code?: string }
	/** Sends nothing more, and keeps the connection open until the client or the server closes. */
	| { readonly kind: "stall"; readonly at: Place }
	/** Answers with one JSON document although a stream was asked for. */
	| { readonly kind: "no stream" };

/** What endpoints do differently, and a client must read all the same. */
export interface WireOddities {
	readonly crlf?: boolean;
	/** Comments and pings between events. */
	readonly comments?: boolean;
	/** Chat: no `[DONE]`. */
	readonly noDone?: boolean;
	/** Chat: calls without an index. */
	readonly noIndex?: boolean;
	/** Chat: every call has the index 0, as one vendor has it. */
	readonly sameIndex?: boolean;
	/** Chat: the name of the reasoning field. */
	readonly reasoningField?: "reasoning_content" | "reasoning" | "reasoning_text" | "reasoning_details";
	/** Milliseconds before every event. */
	readonly dripMs?: number;
	/** Characters of text or arguments in an event: 6 without it. */
	readonly chunk?: number;
	/** Bytes in a write; without it one write an event, so that borders lie in the middle of lines and characters only by chance. */
	readonly bytes?: number;
	readonly headers?: Readonly<Record<string, string>>;
}

export const say = (text: string, more: Omit<Step, "text"> = {}): Step => ({ text, ...more });

export const calls = (...list: readonly (StepCall | readonly [name: string, args: StepCall["args"]])[]): Step => ({
	calls: list.map((one) => ("name" in one ? one : { name: one[0], args: one[1] })),
});

export const fails = (status: number, more: Omit<Extract<Fault, { kind: "status" }>, "kind" | "status"> = {}): Step => ({
	fault: { kind: "status", status, ...more },
});

/** Closes properly and says nothing. */
export const empty: Step = {};
