/** Anthropic messages: from messages to the body of a request. `anthropic-stream.ts` reads the answer. */
import { AnthropicReader } from "./anthropic-stream.js";
import { bearer, EMPTY } from "./chat.js";
import { wireIds, wireName } from "./ids.js";
import { argumentsOf, type JsonObject, number, object } from "./json.js";
import type { Message, ModelRequest } from "./model.js";
import { goesBack } from "./reasoning.js";
import type { ReasoningWish, Wire, WireSetup } from "./wire.js";

export const anthropicWire: Wire = {
	format: "anthropic",
	path: "/messages",
	headers: (key, { apiKeyOnly }) => ({
		"anthropic-version": "2023-06-01",
		...(key === "" ? {} : { "x-api-key": key }),
		...(apiKeyOnly ? {} : bearer(key)),
	}),
	body: anthropicBody,
	reader: (setup) => new AnthropicReader(setup),
};

type Block = { readonly type: string; readonly [field: string]: unknown };
interface Sent {
	readonly role: "user" | "assistant";
	readonly content: Block[];
}

/** The format demands a number. A model that takes less says how much, and is asked again with that (`adapt.ts`). */
export const DEFAULT_MAX_TOKENS = 32_000;

const BUDGETS: Readonly<Record<ReasoningWish, number>> = { low: 4_096, medium: 10_240, high: 24_576 };
const CACHE = { cache_control: { type: "ephemeral" } } as const;

function anthropicBody(request: ModelRequest, setup: WireSetup): JsonObject {
	const messages = joined(request.messages, setup);
	const limit = request.maxTokens ?? setup.maxTokens ?? DEFAULT_MAX_TOKENS;
	markCache(messages);
	return {
		model: setup.model,
		max_tokens: limit,
		stream: true,
		...thinking(setup, limit, messages),
		...(request.system.trim() === "" ? {} : { system: [{ type: "text", text: request.system, ...CACHE }] }),
		...(request.tools.length === 0
			? {}
			: {
					tools: request.tools.map(({ name, description, schema }, at) => ({
						name,
						description,
						input_schema: { type: "object", ...schema },
						...(at === request.tools.length - 1 ? CACHE : {}),
					})),
				}),
		messages,
	};
}

/** Neighbours of one role are one message; the first is the user's. */
function joined(messages: readonly Message[], setup: WireSetup): Sent[] {
	const all: Sent[] = [];
	const idOf = wireIds(messages, setup.from, "any");
	const put = (role: Sent["role"], blocks: readonly Block[]) => {
		if (blocks.length === 0) return;
		if (all.length === 0 && role === "assistant") all.push({ role: "user", content: [{ type: "text", text: "(continued)" }] });
		const last = all.at(-1);
		if (last?.role === role) last.content.push(...blocks);
		else all.push({ role, content: [...blocks] });
	};
	for (const message of messages) {
		if (message.role === "user") put("user", [{ type: "text", text: message.text.trim() === "" ? EMPTY : message.text }]);
		else if (message.role === "assistant") put("assistant", assistantBlocks(message, setup, idOf));
		else put("user", [{ type: "tool_result", tool_use_id: idOf(message.call), content: message.text, ...(message.failed ? { is_error: true } : {}) }]);
	}
	return all;
}

/** Thinking stands where it stood between the texts; calls come last, and nothing after them. */
function assistantBlocks(message: Extract<Message, { role: "assistant" }>, setup: WireSetup, idOf: (id: string) => string): Block[] {
	const blocks: Block[] = [];
	let from = 0;
	const said = (to: number) => {
		const part = message.text.slice(from, to).trimEnd();
		if (part.trim() !== "") blocks.push({ type: "text", text: part });
		from = Math.max(from, to);
	};
	for (const block of message.reasoning) {
		if (!goesBack(block, message, "anthropic", setup)) continue;
		const { at, block: kept } = object(block.data);
		said(number(at) ?? 0);
		blocks.push(kept as Block);
	}
	said(message.text.length);
	const calls = message.calls.map((call) => ({ type: "tool_use", id: idOf(call.id), name: wireName(call.name), input: argumentsOf(call.args) ?? {} }));
	const something = calls.length > 0 || blocks.some(({ type }) => type === "text");
	return something ? [...blocks, ...calls] : []; // only thoughts: nothing was said
}

/** At the end of the last two messages of the user: the next request finds what this one has written. With the tools and the system prompt that makes four. */
function markCache(messages: readonly Sent[]): void {
	for (const { content } of messages.filter(({ role }) => role === "user").slice(-2)) {
		const last = content.at(-1);
		if (last) content[content.length - 1] = { ...last, ...CACHE };
	}
}

function thinking({ model, reasoning }: WireSetup, limit: number, messages: readonly Sent[]): JsonObject {
	if (reasoning === undefined) return {};
	if (isAdaptive(model)) return { thinking: { type: "adaptive" }, output_config: { effort: reasoning } };
	// A call that was made without thinking (by another model) must be finished without it.
	const last = messages.findLast(({ role }) => role === "assistant");
	const began = last?.content[0]?.type.endsWith("thinking") ?? true;
	if (last?.content.some(({ type }) => type === "tool_use") && !began) return {};
	const budget = Math.min(BUDGETS[reasoning], limit - 1_024);
	return budget < 1_024 ? {} : { thinking: { type: "enabled", budget_tokens: budget } };
}

/** Models up to 4.5 want a budget of tokens; later ones decide themselves, and refuse a budget. */
function isAdaptive(model: string): boolean {
	const version = /claude-(?:[a-z]+-)?(\d)(?:[-.](\d)(?!\d))?/.exec(model);
	if (!version) return true;
	return Number(version[1]) * 10 + Number(version[2] ?? 0) >= 46;
}
