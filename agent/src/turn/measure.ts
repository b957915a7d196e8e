/** How long a request is, in tokens: characters, set right by what the endpoint said about the last one. */
import type { Message, ToolShown } from "../model/index.js";
import { type Entry, history, roughTokens } from "../talk/index.js";

const CHARS_PER_TOKEN = 3.5;
/** An endpoint's count differs from our estimate; by more than this it counts something else. */
const [LEAST, MOST] = [0.6, 2.5];

export const overheadOf = (system: string, tools: readonly ToolShown[]): number => Math.ceil((system.length + JSON.stringify(tools).length) / CHARS_PER_TOKEN);

export function requestMeasure(entries: readonly Entry[], overhead: number): (messages: readonly Message[]) => number {
	const factor = factorOf(entries, overhead);
	return (messages) => Math.ceil(roughTokens(messages) * factor);
}

function factorOf(entries: readonly Entry[], overhead: number): number {
	const at = entries.findLastIndex((entry) => entry.t === "assistant" && entry.usage !== undefined && !entry.usage.estimated);
	const last = entries[at];
	if (last?.t !== "assistant" || !last.usage) return 1;
	const estimated = roughTokens(history(entries.slice(0, at)));
	const counted = last.usage.input - overhead;
	return estimated > 500 && counted > 0 ? Math.min(MOST, Math.max(LEAST, counted / estimated)) : 1;
}
