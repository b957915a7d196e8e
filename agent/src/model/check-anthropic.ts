/** Checks a request for Anthropic messages. Returns the rule that it breaks. */
import { checkTools } from "./check-chat.js";
import { type JsonObject, list, number, object, text } from "./json.js";

const ID = /^[A-Za-z0-9_-]{1,64}$/;

export function checkAnthropic(body: JsonObject): string | undefined {
	const messages = list(body.messages)
		.map(object)
		.map(({ role, content }) => ({ role: text(role), blocks: list(content).map(object) }));
	const limit = number(body.max_tokens) ?? 0;
	if (limit < 1) return "it has no max_tokens";
	if (messages.length === 0) return "it has no messages";
	if (messages[0]?.role !== "user") return `it begins with ${messages[0]?.role}`;
	const seen = new Set<string>();
	let wanted: string[] = [];
	let before = "";
	for (const { role, blocks } of messages) {
		if (role !== "user" && role !== "assistant") return `there is no role "${role}"`;
		if (role === before) return `${role} comes twice in a row`;
		if (blocks.length === 0) return `a message of ${role} is empty`;
		const broken = blocks.map((block) => checkBlock(block, role)).find((one) => one !== undefined);
		if (broken !== undefined) return broken;
		const outcome = role === "user" ? checkResults(blocks, wanted) : checkUses(blocks, seen);
		if (typeof outcome === "string") return outcome;
		wanted = outcome;
		before = role;
	}
	if (before !== "user") return wanted.length > 0 ? `it ends before the results of ${wanted.join(", ")}` : "it ends with assistant";
	return (
		checkTools(
			list(body.tools).map((tool) => object(tool).name),
			body.tools,
		) ??
		checkCache(body, messages) ??
		checkThinking(body, limit, messages)
	);
}

function checkBlock(block: JsonObject, role: string): string | undefined {
	switch (block.type) {
		case "text":
			return text(block.text).trim() === "" ? `a text of ${role} is empty` : undefined;
		case "tool_use":
			if (role !== "assistant") return "a user makes a call";
			if (!ID.test(text(block.id))) return `the id of a call is "${text(block.id)}"`;
			if (text(block.name) === "") return "a call has no name";
			return typeof block.input !== "object" || block.input === null || Array.isArray(block.input) ? `the input of ${text(block.id)} is no object` : undefined;
		case "tool_result":
			return role === "user" ? undefined : "an assistant has a result";
		case "thinking":
			if (role !== "assistant") return "a user has thinking";
			return text(block.signature) === "" || typeof block.thinking !== "string" ? "thinking has no signature" : undefined;
		case "redacted_thinking":
			return text(block.data) === "" ? "redacted thinking has no data" : undefined;
		default:
			return `there is no block "${String(block.type)}"`;
	}
}

/** Returns the calls that the next message must answer. */
function checkUses(blocks: readonly JsonObject[], seen: Set<string>): string[] | string {
	const first = blocks.findIndex(({ type }) => type === "tool_use");
	const last = blocks.at(-1);
	if (last?.type === "text" && text(last.text).trimEnd() !== text(last.text)) return "a text of assistant ends with a space";
	if (first < 0) return [];
	const uses = blocks.slice(first);
	if (uses.some(({ type }) => type !== "tool_use")) return "something follows a call in its message";
	const ids = uses.map(({ id }) => text(id));
	for (const id of ids) {
		if (seen.has(id)) return `the id ${id} is used twice`;
		seen.add(id);
	}
	return ids;
}

function checkResults(blocks: readonly JsonObject[], wanted: readonly string[]): string[] | string {
	const results = blocks.filter(({ type }) => type === "tool_result").map(({ tool_use_id }) => text(tool_use_id));
	const missing = wanted.filter((id) => !results.includes(id));
	if (missing.length > 0) return `the results of ${missing.join(", ")} are not in the next message`;
	const unknown = results.find((id) => !wanted.includes(id));
	if (unknown !== undefined) return `the result ${unknown} answers no call of the message before`;
	if (new Set(results).size < results.length) return "a call has two results";
	return blocks.slice(0, results.length).some(({ type }) => type !== "tool_result") ? "something comes before a result in its message" : [];
}

function checkCache(body: JsonObject, messages: readonly { readonly blocks: readonly JsonObject[] }[]): string | undefined {
	const blocks = [...list(body.system), ...list(body.tools), ...messages.flatMap((message) => message.blocks)].map(object);
	const marked = blocks.filter(({ cache_control }) => cache_control !== undefined);
	if (marked.some(({ type }) => type === "thinking" || type === "redacted_thinking")) return "thinking has a cache mark";
	return marked.length > 4 ? `it has ${marked.length} cache marks` : undefined;
}

function checkThinking(
	body: JsonObject,
	limit: number,
	messages: readonly { readonly role: string; readonly blocks: readonly JsonObject[] }[],
): string | undefined {
	const thinking = object(body.thinking);
	if (thinking.type !== "enabled") return undefined;
	const budget = number(thinking.budget_tokens) ?? 0;
	if (budget < 1_024 || budget >= limit) return `the budget for thinking is ${budget} of ${limit}`;
	const last = messages.findLast(({ role }) => role === "assistant")?.blocks ?? [];
	const began = text(last[0]?.type).endsWith("thinking");
	return last.some(({ type }) => type === "tool_use") && !began ? "a call was made without thinking, and thinking is on" : undefined;
}
