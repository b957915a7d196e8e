/** How an episode ended. Only a scored one has a reward: what went wrong outside of the model never counts as 0. */
import type { Usage } from "../model/index.js";

/** Why the agent stopped: it was done, or a limit ended it. Each of them is scored. */
export type EpisodeEnd = "finished" | "turns" | "deadline" | "too_long" | "invalid_calls" | "stopped";

export type Outcome =
	| { readonly kind: "scored"; readonly reward: number; readonly end: EpisodeEnd }
	/** There is nothing to score it by: its trajectory is the result. */
	| { readonly kind: "recorded"; readonly end: EpisodeEnd }
	| { readonly kind: "error"; readonly of: "model" | "place" | "scorer" | "runner"; readonly words: string; readonly again: boolean };

/** One tool of an episode. */
export interface ToolCount {
	readonly tool: string;
	readonly count: number;
	readonly failure: number;
}

/** What an attempt leaves in the ledger. */
export interface EpisodeResult {
	readonly outcome: Outcome;
	readonly conversation: string | null;
	readonly usage: Usage;
	readonly tools: readonly ToolCount[];
	readonly seconds: number;
	/** What was still running at its end and was killed, a line each. */
	readonly ended: readonly string[];
	/** Nothing of its task is left. */
	readonly gone: boolean;
}
