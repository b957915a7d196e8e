/** Anthropic messages: what a request must be. */

type Json = Readonly<Record<string, unknown>>;

/** Those before 4.6 think with a budget of tokens only, those after it refuse one. */
const BUDGET_MODELS = /^claude-(3|(opus|sonnet|haiku)-4-(20|0|1|5))/;
const ADAPTIVE_MODELS = /^claude-[a-z]+-(4-[7-9]|[5-9])/;
const ID = /^[a-zA-Z0-9_-]{1,64}$/;

export function anthropicBreaks(body: Json): string | undefined {
	if (typeof body.model !== "string" || body.model === "") return "model: Field required";
	if (typeof body.max_tokens !== "number" || body.max_tokens < 1) return "max_tokens: Field required";
	if (!Array.isArray(body.messages) || body.messages.length === 0) return "messages: at least one message is required";
	const messages = body.messages as readonly Json[];
	const read = messages.map(({ role, content }) => ({
		role,
		blocks: typeof content === "string" ? [{ type: "text", text: content }] : ((content ?? []) as Json[]),
	}));
	return toolsBreak(body.tools) ?? blocksBreak(read) ?? orderBreaks(read) ?? cacheBreaks(body, read) ?? thinkingBreaks(body, read);
}

type Read = readonly { readonly role: unknown; readonly blocks: readonly Json[] }[];

function toolsBreak(tools: unknown): string | undefined {
	if (tools === undefined) return undefined;
	if (!Array.isArray(tools)) return "tools: Input should be a valid list";
	const names = (tools as Json[]).map(({ name }) => name);
	for (const [i, tool] of (tools as Json[]).entries()) {
		if (typeof tool.name !== "string" || !/^[a-zA-Z0-9_-]{1,128}$/.test(tool.name))
			return `tools.${i}.custom.name: String should match pattern '^[a-zA-Z0-9_-]{1,128}$'`;
		if ((tool.input_schema as Json | undefined)?.type !== "object") return `tools.${i}.custom.input_schema.type: Field required`;
	}
	return new Set(names).size < names.length ? "tools: Tool names must be unique." : undefined;
}

function blocksBreak(messages: Read): string | undefined {
	for (const [i, { role, blocks }] of messages.entries()) {
		if (role !== "user" && role !== "assistant") return `messages.${i}.role: Input should be 'user' or 'assistant'`;
		if (blocks.length === 0) return `messages.${i}: all messages must have non-empty content except for the optional final assistant message`;
		for (const [k, block] of blocks.entries()) {
			const at = `messages.${i}.content.${k}`;
			if (block.type === "text") {
				if (typeof block.text !== "string") return `${at}.text.text: Field required`;
				if (block.text === "") return "messages: text content blocks must be non-empty";
				if (block.text.trim() === "") return "messages: text content blocks must contain non-whitespace text";
				if (role === "assistant" && k === blocks.length - 1 && block.text.trimEnd() !== block.text)
					return "messages: final assistant content cannot end with trailing whitespace";
			} else if (block.type === "tool_use") {
				if (role !== "assistant") return `${at}: \`tool_use\` blocks can only be in \`assistant\` messages`;
				if (typeof block.id !== "string" || !ID.test(block.id)) return `${at}.tool_use.id: String should match pattern '^[a-zA-Z0-9_-]+$'`;
				if (typeof block.name !== "string" || block.name === "") return `${at}.tool_use.name: Field required`;
				if (typeof block.input !== "object" || block.input === null || Array.isArray(block.input))
					return `${at}.tool_use.input: Input should be a valid dictionary`;
			} else if (block.type === "tool_result") {
				if (role !== "user") return `${at}: \`tool_result\` blocks can only be in \`user\` messages`;
				if (typeof block.tool_use_id !== "string" || !ID.test(block.tool_use_id))
					return `${at}.tool_result.tool_use_id: String should match pattern '^[a-zA-Z0-9_-]+$'`;
			} else if (block.type === "thinking") {
				if (role !== "assistant") return `${at}: \`thinking\` blocks can only be in \`assistant\` messages`;
				if (typeof block.signature !== "string" || block.signature === "") return `${at}.thinking.signature: Field required`;
				if (typeof block.thinking !== "string") return `${at}.thinking.thinking: Field required`;
			} else if (block.type === "redacted_thinking") {
				if (typeof block.data !== "string" || block.data === "") return `${at}.redacted_thinking.data: Field required`;
			} else return `${at}: Input tag '${block.type}' found using 'type' does not match any of the expected tags`;
		}
	}
	return undefined;
}

function orderBreaks(messages: Read): string | undefined {
	const used = new Set<unknown>();
	if (messages[0]?.role !== "user") return 'messages: first message must use the "user" role';
	for (const [i, { role, blocks }] of messages.entries()) {
		if (messages[i - 1]?.role === role) return `messages: roles must alternate between "user" and "assistant", but found multiple "${role}" roles in a row`;
		if (role === "assistant") {
			const first = blocks.findIndex(({ type }) => type === "tool_use");
			const uses = blocks.filter(({ type }) => type === "tool_use");
			if (first >= 0 && blocks.slice(first).length !== uses.length)
				return `messages.${i}: \`tool_use\` ids were found without \`tool_result\` blocks immediately after: ${blocks[first]?.id}. Each \`tool_use\` block must have a corresponding \`tool_result\` block in the next message.`;
			for (const { id } of uses) {
				if (used.has(id)) return "messages: `tool_use` ids must be unique";
				used.add(id);
			}
			const results = (messages[i + 1]?.blocks ?? []).filter(({ type }) => type === "tool_result").map(({ tool_use_id }) => tool_use_id);
			const without = uses.filter(({ id }) => !results.includes(id)).map(({ id }) => id);
			if (without.length > 0)
				return `messages.${i}: \`tool_use\` ids were found without \`tool_result\` blocks immediately after: ${without.join(", ")}. Each \`tool_use\` block must have a corresponding \`tool_result\` block in the next message.`;
			const twice = results.find((id, at) => results.indexOf(id) !== at);
			if (twice !== undefined) return `messages.${i + 1}: each tool_use must have a single result. Found multiple \`tool_result\` blocks with id: ${twice}`;
			continue;
		}
		const calls = (messages[i - 1]?.blocks ?? []).filter(({ type }) => type === "tool_use").map(({ id }) => id);
		let said = false;
		for (const [k, block] of blocks.entries()) {
			if (block.type !== "tool_result") said = true;
			else if (!calls.includes(block.tool_use_id))
				return `messages.${i}.content.${k}: unexpected \`tool_use_id\` found in \`tool_result\` blocks: ${block.tool_use_id}. Each \`tool_result\` block must have a corresponding \`tool_use\` block in the previous message.`;
			else if (said) return `messages.${i}: \`tool_result\` blocks must come first in the content of a message`;
		}
	}
	return messages.at(-1)?.role === "user" ? undefined : "This model does not support assistant message prefill. The conversation must end with a user message.";
}

function cacheBreaks(body: Json, messages: Read): string | undefined {
	const lists = [body.system, body.tools, ...messages.map(({ blocks }) => blocks)];
	const blocks = lists.flatMap((list) => (Array.isArray(list) ? (list as Json[]) : []));
	const marked = blocks.filter(({ cache_control }) => cache_control !== undefined);
	if (marked.some(({ type }) => type === "thinking" || type === "redacted_thinking")) return "cache_control: Extra inputs are not permitted in thinking blocks";
	if (marked.some(({ type, text }) => type === "text" && text === "")) return "cache_control cannot be set for empty text blocks";
	return marked.length > 4 ? `A maximum of 4 blocks with cache_control may be provided. Found ${marked.length}.` : undefined;
}

function thinkingBreaks(body: Json, messages: Read): string | undefined {
	const thinking = body.thinking as Json | undefined;
	const effort = (body.output_config as Json | undefined)?.effort;
	if (effort !== undefined && !["low", "medium", "high", "max"].includes(String(effort)))
		return "output_config.effort: Input should be 'low', 'medium', 'high' or 'max'";
	if (thinking !== undefined && !["enabled", "adaptive", "disabled"].includes(String(thinking.type)))
		return `thinking: Input tag '${thinking.type}' found using 'type' does not match any of the expected tags: 'adaptive', 'disabled', 'enabled'`;
	if (thinking?.type === "adaptive" && BUDGET_MODELS.test(String(body.model))) return "adaptive thinking is not supported on this model";
	if (thinking?.type !== "enabled") return undefined;
	if (ADAPTIVE_MODELS.test(String(body.model)))
		return '"thinking.type.enabled" is not supported for this model. Use "thinking.type.adaptive" and "output_config.effort" to control thinking behavior.';
	if (typeof thinking.budget_tokens !== "number" || thinking.budget_tokens < 1024)
		return "thinking.enabled.budget_tokens: Input should be greater than or equal to 1024";
	if (thinking.budget_tokens >= Number(body.max_tokens)) return "`max_tokens` must be greater than `thinking.budget_tokens`";
	const last = messages.findLast(({ role }) => role === "assistant");
	const first = last?.blocks[0]?.type;
	if (last?.blocks.some(({ type }) => type === "tool_use") && first !== "thinking" && first !== "redacted_thinking")
		return `messages.${messages.indexOf(last)}.content.0.type: Expected \`thinking\` or \`redacted_thinking\`, but found \`${first}\`. When \`thinking\` is enabled, a final \`assistant\` message must start with a thinking block.`;
	return undefined;
}
