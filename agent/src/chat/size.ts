import { AgentError } from "../base/index.js";
import { type Model, tokensOf } from "../model/index.js";

const MOST_OF_WINDOW = 0.75;

/** Throws if a message can never fit into the window: it would be in the way of everything after it. `instead`: what to do. */
export function checkSize(text: string, { name, window }: Pick<Model, "name" | "window">, instead: string): void {
	const wanted = tokensOf(text.length);
	if (wanted <= window.tokens * MOST_OF_WINDOW) return;
	const count = (value: number) => value.toLocaleString("en-US");
	throw new AgentError(
		"INVALID",
		`The message has about ${count(wanted)} tokens, and the window of ${name} has ${count(window.tokens)}, so it was not sent. ${instead}`,
	);
}
