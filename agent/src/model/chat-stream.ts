/**
 * Reads a stream of chat completions. A `finish_reason` closes it, whichever it is: forced calls come with `stop`, and routers write `tool_calls` over
 * others. `[DONE]` and usage may be missing.
 */
import { eventError } from "./errors.js";
import { type JsonObject, list, number, object, parsed, text } from "./json.js";
import { ModelError, type Piece, type Reasoning, type Usage } from "./model.js";
import type { StreamEvent } from "./sse.js";
import { TokenReader } from "./token-ids.js";
import type { RawAnswer, RawCall, StreamReader, WireSetup } from "./wire.js";

interface OpenCall {
	index: number | undefined;
	id: string;
	name: string;
	args: string;
	extra?: JsonObject;
}

const REASONING_FIELDS = ["reasoning_content", "reasoning", "reasoning_text"] as const;

export class ChatReader implements StreamReader {
	state: StreamReader["state"] = "open";
	text = "";
	readonly #setup: WireSetup;
	readonly #reasoning = new Map<string, string>();
	readonly #details: JsonObject[] = [];
	/** Shown and kept, but not sent back. */
	#thought = "";
	readonly #calls: OpenCall[] = [];
	#refusal = "";
	#finish = "";
	#usage: Usage | undefined;
	#model = "";
	readonly #tokens = new TokenReader();

	constructor(setup: WireSetup) {
		this.#setup = setup;
	}

	take(event: StreamEvent): Piece[] {
		if (event.data === "[DONE]") {
			if (this.state === "closed") this.state = "done";
			return [];
		}
		const value = parsed(event.data);
		if (value === undefined) {
			if (event.tail) return [];
			throw new ModelError("wrong", `the endpoint sent an event that is no JSON: ${event.data.slice(0, 200)}`);
		}
		const chunk = object(value);
		const choices = list(chunk.choices).map(object);
		const choice = choices.find(({ index }) => index === undefined || index === 0) ?? {};
		const failed = chunk.error ?? choice.error;
		if (failed || event.event === "error") throw eventError(failed ?? chunk, this.text);
		if (text(chunk.model) !== "") this.#model = text(chunk.model);
		this.#count(chunk.usage ?? choice.usage ?? object(chunk.x_groq).usage);
		if (this.#setup.tokenIds) this.#tokens.take(chunk, choice);
		const pieces = this.#delta(object(choice.delta ?? choice.message)); // `message`: an answer that was sent whole
		// Some repeat the reason in a later chunk, with the usage: the first one closes.
		if (text(choice.finish_reason) !== "") this.#close(text(choice.finish_reason));
		return pieces;
	}

	answer(): RawAnswer {
		if (/^(content_filter|safety|refusal)$/i.test(this.#finish))
			throw new ModelError("refused", "the provider's filter stopped the answer", { text: this.text });
		if (this.#refusal !== "" && this.#calls.length === 0) throw new ModelError("refused", `the model refused: ${this.#refusal}`, { text: this.text });
		const length = /^(length|model_length|max_tokens)$/i.test(this.#finish);
		return {
			text: this.text,
			reasoning: this.#reasoned(),
			calls: this.#calls.map((call) => raw(call, length)),
			length,
			usage: this.#usage,
			model: this.#model || this.#setup.model,
			...(this.#tokens.tokens ? { tokens: this.#tokens.tokens } : {}),
		};
	}

	#close(finish: string): void {
		if (this.state !== "open") return;
		if (finish === "error") throw new ModelError("again", "the endpoint failed in the middle of the answer", { text: this.text, inStream: true });
		this.#finish = finish;
		this.state = "closed";
	}

	#delta(delta: JsonObject): Piece[] {
		const pieces: Piece[] = [];
		for (const field of REASONING_FIELDS) {
			const said = text(delta[field]);
			// Two names for the same words in one chunk: both are kept, one is shown.
			if (said !== "" && !pieces.some(({ type }) => type === "reasoning")) pieces.push({ type: "reasoning", text: said });
			if (said !== "") this.#reasoning.set(field, (this.#reasoning.get(field) ?? "") + said);
		}
		for (const part of list(delta.reasoning_details)) this.#detail(object(part));
		for (const [type, said] of contentOf(delta.content)) {
			if (type === "text") this.text += said;
			else this.#thought += said;
			pieces.push({ type, text: said });
		}
		this.#refusal += text(delta.refusal);
		for (const part of list(delta.tool_calls)) pieces.push(...this.#call(object(part)));
		return pieces;
	}

	/** OpenRouter: texts of one block come in parts, and go back as one. */
	#detail(part: JsonObject): void {
		const last = this.#details.at(-1);
		if (!last || last.type !== part.type || last.index !== part.index || last.type === "reasoning.encrypted") return void this.#details.push(part);
		const joined: Record<string, unknown> = {
			...last,
			...Object.fromEntries(Object.entries(part).filter(([, value]) => value !== null && value !== undefined)),
		};
		for (const field of ["text", "summary"]) if (field in last || field in part) joined[field] = text(last[field]) + text(part[field]);
		this.#details[this.#details.length - 1] = joined;
	}

	#call(part: JsonObject): Piece[] {
		const { name, arguments: args } = object(part.function);
		const call = this.#callOf(part, text(name));
		const known = call.name !== "";
		if (call.id === "") call.id = text(part.id);
		if (!known) call.name = text(name);
		// A string in pieces, as the format says; or the object itself, whole.
		if (typeof args === "string") call.args += args;
		else if (args !== null && args !== undefined) call.args += JSON.stringify(args);
		if (part.extra_content !== undefined) call.extra = { extra_content: part.extra_content };
		return !known && call.name !== "" ? [{ type: "call", name: call.name }] : [];
	}

	/** By its index, or its id. Where all calls have the same index, or none, a name with a new id begins the next one. */
	#callOf(part: JsonObject, name: string): OpenCall {
		const index = number(part.index);
		const id = text(part.id);
		const there = this.#calls.findLast((call) => (index !== undefined ? call.index === index : id === "" || call.id === id));
		const another = id !== "" && there?.id !== "" ? there?.id !== id : index === undefined && id === "";
		if (there && !(name !== "" && there.name !== "" && another)) return there;
		const call: OpenCall = { index, id: "", name: "", args: "" };
		this.#calls.push(call);
		return call;
	}

	#reasoned(): Reasoning[] {
		const from = this.#setup.from;
		if (this.#thought !== "") return [{ text: this.#thought, format: "chat", from }];
		const details = this.#details.length > 0 ? { details: this.#details } : {};
		const blocks = [...this.#reasoning].map(
			([field, said], at): Reasoning => ({ text: said, format: "chat", from, data: { field, ...(at === 0 ? details : {}) } }),
		);
		if (blocks.length > 0 || this.#details.length === 0) return blocks;
		return [{ text: this.#details.map((part) => text(part.text) || text(part.summary)).join(""), format: "chat", from, data: details }];
	}

	#count(value: unknown): void {
		const usage = object(value);
		const input = number(usage.prompt_tokens);
		const output = number(usage.completion_tokens);
		if (input === undefined || output === undefined) return;
		const cached = number(object(usage.prompt_tokens_details).cached_tokens) ?? number(usage.prompt_cache_hit_tokens) ?? number(usage.cached_tokens);
		const cost = number(usage.cost);
		this.#usage = { input, output, ...(cached ? { cached } : {}), ...(cost === undefined ? {} : { cost }) };
	}
}

/** No arguments at all is a call of a tool that takes none; unless `length` has cut them. */
const raw = ({ id, name, args, extra }: OpenCall, length: boolean): RawCall => ({
	id,
	name,
	args: args === "" ? "{}" : args,
	extra,
	...(length && args === "" ? { cut: true } : {}),
});

/** Text; or parts of text and thinking, as Mistral has them. */
function contentOf(content: unknown): ["text" | "reasoning", string][] {
	if (typeof content === "string") return content === "" ? [] : [["text", content]];
	return list(content)
		.map(object)
		.map((part): ["text" | "reasoning", string] =>
			part.type === "thinking"
				? [
						"reasoning",
						list(part.thinking)
							.map((inner) => text(object(inner).text))
							.join(""),
					]
				: ["text", text(part.text)],
		)
		.filter(([, said]) => said !== "");
}
