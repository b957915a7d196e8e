/** Reads a stream of OpenAI responses. It is whole at `response.completed`, or at `response.incomplete` for length; not before, and not at the end. */
import { eventError } from "./errors.js";
import { type JsonObject, list, number, object, parsed, text } from "./json.js";
import { ModelError, type Piece, type Reasoning, type Usage } from "./model.js";
import type { StreamEvent } from "./sse.js";
import type { RawAnswer, RawCall, StreamReader, WireSetup } from "./wire.js";

export class ResponsesReader implements StreamReader {
	state: StreamReader["state"] = "open";
	text = "";
	readonly #setup: WireSetup;
	readonly #reasoning: Reasoning[] = [];
	readonly #calls: RawCall[] = [];
	/** Items that began and have not ended, by their index. */
	readonly #open = new Map<number, { readonly type: string; said: string }>();
	#refusal = "";
	#length = false;
	#usage: Usage | undefined;
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
		const index = number(body.output_index) ?? 0;
		switch (text(body.type) || event) {
			case "response.output_item.added":
				return this.#begin(index, object(body.item));
			case "response.output_text.delta":
				return this.#say(index, text(body.delta));
			case "response.refusal.delta":
				this.#refusal += text(body.delta);
				return [];
			case "response.reasoning_summary_text.delta":
			case "response.reasoning_text.delta":
				return text(body.delta) === "" ? [] : [{ type: "reasoning", text: text(body.delta) }];
			case "response.reasoning_summary_part.added":
				return number(body.summary_index) ? [{ type: "reasoning", text: "\n\n" }] : [];
			case "response.output_item.done":
				return this.#end(index, object(body.item));
			case "response.completed":
			case "response.incomplete":
				return this.#close(object(body.response));
			case "response.failed":
				throw eventError(object(body.response).error ?? body, this.text);
			case "error":
				throw eventError(body.error ?? body, this.text);
			default:
				if (body.type === undefined && body.error) throw eventError(body.error, this.text);
				return [];
		}
	}

	answer(): RawAnswer {
		if (this.#refusal !== "" && this.#calls.length === 0) throw new ModelError("refused", `the model refused: ${this.#refusal}`, { text: this.text });
		return {
			text: this.text,
			reasoning: this.#reasoning,
			calls: this.#calls,
			length: this.#length,
			usage: this.#usage,
			model: this.#model || this.#setup.model,
		};
	}

	#begin(index: number, item: JsonObject): Piece[] {
		const type = text(item.type);
		this.#open.set(index, { type, said: "" });
		if (type === "function_call") return [{ type: "call", name: text(item.name) }];
		return type === "message" && this.text !== "" ? this.#add("\n\n") : [];
	}

	#say(index: number, said: string): Piece[] {
		const open = this.#open.get(index);
		if (open) open.said += said;
		return this.#add(said);
	}

	#add(said: string): Piece[] {
		if (said === "") return [];
		this.text += said;
		return [{ type: "text", text: said }];
	}

	/** The item itself counts, not the pieces that came before it. */
	#end(index: number, item: JsonObject): Piece[] {
		const open = this.#open.get(index);
		const pieces = open ? [] : this.#begin(index, item);
		this.#open.delete(index);
		if (item.type === "message") {
			const parts = list(item.content).map(object);
			const whole = parts.map((part) => text(part.text)).join("");
			const said = open?.said ?? "";
			// Some send the text only here.
			if (said === "") pieces.push(...this.#add(whole));
			for (const part of parts) if (part.type === "refusal" && this.#refusal === "") this.#refusal = text(part.refusal);
		} else if (item.type === "function_call") {
			const cut = text(item.status) === "incomplete";
			this.#calls.push({ id: text(item.call_id), name: text(item.name), args: argumentText(item.arguments), ...(cut ? { cut } : {}) });
		} else if (item.type === "reasoning") this.#reason(item);
		return pieces;
	}

	/** Only sealed reasoning can go back: the endpoint has stored nothing that an id would find. */
	#reason(item: JsonObject): void {
		const parts = [...list(item.summary), ...list(item.content)].map((part) => text(object(part).text));
		const { encrypted_content: sealed, id, summary } = item;
		const back =
			text(sealed) === ""
				? {}
				: {
						data: {
							item: { type: "reasoning", ...(id ? { id } : {}), summary: list(summary), encrypted_content: sealed },
							text: this.text.length,
							calls: this.#calls.length,
						},
					};
		this.#reasoning.push({ text: parts.join("\n\n"), format: "responses", from: this.#setup.from, ...back });
	}

	#close(response: JsonObject): Piece[] {
		const why = text(object(response.incomplete_details).reason);
		if (text(response.status) === "failed") throw eventError(response.error, this.text);
		if (why === "content_filter") throw new ModelError("refused", "the provider's filter stopped the answer", { text: this.text });
		this.#length = text(response.status) === "incomplete";
		const halves = [...this.#open.values()].filter(({ type }) => type === "function_call");
		if (halves.length > 0 && !this.#length) throw new ModelError("cut", "the answer stopped in the middle of a call", { text: this.text });
		for (const _ of halves) this.#calls.push({ name: "", args: "", cut: true });
		this.#model = text(response.model);
		const usage = object(response.usage);
		const input = number(usage.input_tokens);
		const output = number(usage.output_tokens);
		const cached = number(object(usage.input_tokens_details).cached_tokens);
		const cost = number(usage.cost);
		if (input !== undefined && output !== undefined) this.#usage = { input, output, ...(cached ? { cached } : {}), ...(cost === undefined ? {} : { cost }) };
		this.state = "done";
		return [];
	}
}

/** A string, as the format says; or the object itself. Nothing at all is a call of a tool that takes nothing. */
function argumentText(args: unknown): string {
	if (typeof args === "string") return args === "" ? "{}" : args;
	return args === null || args === undefined ? "{}" : JSON.stringify(args);
}
