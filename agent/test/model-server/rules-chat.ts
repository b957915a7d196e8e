/** OpenAI chat completions: what a request must be. `strict` adds what the templates of Mistral and others demand. */

type Json = Readonly<Record<string, unknown>>;
type Options = { readonly strict: boolean; readonly longIds: ReadonlySet<string> };

const KEYS: Readonly<Record<string, readonly string[]>> = {
	system: ["role", "content", "name"],
	developer: ["role", "content", "name"],
	user: ["role", "content", "name"],
	// `parsed` is what the helper of the openai package adds, and OpenAI ignores
	assistant: ["role", "content", "name", "tool_calls", "refusal", "parsed", "reasoning_content", "reasoning", "reasoning_text", "reasoning_details"],
	tool: ["role", "content", "tool_call_id"],
};
const NAME = /^[a-zA-Z0-9_-]{1,64}$/;

export function chatBreaks(body: Json, options: Options): string | undefined {
	if (typeof body.model !== "string" || body.model === "") return "you must provide a model parameter";
	if (!Array.isArray(body.messages)) return "Missing required parameter: 'messages'.";
	const messages = body.messages as readonly Json[];
	if (messages.length === 0) return "Invalid 'messages': empty array. Expected an array with minimum length 1, but got an empty array instead.";
	return (
		effortBreaks(body) ??
		toolsBreak(body.tools) ??
		shapesBreak(messages, options) ??
		orderBreaks(messages) ??
		(options.strict ? templateBreaks(messages) : undefined)
	);
}

const EFFORTS = ["none", "minimal", "low", "medium", "high", "xhigh"];

/** As OpenAI writes it, or as OpenRouter does. */
function effortBreaks(body: Json): string | undefined {
	const efforts = [body.reasoning_effort, (body.reasoning as Json | undefined)?.effort].filter((effort) => effort !== undefined);
	if (efforts.length > 1) return 'Only one of "reasoning" and "reasoning_effort" may be provided';
	const wrong = efforts.find((effort) => !EFFORTS.includes(String(effort)));
	return wrong === undefined ? undefined : `Invalid value: '${wrong}'. Supported values are: ${EFFORTS.map((effort) => `'${effort}'`).join(", ")}.`;
}

function toolsBreak(tools: unknown): string | undefined {
	if (tools === undefined) return undefined;
	if (!Array.isArray(tools) || tools.length === 0)
		return "Invalid 'tools': empty array. Expected an array with minimum length 1, but got an empty array instead.";
	const names = new Set<string>();
	for (const [i, tool] of (tools as Json[]).entries()) {
		const fn = tool.function as Json | undefined;
		if (tool.type !== "function" || !fn) return `Missing required parameter: 'tools[${i}].function'.`;
		if (typeof fn.name !== "string" || !NAME.test(fn.name))
			return `Invalid 'tools[${i}].function.name': string does not match pattern. Expected a string that matches the pattern '^[a-zA-Z0-9_-]+$'.`;
		if (names.has(fn.name)) return `Tool names must be unique: ${fn.name}`;
		names.add(fn.name);
	}
	return undefined;
}

function shapesBreak(messages: readonly Json[], { longIds }: Options): string | undefined {
	for (const [i, message] of messages.entries()) {
		const role = String(message.role);
		const known = KEYS[role];
		if (!known) return `Invalid value: '${role}'. Supported values are: 'system', 'assistant', 'user', 'function', 'tool', and 'developer'.`;
		const unknown = Object.keys(message).find((key) => !known.includes(key));
		if (unknown) return `Unrecognized request argument supplied: messages[${i}].${unknown}`;
		const isText = typeof message.content === "string" || Array.isArray(message.content);
		const calls = message.tool_calls as readonly Json[] | undefined;
		if (role === "assistant") {
			if (calls !== undefined && (!Array.isArray(calls) || calls.length === 0))
				return `Invalid 'messages[${i}].tool_calls': empty array. Expected an array with minimum length 1, but got an empty array instead.`;
			if (!message.content?.toString() && !calls) return `Invalid value for 'content': expected a string, got null. (messages[${i}])`;
			if (!isText && message.content !== null && message.content !== undefined) return `Invalid type for 'messages[${i}].content'.`;
		} else if (!isText)
			return `Invalid value for 'content': expected a string, got ${message.content === null ? "null" : typeof message.content}. (messages[${i}])`;
		if (role === "user" && !message.content?.toString()) return `Invalid 'messages[${i}].content': empty string.`;
		for (const [k, call] of (calls ?? []).entries()) {
			const at = `messages[${i}].tool_calls[${k}]`;
			const fn = call.function as Json | undefined;
			const extra = Object.keys(call).find((key) => !["id", "type", "function", "extra_content"].includes(key));
			if (extra) return `Unrecognized request argument supplied: ${at}.${extra}`;
			if (typeof call.id !== "string" || call.id === "") return `Missing required parameter: '${at}.id'.`;
			if (call.id.length > 40 && !longIds.has(call.id))
				return `Invalid '${at}.id': string too long. Expected a string with maximum length 40, but got a string with length ${call.id.length} instead.`;
			if (call.type !== "function") return `Missing required parameter: '${at}.type'.`;
			if (typeof fn?.name !== "string" || !NAME.test(fn.name))
				return `Invalid '${at}.function.name': string does not match pattern. Expected a string that matches the pattern '^[a-zA-Z0-9_-]+$'.`;
			if (typeof fn.arguments !== "string") return `Invalid type for '${at}.function.arguments': expected a string, but got an object instead.`;
			if (!isObject(fn.arguments)) return `Invalid '${at}.function.arguments': failed to parse tool call arguments as JSON`;
		}
	}
	return undefined;
}

function orderBreaks(messages: readonly Json[]): string | undefined {
	const used = new Set<unknown>();
	let open: unknown[] = [];
	const unanswered = () =>
		`An assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'. The following tool_call_ids did not have response messages: ${open.join(", ")}`;
	for (const message of messages) {
		if (message.role === "tool") {
			if (!open.includes(message.tool_call_id))
				return "Invalid parameter: messages with role 'tool' must be a response to a preceeding message with 'tool_calls'.";
			open = open.filter((id) => id !== message.tool_call_id);
			continue;
		}
		if (open.length > 0) return unanswered();
		for (const call of (message.tool_calls ?? []) as readonly Json[]) {
			if (used.has(call.id)) return `Duplicate value for 'tool_call_id' of '${call.id}'`;
			used.add(call.id);
			open.push(call.id);
		}
	}
	if (open.length > 0) return unanswered();
	const last = messages.at(-1)?.role;
	return last === "user" || last === "tool" ? undefined : `Expected last role User or Tool (or Assistant with prefix True) for serving but got ${last}`;
}

function templateBreaks(messages: readonly Json[]): string | undefined {
	for (const [i, { role }] of messages.entries()) {
		const before = messages[i - 1]?.role;
		if ((role === "user" && (before === "tool" || before === "user")) || (role === "assistant" && before === "assistant"))
			return `Unexpected role '${role}' after role '${before}'`;
		if ((role === "system" || role === "developer") && i > 0) return `Unexpected role '${role}' after role '${before}'`;
		if (role === "assistant" && (before === undefined || before === "system" || before === "developer"))
			return "Conversation roles must alternate user/assistant/user/assistant/...";
	}
	return undefined;
}

function isObject(text: string): boolean {
	try {
		const value: unknown = JSON.parse(text);
		return typeof value === "object" && value !== null && !Array.isArray(value);
	} catch {
		return false;
	}
}
