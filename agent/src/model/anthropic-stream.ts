/** Reads a stream of Anthropic messages. It is whole at `message_stop`, after a `message_delta` with a stop reason; not before. */
import { eventError } from "./errors.js";
import { type JsonObject, number, object, parsed, text } from "./json.js";
import { ModelError, type Piece, type Reasoning, type Usage } from "./model.js";
import type { StreamEvent } from "./sse.js";
import type { RawAnswer, RawCall, StreamReader, WireSetup } from "./wire.js";

interface OpenBlock {
	readonly type: string;
	/** The length of the answer's text when the block began. */
	readonly at: number;
	readonly start: JsonObject;
	said: string;
	signature: string;
	closed: boolean;
}

export class AnthropicReader implements StreamReader {
	state: StreamReader["state"] = "open";
	text = "";
	readonly #setup: WireSetup;
	readonly #blocks = new Map<number, OpenBlock>();
	readonly #usage: Record<string, number> = {};
	#stop = "";
	#model = "";

	constructor(setup: WireSetup) {
		this.#setup = setup;
	}

	take({ event, data, tail }: StreamEvent): Piece[] {
		const value = parsed(data);
		if (value === undefined) {
			if (tail || data === "[DONE]") return [];
			throw new ModelError("wrong", `the endpoint sent an event that is no JSON: ${data.slice(0, 200)}`);
		}
		const body = object(value);
		switch (text(body.type) || event) {
			case "message_start": {
				const message = object(body.message);
				// A proxy that asked twice: what it has sent so far belongs to another answer.
				if (this.#blocks.size > 0) throw new ModelError("cut", "the endpoint began its answer again in the middle", { text: this.text });
				this.#model = text(message.model);
				this.#count(message.usage);
				return [];
			}
			case "content_block_start":
				return this.#open(number(body.index) ?? this.#blocks.size, object(body.content_block));
			case "content_block_delta":
				return this.#delta(this.#block(body), object(body.delta));
			case "content_block_stop":
				this.#block(body).closed = true;
				return [];
			case "message_delta":
				this.#stop = text(object(body.delta).stop_reason) || this.#stop;
				this.#count(body.usage);
				return [];
			case "message_stop":
				if (this.#stop === "") throw new ModelError("cut", "the answer stopped without a reason", { text: this.text });
				if ([...this.#blocks.values()].some(({ closed }) => !closed))
					throw new ModelError("cut", "the answer stopped in the middle of a block", { text: this.text });
				this.state = "done";
				return [];
			case "error":
				throw eventError(body.error ?? body, this.text);
			default:
				return []; // ping, and what is new
		}
	}

	answer(): RawAnswer {
		if (this.#stop === "refusal") throw new ModelError("refused", "the model refused to answer", { text: this.text });
		const blocks = [...this.#blocks].sort(([a], [b]) => a - b).map(([, block]) => block);
		const length = this.#stop === "max_tokens" || this.#stop === "model_context_window_exceeded";
		return {
			text: this.text,
			reasoning: blocks.filter(({ type }) => type === "thinking" || type === "redacted_thinking").map((block) => this.#reasoned(block)),
			calls: blocks.filter(({ type }) => type === "tool_use").map((block) => called(block, length && block === blocks.at(-1))),
			length,
			usage: this.#used(),
			model: this.#model || this.#setup.model,
		};
	}

	#open(index: number, start: JsonObject): Piece[] {
		const type = text(start.type);
		if (this.#blocks.has(index)) throw new ModelError("wrong", `the endpoint began block ${index} twice`);
		const block: OpenBlock = { type, at: this.text.length, start, said: "", signature: text(start.signature), closed: false };
		this.#blocks.set(index, block);
		if (type === "tool_use") return [{ type: "call", name: text(start.name) }];
		return [...this.#say(block, text(start.text)), ...this.#say(block, text(start.thinking))];
	}

	#delta(block: OpenBlock, delta: JsonObject): Piece[] {
		switch (delta.type) {
			case "text_delta":
				return this.#say(block, text(delta.text));
			case "thinking_delta":
				return this.#say(block, text(delta.thinking));
			case "input_json_delta":
				block.said += text(delta.partial_json);
				return [];
			case "signature_delta":
				block.signature += text(delta.signature);
				return [];
			default:
				return []; // citations, and what is new
		}
	}

	#say(block: OpenBlock, said: string): Piece[] {
		if (said === "") return [];
		block.said += said;
		if (block.type === "text") this.text += said;
		return [{ type: block.type === "text" ? "text" : "reasoning", text: said }];
	}

	#block({ index }: JsonObject): OpenBlock {
		const block = this.#blocks.get(number(index) ?? this.#blocks.size - 1);
		if (!block) throw new ModelError("wrong", `the endpoint sent a part of block ${String(index)}, which it never began`);
		return block;
	}

	/** A block without its signature cannot go back, and is kept as text alone. */
	#reasoned({ type, start, said, signature, at }: OpenBlock): Reasoning {
		const block = type === "redacted_thinking" ? { type, data: start.data } : signature === "" ? undefined : { type, thinking: said, signature };
		return { text: said, format: "anthropic", from: this.#setup.from, ...(block ? { data: { block, at } } : {}) };
	}

	/** Counts are totals so far: later ones replace earlier ones. */
	#count(value: unknown): void {
		for (const [name, count] of Object.entries(object(value))) if (typeof count === "number") this.#usage[name] = count;
	}

	#used(): Usage | undefined {
		const { input_tokens, output_tokens, cache_read_input_tokens: cached = 0, cache_creation_input_tokens: written = 0, cost } = this.#usage;
		if (input_tokens === undefined || output_tokens === undefined) return undefined;
		return { input: input_tokens + cached + written, output: output_tokens, ...(cached ? { cached } : {}), ...(cost === undefined ? {} : { cost }) };
	}
}

/** Arguments in pieces; or, without any, the object that the block began with: `{}` for a tool that takes none. The last one may be cut before its first. */
function called({ start, said }: OpenBlock, last: boolean): RawCall {
	const input = start.input === undefined || start.input === null ? {} : start.input;
	return { id: text(start.id), name: text(start.name), args: said === "" ? JSON.stringify(input) : said, ...(last && said === "" ? { cut: true } : {}) };
}
