/** What a conversation is on the wire, in each format, and which rule of it is broken: by our own check and by the model server's, which shares nothing with it. */
import { brokenRule } from "../../../src/model/check.js";
import { type EndpointSettings, flagsOf, type Message, type ModelRequest, type Reasoning, type WireFormat } from "../../../src/model/index.js";
import { WIRES } from "../../../src/model/open.js";
import type { WireSetup } from "../../../src/model/wire.js";
import { anthropicBreaks } from "../../model-server/rules-anthropic.js";
import { chatBreaks } from "../../model-server/rules-chat.js";
import { responsesBreaks } from "../../model-server/rules-responses.js";

export const FORMATS = ["chat", "responses", "anthropic"] as const satisfies readonly WireFormat[];

export function setupOf(format: WireFormat, options: { readonly model?: string; readonly bridge?: boolean } = {}): WireSetup {
	const { model = `model-of-${format}`, bridge = false } = options;
	const endpoint: EndpointSettings = { url: "http://127.0.0.1:9/v1", format, bridge };
	return { model, from: `${format} 127.0.0.1:9/v1 ${model}`, flags: flagsOf(endpoint) };
}

export function bodyOf(messages: readonly Message[], setup: WireSetup, format: WireFormat): Readonly<Record<string, unknown>> {
	const request: ModelRequest = { system: "You are an agent.", messages, tools: [] };
	return WIRES[format].body(request, setup);
}

/** The first rule that a request with these messages would break, in any format. */
export function broken(messages: readonly Message[]): string | undefined {
	for (const format of FORMATS)
		for (const bridge of format === "chat" ? [false, true] : [false]) {
			const body = bodyOf(messages, setupOf(format, { bridge }), format);
			const rule = brokenRule(format, body, { bridge }) ?? serverRule(format, body, bridge);
			if (rule !== undefined) return `${format}${bridge ? " with bridge" : ""}: ${rule}`;
		}
	return undefined;
}

function serverRule(format: WireFormat, body: Readonly<Record<string, unknown>>, strict: boolean): string | undefined {
	if (format === "chat") return chatBreaks(body, { strict, longIds: new Set() });
	return format === "anthropic" ? anthropicBreaks(body) : responsesBreaks(body);
}

/** Reasoning as a model of that format writes it before its text and calls. */
export function reasoningOf(format: WireFormat, text: string, id: string): Reasoning {
	const data = {
		chat: { field: "reasoning_content" },
		responses: { item: { type: "reasoning", id: `rs_${id}`, summary: [{ type: "summary_text", text }], encrypted_content: `sealed ${id}` }, text: 0, calls: 0 },
		anthropic: { at: 0, block: { type: "thinking", thinking: text, signature: `signed ${id}` } },
	};
	return { text, format, from: setupOf(format).from, data: data[format] };
}
