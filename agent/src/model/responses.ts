/** OpenAI responses: from messages to the body of a request. `responses-stream.ts` reads the answer. */
import { bearer, EMPTY } from "./chat.js";
import { wireIds, wireName } from "./ids.js";
import { argumentsOf, type JsonObject, number, object } from "./json.js";
import type { Message, ModelRequest } from "./model.js";
import { goesBack } from "./reasoning.js";
import { ResponsesReader } from "./responses-stream.js";
import type { Wire, WireSetup } from "./wire.js";

export const responsesWire: Wire = {
	format: "responses",
	path: "/responses",
	headers: bearer,
	body: responsesBody,
	reader: (setup) => new ResponsesReader(setup),
};

/** Nothing is stored at the endpoint: the whole conversation goes with every request, since a response that was cut cannot be continued. */
function responsesBody(request: ModelRequest, setup: WireSetup): JsonObject {
	const { flags, reasoning } = setup;
	const limit = request.maxTokens ?? setup.maxTokens;
	const idOf = wireIds(request.messages, setup.from, "any");
	return {
		model: setup.model,
		input: request.messages.flatMap((message) => items(message, setup, idOf)),
		stream: true,
		store: false,
		...(flags.sealed ? { include: ["reasoning.encrypted_content"] } : {}),
		...(request.system === "" ? {} : { instructions: request.system }),
		...(limit === undefined ? {} : { max_output_tokens: limit }),
		...(reasoning === undefined ? {} : { reasoning: { effort: reasoning, ...(flags.summary ? { summary: "auto" } : {}) } }),
		...(request.tools.length === 0
			? {}
			: { tools: request.tools.map(({ name, description, schema }) => ({ type: "function", name, description, parameters: schema, strict: false })) }),
	};
}

function items(message: Message, setup: WireSetup, idOf: (id: string) => string): JsonObject[] {
	if (message.role === "user")
		return [{ type: "message", role: "user", content: [{ type: "input_text", text: message.text.trim() === "" ? EMPTY : message.text }] }];
	if (message.role === "result") return [{ type: "function_call_output", call_id: idOf(message.call), output: message.text }];
	return assistantItems(message, setup, idOf);
}

/** Reasoning stands directly before the item that it led to. One that led to nothing which is sent is left out with it. */
function assistantItems(message: Extract<Message, { role: "assistant" }>, setup: WireSetup, idOf: (id: string) => string): JsonObject[] {
	const all: JsonObject[] = [];
	let said = 0;
	let made = 0;
	const until = (at: { text: number; calls: number }) => {
		const part = message.text.slice(said, at.text).replace(/^\n\n/, ""); // what stood between two messages
		if (part.trim() !== "") all.push({ type: "message", role: "assistant", content: [{ type: "output_text", text: part }] });
		said = Math.max(said, at.text);
		for (const call of message.calls.slice(made, at.calls))
			all.push({ type: "function_call", call_id: idOf(call.id), name: wireName(call.name), arguments: argumentsOf(call.args) ? call.args : "{}" });
		made = Math.max(made, at.calls);
	};
	for (const block of message.reasoning) {
		if (!goesBack(block, message, "responses", setup)) continue;
		const { item, text, calls } = object(block.data);
		until({ text: number(text) ?? 0, calls: number(calls) ?? 0 });
		all.push(object(item));
	}
	until({ text: message.text.length, calls: message.calls.length });
	while (all.at(-1)?.type === "reasoning") all.pop();
	return all;
}
