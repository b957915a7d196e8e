/** How much fits into a context window, and how much a request is. */
import type { Message, Model, ModelRequest, Usage } from "./model.js";

export type ContextWindow = Model["window"];

const DEFAULT_TOKENS = 32_768;
/** For English text and code; a token of another script has fewer, so an estimate errs towards too little. The next usage corrects it. */
const CHARS_PER_TOKEN = 3.5;

/** Returns the settings' number, else the endpoint's, else a size that nearly every model has. */
export function windowOf(config: number | undefined, endpoint: number | undefined): ContextWindow {
	if (config !== undefined) return { tokens: config, from: "config" };
	return endpoint === undefined ? { tokens: DEFAULT_TOKENS, from: "default" } : { tokens: endpoint, from: "endpoint" };
}

/** `last`: what the endpoint counted for the first `messages` of these, its answer included. Without it everything is counted by its characters. */
export function estimateTokens(request: ModelRequest, last?: { readonly usage: Usage; readonly messages: number }): number {
	const since = last ? request.messages.slice(last.messages) : request.messages;
	const chars = since.reduce((sum, message) => sum + charsOf(message), 0) + (last ? 0 : request.system.length + JSON.stringify(request.tools).length);
	return (last ? last.usage.input + last.usage.output : 0) + tokensOf(chars);
}

export const tokensOf = (chars: number): number => Math.ceil(chars / CHARS_PER_TOKEN);

/** Each message costs some characters for its role and its place. */
export function charsOf(message: Message): number {
	const FRAME = 12;
	if (message.role !== "assistant") return FRAME + message.text.length;
	const calls = message.calls.reduce((sum, call) => sum + FRAME + call.name.length + call.args.length, 0);
	return FRAME + message.text.length + calls + message.reasoning.reduce((sum, block) => sum + block.text.length, 0);
}
