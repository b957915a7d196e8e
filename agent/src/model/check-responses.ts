/** Checks a request for OpenAI responses. Returns the rule that it breaks. */
import { checkTools, TOOL_NAME } from "./check-chat.js";
import { type JsonObject, list, object, text } from "./json.js";

const MOST_ID = 64;

export function checkResponses(body: JsonObject): string | undefined {
	const items = list(body.input).map(object);
	if (items.length === 0) return "it has no input";
	if (body.previous_response_id !== undefined) return "it continues a stored response";
	const calls = new Map<string, boolean>();
	for (const [at, item] of items.entries()) {
		const broken = checkItem(item, items[at + 1], calls);
		if (broken !== undefined) return broken;
	}
	const open = [...calls].filter(([, answered]) => !answered).map(([id]) => id);
	if (open.length > 0) return `${open.join(", ")} has no output`;
	const last = items.at(-1);
	if (last?.type !== "function_call_output" && last?.role !== "user") return `it ends with ${text(last?.role) || text(last?.type)}`;
	return checkTools(
		list(body.tools).map((tool) => object(tool).name),
		list(body.tools).length === 0 ? undefined : body.tools,
	);
}

/** `calls`: by their id, whether they have been answered. */
function checkItem(item: JsonObject, next: JsonObject | undefined, calls: Map<string, boolean>): string | undefined {
	const id = text(item.call_id);
	switch (item.type) {
		case "message": {
			if (!["user", "assistant", "system", "developer"].includes(text(item.role))) return `there is no role "${text(item.role)}"`;
			const parts = typeof item.content === "string" ? [item.content] : list(item.content).map((part) => object(part).text);
			return parts.some((part) => typeof part !== "string") || parts.every((part) => part === "") ? `a message of ${text(item.role)} has no text` : undefined;
		}
		case "function_call":
			if (id === "" || id.length > MOST_ID) return `the id of a call is "${id}"`;
			if (calls.has(id)) return `the id ${id} is used twice`;
			calls.set(id, false);
			if (!TOOL_NAME.test(text(item.name))) return `a call has the name "${text(item.name)}"`;
			return typeof item.arguments === "string" ? undefined : `the arguments of ${id} are no text`;
		case "function_call_output":
			if (calls.get(id) !== false) return `the output ${id} answers no open call`;
			calls.set(id, true);
			return typeof item.output === "string" ? undefined : `the output of ${id} is no text`;
		case "reasoning": {
			if (text(item.encrypted_content) === "" || !Array.isArray(item.summary)) return `the reasoning ${text(item.id)} is not sealed`;
			const belongs = next?.type === "function_call" || next?.type === "reasoning" || (next?.type === "message" && next.role === "assistant");
			return belongs ? undefined : `the reasoning ${text(item.id)} has nothing after it that it belongs to`;
		}
		default:
			return `there is no item "${String(item.type)}"`;
	}
}
