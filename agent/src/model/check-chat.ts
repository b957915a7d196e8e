/** Checks a request for chat completions. Returns the rule that it breaks. */
import { argumentsOf, type JsonObject, list, object, text } from "./json.js";

const ROLES: Readonly<Record<string, ReadonlySet<string>>> = {
	system: new Set(["role", "content"]),
	developer: new Set(["role", "content"]),
	user: new Set(["role", "content"]),
	assistant: new Set(["role", "content", "tool_calls", "reasoning_content", "reasoning", "reasoning_text", "reasoning_details"]),
	tool: new Set(["role", "content", "tool_call_id"]),
};
const CALL_KEYS = new Set(["id", "type", "function", "extra_content"]);
export const TOOL_NAME = /^[A-Za-z0-9_-]{1,64}$/;

/** `strict`: for templates that want the roles in turn. `ownIds`: ids that this endpoint wrote, however long they are. */
export function checkChat(body: JsonObject, { strict, ownIds }: { strict: boolean; ownIds: ReadonlySet<string> }): string | undefined {
	const messages = list(body.messages).map(object);
	if (messages.length === 0) return "it has no messages";
	const seen = new Set<string>();
	let open = new Set<string>();
	let before = "";
	for (const message of messages) {
		const role = text(message.role);
		const keys = ROLES[role];
		if (!keys) return `there is no role "${role}"`;
		const odd = Object.keys(message).find((key) => !keys.has(key));
		if (odd !== undefined) return `a message of ${role} has no "${odd}"`;
		if (role === "tool") {
			if (!open.delete(text(message.tool_call_id))) return `the result ${text(message.tool_call_id)} answers no open call`;
			if (typeof message.content !== "string") return "the content of a result is no text";
		} else if (open.size > 0) return `${role} comes before the results of ${[...open].join(", ")}`;
		if (role === "assistant") {
			const broken = checkAssistant(message, ownIds);
			if (broken !== undefined) return broken;
			open = new Set(list(message.tool_calls).map((call) => text(object(call).id)));
			if (open.size < list(message.tool_calls).length) return "two calls of a message have the same id";
			for (const id of open) if (seen.has(id)) return `the id ${id} is used twice`;
			for (const id of open) seen.add(id);
		} else if (role !== "tool" && (!isText(message.content) || (role === "user" && message.content === ""))) return `a message of ${role} has no text`;
		if (strict && !mayFollow(role, before)) return `${role} comes after ${before || "nothing"}, and the endpoint wants them in turn`;
		before = role;
	}
	if (open.size > 0) return `it ends before the results of ${[...open].join(", ")}`;
	if (before !== "user" && before !== "tool") return `it ends with ${before}`;
	return checkTools(
		list(body.tools).map((tool) => object(object(tool).function).name),
		body.tools,
	);
}

function checkAssistant(message: JsonObject, ownIds: ReadonlySet<string>): string | undefined {
	const calls = message.tool_calls;
	if (message.content !== null && message.content !== undefined && typeof message.content !== "string")
		return "the content of an assistant is neither text nor null";
	if (calls === undefined) return text(message.content) === "" ? "an assistant says nothing and calls nothing" : undefined;
	if (list(calls).length === 0) return "an assistant has an empty list of calls";
	for (const call of list(calls).map(object)) {
		const { name, arguments: args } = object(call.function);
		const odd = Object.keys(call).find((key) => !CALL_KEYS.has(key));
		if (odd !== undefined) return `a call has no "${odd}"`;
		if (text(call.id) === "") return "a call has no id";
		if (text(call.id).length > 40 && !ownIds.has(text(call.id))) return `the id ${text(call.id)} has more than 40 characters`;
		if (call.type !== "function") return "a call is no function";
		if (!TOOL_NAME.test(text(name))) return `a call has the name "${text(name)}"`;
		if (typeof args !== "string" || argumentsOf(args) === undefined) return `the arguments of ${text(call.id)} are no JSON object`;
	}
	return undefined;
}

/** Text, or parts of it. */
const isText = (content: unknown): boolean =>
	typeof content === "string" || (list(content).length > 0 && list(content).every((part) => object(part).type === "text" && text(object(part).text) !== ""));

function mayFollow(role: string, before: string): boolean {
	if (role === "system" || role === "developer") return before === "";
	if (role === "user") return before !== "user" && before !== "tool";
	if (role === "assistant") return before === "user" || before === "tool";
	return true; // results: the open calls say
}

/** An empty list is refused: no tools is no list. */
export function checkTools(names: readonly unknown[], tools: unknown): string | undefined {
	if (tools !== undefined && names.length === 0) return "it has an empty list of tools";
	const odd = names.find((name) => !TOOL_NAME.test(text(name)));
	if (odd !== undefined) return `a tool has the name "${text(odd)}"`;
	return new Set(names).size < names.length ? "two tools have the same name" : undefined;
}
