/** OpenAI chat completions, and whoever else speaks them: from messages to the body of a request. `chat-stream.ts` reads the answer. */
import { ChatReader } from "./chat-stream.js";
import { wireIds, wireName } from "./ids.js";
import { argumentsOf, type JsonObject, list, object } from "./json.js";
import type { Message, ModelRequest } from "./model.js";
import { goesBack } from "./reasoning.js";
import { TOKEN_FIELDS } from "./token-ids.js";
import type { Wire, WireSetup } from "./wire.js";

export const chatWire: Wire = {
	format: "chat",
	path: "/chat/completions",
	headers: bearer,
	body: chatBody,
	reader: (setup) => new ChatReader(setup),
};

export function bearer(key: string): Readonly<Record<string, string>> {
	return key === "" ? {} : { authorization: `Bearer ${key}` };
}

type Assistant = Extract<Message, { role: "assistant" }>;
interface TextPart {
	readonly type: "text";
	readonly text: string;
	readonly cache_control?: unknown;
}
/** One of the body's messages while it is made. */
type Sent = { role: string; content: string | null | readonly TextPart[]; tool_calls?: unknown[]; [field: string]: unknown };

function chatBody(request: ModelRequest, setup: WireSetup): JsonObject {
	const { flags, reasoning } = setup;
	const limit = request.maxTokens ?? setup.maxTokens;
	const messages: Sent[] = request.system === "" ? [] : [{ role: flags.systemRole, content: request.system }];
	const idOf = wireIds(request.messages, setup.from, flags.ids);
	for (const message of request.messages) {
		const next = sent(message, setup, idOf);
		if (!next) continue;
		if (flags.bridge) bridge(messages, next);
		else messages.push(next);
	}
	if (flags.cacheMarks && /^anthropic\//.test(setup.model)) markCache(messages);
	return {
		model: setup.model,
		messages,
		stream: setup.tokenIds !== "whole",
		...(setup.tokenIds === undefined ? {} : TOKEN_FIELDS),
		...(flags.streamUsage && setup.tokenIds !== "whole" ? { stream_options: { include_usage: true } } : {}),
		...(limit === undefined ? {} : { [flags.maxTokensField]: limit }),
		...(reasoning === undefined || flags.reasoning === "none"
			? {}
			: flags.reasoning === "effort"
				? { reasoning_effort: reasoning }
				: { reasoning: { effort: reasoning } }),
		...(request.tools.length === 0
			? {}
			: { tools: request.tools.map(({ name, description, schema }) => ({ type: "function", function: { name, description, parameters: schema } })) }),
	};
}

function sent(message: Message, setup: WireSetup, idOf: (id: string) => string): Sent | undefined {
	if (message.role === "user") return { role: "user", content: message.text.trim() === "" ? EMPTY : message.text };
	if (message.role === "result") return { role: "tool", tool_call_id: idOf(message.call), content: message.text };
	if (message.text === "" && message.calls.length === 0) return undefined; // says nothing: only reasoning
	return {
		role: "assistant",
		content: message.text === "" ? null : message.text,
		...reasoningBack(message, setup),
		...(message.calls.length === 0
			? {}
			: {
					tool_calls: message.calls.map((call) => ({
						id: idOf(call.id),
						type: "function",
						// Arguments that are no JSON object would be refused, and with them every later request.
						function: { name: wireName(call.name), arguments: argumentsOf(call.args) ? call.args : "{}" },
						...(call.wire?.from === setup.from ? call.wire.extra : {}),
					})),
				}),
	};
}

/** The text of a message without a word in it: some endpoints refuse an empty one. */
export const EMPTY = "(empty message)";

/** Under the name that it came with. `reasoning_details` go back as they are, in their order. */
function reasoningBack(message: Assistant, setup: WireSetup): JsonObject {
	const fields: Record<string, unknown> = {};
	for (const block of message.reasoning) {
		if (!goesBack(block, message, "chat", setup)) continue;
		const { field, details } = object(block.data);
		if (Array.isArray(details)) fields.reasoning_details = [...list(fields.reasoning_details), ...details];
		if (typeof field === "string") fields[field] = `${fields[field] ?? ""}${block.text}`;
	}
	return fields;
}

/** Strict templates: user and assistant in turn, and an assistant between a result and the user. */
function bridge(messages: Sent[], next: Sent): void {
	const last = messages.at(-1);
	const joins = last && last.role === next.role && (next.role === "user" || (next.role === "assistant" && !last.tool_calls));
	if (joins) {
		const content = [last.content, next.content].filter((part) => typeof part === "string").join("\n\n");
		messages[messages.length - 1] = { ...next, content: content === "" ? null : content };
		return;
	}
	if (next.role === "user" && last?.role === "tool") messages.push({ role: "assistant", content: "(interrupted)" });
	if (next.role === "assistant" && (!last || last.role === "system" || last.role === "developer")) messages.push({ role: "user", content: "(continued)" });
	messages.push(next);
}

/** As a router to Anthropic takes them: at the end of the system prompt and of the last two messages of the user. */
function markCache(messages: Sent[]): void {
	const users = messages.filter(({ role }) => role === "user").slice(-2);
	for (const message of [...messages.slice(0, 1).filter(({ role }) => role === "system"), ...users])
		if (typeof message.content === "string") message.content = [{ type: "text", text: message.content, cache_control: { type: "ephemeral" } }];
}
