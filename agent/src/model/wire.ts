/**
 * The common parts of the three formats. `open.ts` makes a body of a request with one of them, checks it, sends it, feeds the events of the answer to the
 * format's reader, and asks the reader for the answer when the stream is over.
 */
import type { EndpointFlags } from "./endpoints.js";
import type { AnswerTokens, ModelRequest, Piece, Reasoning, Usage, WireFormat } from "./model.js";
import type { StreamEvent } from "./sse.js";
import type { TokenIdsWish } from "./token-ids.js";

/** How hard a model should think, where it can. Without it: as the endpoint has it. */
export type ReasoningWish = "low" | "medium" | "high";

export interface WireSetup {
	readonly model: string;
	/** Names the endpoint and the model: reasoning and call data go back only to where they came from. */
	readonly from: string;
	readonly flags: EndpointFlags;
	readonly maxTokens?: number;
	readonly reasoning?: ReasoningWish;
	/** Ids of tokens are wanted, and how. */
	readonly tokenIds?: TokenIdsWish;
}

export interface Wire {
	readonly format: WireFormat;
	/** Below the endpoint's URL. */
	readonly path: string;
	headers(key: string, flags: EndpointFlags): Readonly<Record<string, string>>;
	body(request: ModelRequest, setup: WireSetup): Readonly<Record<string, unknown>>;
	reader(setup: WireSetup): StreamReader;
}

/** Reads one stream. Both methods throw `ModelError`. */
export interface StreamReader {
	take(event: StreamEvent): readonly Piece[];
	/** `open`: not whole. `closed`: whole, but something may follow (usage). `done`: nothing follows. */
	readonly state: "open" | "closed" | "done";
	/** The text so far. */
	readonly text: string;
	/** Once it is closed. */
	answer(): RawAnswer;
}

/** An answer that closed as its format defines, before its calls get their ids. */
export interface RawAnswer {
	readonly text: string;
	readonly reasoning: readonly Reasoning[];
	readonly calls: readonly RawCall[];
	readonly length: boolean;
	readonly usage?: Usage;
	readonly model: string;
	readonly tokens?: AnswerTokens;
}

export interface RawCall {
	readonly id?: string;
	readonly name: string;
	readonly args: string;
	readonly extra?: Readonly<Record<string, unknown>>;
	/** The format says that it was cut. */
	readonly cut?: boolean;
}
