/** OpenAI responses: what a request must be. */

type Json = Readonly<Record<string, unknown>>;

const NAME = /^[a-zA-Z0-9_-]{1,64}$/;

export function responsesBreaks(body: Json): string | undefined {
	if (typeof body.model !== "string" || body.model === "") return "Missing required parameter: 'model'.";
	if (body.previous_response_id) return `Previous response with id '${body.previous_response_id}' not found.`;
	if (!Array.isArray(body.input)) return "Missing required parameter: 'input'.";
	if (body.input.length === 0) return "Invalid 'input': empty array. Expected an array with minimum length 1, but got an empty array instead.";
	const items = (body.input as readonly Json[]).map((item) => ({ type: "message", ...item }) as Json);
	return effortBreaks(body) ?? toolsBreak(body.tools) ?? shapesBreak(items) ?? callsBreak(items) ?? reasoningBreaks(items) ?? endBreaks(items);
}

const EFFORTS = ["none", "minimal", "low", "medium", "high", "xhigh"];
const SUMMARIES = ["auto", "concise", "detailed"];

function effortBreaks(body: Json): string | undefined {
	if (body.reasoning_effort !== undefined)
		return "Unsupported parameter: 'reasoning_effort'. In the Responses API, this parameter has moved to 'reasoning.effort'.";
	const { effort, summary } = (body.reasoning ?? {}) as Json;
	if (effort !== undefined && !EFFORTS.includes(String(effort)))
		return `Invalid value: '${effort}'. Supported values are: ${EFFORTS.map((one) => `'${one}'`).join(", ")}.`;
	if (summary !== undefined && !SUMMARIES.includes(String(summary)))
		return `Invalid value: '${summary}'. Supported values are: ${SUMMARIES.map((one) => `'${one}'`).join(", ")}.`;
	return undefined;
}

function toolsBreak(tools: unknown): string | undefined {
	const names = new Set<unknown>();
	for (const [i, tool] of ((tools ?? []) as readonly Json[]).entries()) {
		if (tool.type !== "function") return `Invalid value: '${tool.type}'. Supported values are: 'function'.`;
		if (typeof tool.name !== "string" || !NAME.test(tool.name))
			return `Invalid 'tools[${i}].name': string does not match pattern. Expected a string that matches the pattern '^[a-zA-Z0-9_-]+$'.`;
		if (names.has(tool.name)) return `Tool names must be unique: ${tool.name}`;
		names.add(tool.name);
	}
	return undefined;
}

function shapesBreak(items: readonly Json[]): string | undefined {
	for (const [i, item] of items.entries()) {
		if (item.type === "message") {
			if (!["user", "assistant", "system", "developer"].includes(String(item.role)))
				return `Invalid value: '${item.role}'. Supported values are: 'assistant', 'system', 'developer', and 'user'.`;
			const parts =
				typeof item.content === "string"
					? [item.content]
					: Array.isArray(item.content)
						? (item.content as Json[]).map(({ type, text, image_url }) => (type === "input_image" ? image_url : text))
						: [];
			if (parts.length === 0 || parts.some((part) => typeof part !== "string")) return `Invalid type for 'input[${i}].content'.`;
			if (parts.every((part) => part === "")) return `Invalid 'input[${i}].content': empty string.`;
		} else if (item.type === "function_call") {
			if (typeof item.call_id !== "string" || item.call_id === "") return `Missing required parameter: 'input[${i}].call_id'.`;
			if (item.call_id.length > 64)
				return `Invalid 'input[${i}].call_id': string too long. Expected a string with maximum length 64, but got a string with length ${item.call_id.length} instead.`;
			if (typeof item.name !== "string" || !NAME.test(item.name))
				return `Invalid 'input[${i}].name': string does not match pattern. Expected a string that matches the pattern '^[a-zA-Z0-9_-]+$'.`;
			if (typeof item.arguments !== "string") return `Invalid type for 'input[${i}].arguments': expected a string, but got an object instead.`;
		} else if (item.type === "function_call_output") {
			if (typeof item.call_id !== "string" || item.call_id === "") return `Missing required parameter: 'input[${i}].call_id'.`;
			if (typeof item.output !== "string" && !Array.isArray(item.output)) return `Missing required parameter: 'input[${i}].output'.`;
		} else if (item.type === "reasoning") {
			if (!Array.isArray(item.summary)) return `Missing required parameter: 'input[${i}].summary'.`;
			if (typeof item.encrypted_content !== "string")
				return `Item with id '${item.id}' not found. Items are not persisted when \`store\` is set to false. Try again with \`store\` set to true, or remove this item from your input.`;
		} else if (item.type === "item_reference") {
			return `Item with id '${item.id}' not found. Items are not persisted when \`store\` is set to false. Try again with \`store\` set to true, or remove this item from your input.`;
		} else return `Invalid value: '${item.type}'. Supported values are: 'message', 'function_call', 'function_call_output', 'reasoning'.`;
	}
	return undefined;
}

function callsBreak(items: readonly Json[]): string | undefined {
	const state = new Map<unknown, "called" | "answered">();
	for (const { type, call_id } of items) {
		if (type === "function_call") {
			if (state.has(call_id)) return `Duplicate function_call with call_id ${call_id}.`;
			state.set(call_id, "called");
		} else if (type === "function_call_output") {
			if (!state.has(call_id)) return `No tool call found for function call output with call_id ${call_id}.`;
			if (state.get(call_id) === "answered") return `Duplicate function_call_output with call_id ${call_id}.`;
			state.set(call_id, "answered");
		}
	}
	for (const [id, now] of state) if (now === "called") return `No tool output found for function call ${id}.`;
	return undefined;
}

function reasoningBreaks(items: readonly Json[]): string | undefined {
	for (const [i, item] of items.entries()) {
		const next = items[i + 1];
		const belongs = next?.type === "function_call" || next?.type === "reasoning" || (next?.type === "message" && next.role === "assistant");
		if (item.type === "reasoning" && !belongs) return `Item '${item.id}' of type 'reasoning' was provided without its required following item.`;
	}
	return undefined;
}

function endBreaks(items: readonly Json[]): string | undefined {
	const last = items.at(-1);
	return last?.type === "function_call_output" || (last?.type === "message" && last.role === "user")
		? undefined
		: "The last item of 'input' must be a user message or the output of a tool.";
}
