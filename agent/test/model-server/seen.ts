/** A request as the server saw it, with what scripts decide by. */
import type { IncomingHttpHeaders } from "node:http";

export type ServedFormat = "chat" | "responses" | "anthropic";

export interface SeenRequest {
	/** From 1. */
	readonly n: number;
	readonly format: ServedFormat;
	readonly model: string;
	readonly headers: IncomingHttpHeaders;
	readonly body: Readonly<Record<string, unknown>>;
	/** The system prompt. */
	readonly system: string;
	/** The text of the last user message. */
	readonly said: string;
	/** The results at the end of the conversation, in order; empty if the user spoke last. */
	readonly results: readonly { readonly id: string; readonly text: string }[];
	/** Names of the tools that it shows. */
	readonly tools: readonly string[];
	/** Why the body could not be read. */
	readonly unreadable?: string;
}

type Part = { readonly [key: string]: unknown };

export function seen(n: number, format: ServedFormat, headers: IncomingHttpHeaders, text: string): SeenRequest {
	let body: Part = {};
	let unreadable: string | undefined;
	try {
		body = JSON.parse(text) as Part;
		if (typeof body !== "object" || body === null || Array.isArray(body)) throw new Error("not an object");
	} catch {
		body = {};
		unreadable = "We could not parse the JSON body of your request.";
	}
	const list = (format === "responses" ? body.input : body.messages) as unknown;
	const items = Array.isArray(list) ? list.filter((one): one is Part => typeof one === "object" && one !== null) : [];
	const shown = Array.isArray(body.tools) ? (body.tools as Part[]) : [];
	return {
		n,
		format,
		headers,
		body,
		unreadable,
		model: typeof body.model === "string" ? body.model : "",
		system: systemOf(format, body, items),
		said: textOf(items.findLast((item) => item.role === "user" && textOf(item.content) !== "")?.content),
		results: resultsOf(format, items),
		tools: shown.map((tool) => String(tool.name ?? (tool.function as Part | undefined)?.name)),
	};
}

function systemOf(format: ServedFormat, body: Part, items: readonly Part[]): string {
	if (format === "responses" && typeof body.instructions === "string") return body.instructions;
	if (format === "anthropic") return textOf(body.system);
	return textOf(items.find((item) => item.role === "system" || item.role === "developer")?.content);
}

function resultsOf(format: ServedFormat, items: readonly Part[]): { id: string; text: string }[] {
	if (format === "anthropic") {
		const content = items.at(-1)?.content;
		const blocks = Array.isArray(content) ? (content as Part[]) : [];
		return blocks.filter((block) => block.type === "tool_result").map((block) => ({ id: String(block.tool_use_id), text: textOf(block.content) }));
	}
	const isResult = (item: Part) => item.role === "tool" || item.type === "function_call_output";
	const from = items.findLastIndex((item) => !isResult(item)) + 1;
	return items.slice(from).map((item) => ({ id: String(item.tool_call_id ?? item.call_id), text: textOf(item.content ?? item.output) }));
}

function textOf(content: unknown): string {
	if (typeof content === "string") return content;
	if (!Array.isArray(content)) return "";
	return (content as Part[]).map((part) => (typeof part.text === "string" ? part.text : "")).join("");
}
