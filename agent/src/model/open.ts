/**
 * A model at an endpoint. One `ask`: body → check → request → events → pieces → answer, again where `retry.ts` says so. What the endpoint has taught
 * (`adapt.ts`) is kept as long as the object lives.
 */
import { adapted } from "./adapt.js";
import { closeAnswer } from "./answer.js";
import { anthropicWire } from "./anthropic.js";
import { chatWire } from "./chat.js";
import { checkBody } from "./check.js";
import { baseUrl, below, type EndpointSettings, flagsOf } from "./endpoints.js";
import { idsFrom, usedIds } from "./ids.js";
import { toBody } from "./json.js";
import { maskedAnswer, PieceMask } from "./mask.js";
import { type Answer, type Model, ModelError, type ModelRequest, type Piece, type Usage, type WireFormat } from "./model.js";
import { notAStream, wholeEvent } from "./not-a-stream.js";
import { type Connection, readKey, send, withoutKey } from "./request.js";
import { responsesWire } from "./responses.js";
import { type RetryClock, retryClock, withRetries } from "./retry.js";
import { streamEvents } from "./sse.js";
import { type TokenIdsWish, tokensProblem } from "./token-ids.js";
import { charsOf, estimateTokens, tokensOf, windowOf } from "./window.js";
import type { ReasoningWish, Wire, WireSetup } from "./wire.js";

export interface ModelOptions {
	readonly endpoint: EndpointSettings;
	/** As the endpoint names it. */
	readonly model: string;
	/** Asked for before every request. Without it, or with an empty one, the request has none. */
	readonly key?: () => Promise<string>;
	/** From the settings; wins over what the endpoint says. */
	readonly window?: number;
	/** From the endpoint's list of models (`list.ts`). */
	readonly listed?: { readonly window?: number; readonly maxTokens?: number; readonly prices?: Prices };
	readonly maxTokens?: number;
	readonly reasoning?: ReasoningWish;
	readonly headers?: Readonly<Record<string, string>>;
	/** Ids of tokens are wanted; default: as the endpoint's settings say. */
	readonly tokenIds?: TokenIdsWish;
}

/** Dollars a token. */
export interface Prices {
	readonly input: number;
	readonly output: number;
	readonly cached?: number;
}

export interface ModelParts {
	readonly fetch?: typeof fetch;
	readonly clock?: Partial<RetryClock>;
	/** Without a byte for so long a stream counts as cut. 120 s without it. */
	readonly stallMs?: number;
	/** Is told, once, what a person should know. */
	readonly warn?: (text: string) => void;
}

export const WIRES: Readonly<Record<WireFormat, Wire>> = { chat: chatWire, responses: responsesWire, anthropic: anthropicWire };

const STALL_MS = 120_000;
/** The wait for the usage, which may follow a whole answer. */
const AFTER_MS = 5_000;

export function openModel(options: ModelOptions, parts: ModelParts = {}): EndpointModel {
	return new EndpointModel(options, parts);
}

export class EndpointModel implements Model {
	readonly name: string;
	readonly format: WireFormat;
	readonly window: Model["window"];
	readonly #options: ModelOptions;
	readonly #wire: Wire;
	readonly #url: string;
	readonly #clock: RetryClock;
	readonly #connection: Connection;
	readonly #stallMs: number;
	readonly #warn: (text: string) => void;
	#warned = false;
	#setup: WireSetup;

	constructor(options: ModelOptions, { fetch: fetchWith = fetch, clock = {}, stallMs, warn = () => {} }: ModelParts) {
		const { endpoint, model } = options;
		const one = endpoint.models?.[model];
		const base = baseUrl(endpoint.url);
		this.name = model;
		this.format = endpoint.format;
		this.window = windowOf(options.window ?? one?.window ?? endpoint.window, options.listed?.window);
		this.#options = options;
		this.#wire = WIRES[endpoint.format];
		this.#url = below(base, this.#wire.path);
		this.#clock = { ...retryClock, ...clock };
		this.#connection = { settings: endpoint, headers: options.headers, fetch: fetchWith, now: () => this.#clock.now() };
		this.#stallMs = stallMs ?? (endpoint.idleSeconds === undefined ? STALL_MS : endpoint.idleSeconds * 1000);
		this.#warn = warn;
		const tokenIds = options.tokenIds ?? endpoint.tokenIds;
		this.#setup = {
			model,
			from: `${endpoint.format} ${base.replace(/^https?:\/\//, "")} ${model}`,
			flags: flagsOf(endpoint),
			reasoning: options.reasoning,
			...(tokenIds === undefined ? {} : { tokenIds }),
			maxTokens: options.maxTokens ?? one?.maxTokens ?? endpoint.maxTokens ?? (endpoint.format === "anthropic" ? options.listed?.maxTokens : undefined),
		};
	}

	/** How the endpoint wants to be asked, after what it has taught so far. */
	get setup(): WireSetup {
		return this.#setup;
	}

	async *ask(request: ModelRequest, signal: AbortSignal): AsyncGenerator<Piece, Answer> {
		signal.throwIfAborted();
		return yield* withRetries(() => this.once(request, signal), this.#clock, signal);
	}

	/** One try; more only where the endpoint says which field it does not take. */
	async *once(request: ModelRequest, signal: AbortSignal): AsyncGenerator<Piece, Answer> {
		for (;;) {
			const key = await readKey(this.#options.key ?? (async () => ""));
			// `fetch` listens to a signal for longer than the request lasts, and a turn has one signal for many.
			const own = new AbortController();
			const stop = () => own.abort(signal.reason);
			signal.addEventListener("abort", stop, { once: true });
			try {
				signal.throwIfAborted();
				return yield* this.#try(request, key, own.signal);
			} catch (error) {
				signal.throwIfAborted();
				const other = error instanceof ModelError ? adapted(this.#setup, error) : undefined;
				if (!other) throw withoutKey(error, key);
				this.#setup = other;
			} finally {
				signal.removeEventListener("abort", stop);
			}
		}
	}

	async *#try(request: ModelRequest, key: string, signal: AbortSignal): AsyncGenerator<Piece, Answer> {
		const setup = this.#setup;
		const body = this.#wire.body(request, setup);
		const used = usedIds(request.messages, request.usedIds);
		checkBody(this.format, body, { bridge: setup.flags.bridge, ownIds: idsFrom(request.messages, setup.from) });
		const long = estimateTokens(request) > this.window.tokens / 2;
		const response = await send(this.#connection, { url: this.#url, headers: this.#wire.headers(key, setup.flags), body: toBody(body), long }, signal);
		const reader = this.#wire.reader(setup);
		const whole = this.format === "chat" && setup.tokenIds === "whole";
		const problem = whole ? undefined : await notAStream(response, this.#url);
		if (problem) throw problem;

		const mask = new PieceMask(key);
		const stallMs = () => (reader.state === "open" ? this.#stallMs : Math.min(AFTER_MS, this.#stallMs));
		try {
			const events = whole ? wholeEvent(response) : streamEvents(response.body as ReadableStream<Uint8Array>, { stallMs });
			for await (const event of events) {
				for (const piece of reader.take(event)) yield* mask.take(piece);
				if (reader.state === "done") break;
			}
		} catch (error) {
			signal.throwIfAborted();
			const broke = error instanceof ModelError && error.kind === "cut";
			// A connection that breaks after the answer has closed takes nothing away from it.
			if (broke && reader.state === "open") throw new ModelError("cut", error.message, { ...error.details, text: reader.text });
			if (!broke) throw error;
		}
		yield* mask.rest();
		if (reader.state === "open") throw new ModelError("cut", "the stream ended before the answer did", { text: reader.text });
		const answer = closeAnswer(reader.answer(), setup.from, used);
		const told = { ...answer, usage: this.#counted(answer, request) };
		const masked = maskedAnswer(told, key);
		return setup.tokenIds === undefined ? masked : this.#withTokens(masked, masked === told);
	}

	/** Ids that cannot be used are taken out, and the first time that is said. The key in an answer is also in its ids: an answer that was masked has none. */
	#withTokens({ tokens, ...answer }: Answer, unmasked: boolean): Answer {
		const why = unmasked ? tokensProblem(tokens, answer.usage) : "the answer had the key in it";
		if (why === undefined && tokens) return { ...answer, tokens };
		if (!this.#warned)
			this.#warn(
				`${this.name} was asked for token ids, but an answer has none that can be used (${why}); the text is kept, and the other answers are looked at too`,
			);
		this.#warned = true;
		return { ...answer, noTokens: why ?? "" };
	}

	/** Tokens are always counted; money where the endpoint tells it, or its prices. */
	#counted(answer: Answer, request: ModelRequest): Usage {
		const output = tokensOf(charsOf({ role: "assistant", ...answer }));
		const told = answer.usage && answer.usage.input > 0 ? answer.usage : undefined; // some say 0 when they have not counted
		const usage = told ?? { input: estimateTokens(request), output, estimated: true };
		const prices = this.#options.listed?.prices;
		if (usage.cost !== undefined || !prices || usage.estimated) return usage;
		const cached = usage.cached ?? 0;
		return { ...usage, cost: (usage.input - cached) * prices.input + cached * (prices.cached ?? prices.input) + usage.output * prices.output };
	}
}
