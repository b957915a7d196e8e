/** A model at the scripted server, a clock that stands still, and what came of asking. */
import {
	type Answer,
	type EndpointSettings,
	type Message,
	ModelError,
	type ModelOptions,
	type ModelParts,
	type ModelRequest,
	openModel,
	type Piece,
	type WireFormat,
} from "../../src/model/index.js";

export const FORMATS = ["chat", "responses", "anthropic"] as const satisfies readonly WireFormat[];
export const KEY = "sk-planted-6f1c0d9b7a2e4835";

export const TERMINAL = {
	name: "terminal",
	description: "Runs a command.",
	schema: { type: "object", properties: { command: { type: "string" } }, required: ["command"] },
} as const;

export interface Asked {
	readonly pieces: readonly Piece[];
	readonly answer?: Answer;
	readonly error?: ModelError;
	/** Waits before retries, in order. */
	readonly waits: readonly number[];
}

export interface AskOptions extends Partial<Omit<ModelOptions, "endpoint">>, Omit<ModelParts, "clock"> {
	readonly endpoint?: Partial<EndpointSettings>;
	readonly request?: Partial<ModelRequest>;
	/** Of jitter: 0 to 1. */
	readonly random?: number;
	readonly now?: number;
	readonly signal?: AbortSignal;
}

export function modelAt(url: string, format: WireFormat, options: AskOptions = {}, waits: number[] = []) {
	const { endpoint, request: _, random = 0, now, signal: __, fetch, stallMs, ...rest } = options;
	const clock = {
		random: () => random,
		sleep: async (ms: number, signal: AbortSignal) => {
			waits.push(ms);
			signal.throwIfAborted();
		},
		...(now === undefined ? {} : { now: () => now }),
	};
	return openModel({ model: "m", key: async () => KEY, ...rest, endpoint: { url, format, ...endpoint } }, { fetch, stallMs, clock });
}

export async function askAt(url: string, format: WireFormat, options: AskOptions = {}): Promise<Asked> {
	const waits: number[] = [];
	const model = modelAt(url, format, options, waits);
	return { ...(await collect(model.ask(requestOf(options.request), options.signal ?? new AbortController().signal))), waits };
}

export const requestOf = (more: Partial<ModelRequest> = {}): ModelRequest => ({ system: "Be brief.", messages: [user("Go on.")], tools: [TERMINAL], ...more });
export const user = (text: string): Message => ({ role: "user", text });
export const result = (call: string, text: string): Message => ({ role: "result", call, text, failed: false });
export const assistant = (answer: Answer): Message => ({
	role: "assistant",
	text: answer.text,
	reasoning: answer.reasoning,
	calls: answer.calls,
	model: answer.model,
});

export async function collect(run: AsyncGenerator<Piece, Answer>): Promise<Omit<Asked, "waits">> {
	const pieces: Piece[] = [];
	try {
		for (;;) {
			const next = await run.next();
			if (next.done) return { pieces, answer: next.value };
			pieces.push(next.value);
		}
	} catch (error) {
		if (error instanceof ModelError) return { pieces, error };
		throw error;
	}
}

/** What a person has seen when it was over: a retry voids what came before it. */
export function shown(pieces: readonly Piece[], type: "text" | "reasoning" = "text"): string {
	const from = pieces.findLastIndex((piece) => piece.type === "retry") + 1;
	return pieces
		.slice(from)
		.map((piece) => (piece.type === type ? piece.text : ""))
		.join("");
}

/** One event stream, cut into chunks at the given places, as `fetch` would give it. */
export function streamOf(body: Uint8Array, borders: readonly number[] = [], headers: Readonly<Record<string, string>> = {}): typeof fetch {
	return async () => {
		const cuts = [0, ...borders, body.byteLength];
		const chunks = cuts.slice(1).map((to, at) => body.subarray(cuts[at], to));
		return new Response(
			new ReadableStream({
				pull(controller) {
					const chunk = chunks.shift();
					if (chunk) controller.enqueue(chunk);
					else controller.close();
				},
			}),
			{ status: 200, headers: { "content-type": "text/event-stream", ...headers } },
		);
	};
}
