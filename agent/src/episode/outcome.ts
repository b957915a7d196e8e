/** How an episode ended. Only a scored one has a reward: what went wrong outside of the model never counts as 0. */
import type { Usage } from "../model/index.js";

/** Why the agent stopped: it was done, or a limit ended it. Each of them is scored. */
export type EpisodeEnd = "finished" | "turns" | "deadline" | "too_long" | "stopped";

/** A file of the episode's folder that a score rests on. */
export interface Evidence {
	readonly file: string;
	readonly sha256: string;
	readonly bytes: number;
}

export interface Score {
	readonly reward: number;
	readonly parts?: Readonly<Record<string, number>>;
	readonly evidence: readonly Evidence[];
	/** Why the agent may have written the reward itself. */
	readonly tamperable?: string;
}

/** Codes of errors, by the part whose failure it is. */
export const ERROR_CODES = {
	/** `failed`: it did not answer, after the retries of the loop. */
	model: ["failed"],
	/** `unavailable`: it could not be made or reached. `replaced`: it is not the one that the agent worked in. */
	place: ["unavailable", "replaced"],
	environment: ["image", "build", "build_timeout", "healthcheck", "setup", "agent_program"],
	/** `reward_…`: the file is not there, has nothing in it, or something that is no reward. */
	scorer: ["reward_missing", "reward_empty", "reward_invalid", "timeout", "artifacts", "failed"],
	/** `stopped`: the run was. `cancelled`: a person ended this one. `disk`: it is full. */
	runner: ["stopped", "cancelled", "disk", "failed"],
} as const;

export type ErrorOf = keyof typeof ERROR_CODES;
export type EpisodeErrorCode = (typeof ERROR_CODES)[ErrorOf][number];

export interface EpisodeFailure {
	readonly kind: "error";
	readonly of: ErrorOf;
	readonly code: EpisodeErrorCode;
	readonly words: string;
	/** Another attempt may help. */
	readonly again: boolean;
}

export type Outcome =
	| { readonly kind: "scored"; readonly score: Score; readonly end: EpisodeEnd }
	/** There is nothing to score it by: its trajectory is the result. */
	| { readonly kind: "recorded"; readonly end: EpisodeEnd }
	| EpisodeFailure;

/** Thrown wherever an episode cannot go on. */
export class EpisodeError<Of extends ErrorOf = ErrorOf> extends Error {
	override readonly name = "EpisodeError";
	readonly of: Of;
	readonly code: (typeof ERROR_CODES)[Of][number];
	readonly again: boolean;

	constructor(of: Of, code: (typeof ERROR_CODES)[Of][number], words: string, options: { readonly again?: boolean; readonly cause?: unknown } = {}) {
		super(words, { cause: options.cause });
		this.of = of;
		this.code = code;
		this.again = options.again ?? false;
	}
}

const WORDS = 1_000;

export const failureOf = ({ of, code, message, again }: EpisodeError): EpisodeFailure => ({ kind: "error", of, code, words: message.slice(0, WORDS), again });

/** One tool of an episode. */
export interface ToolCount {
	readonly tool: string;
	readonly count: number;
	readonly failure: number;
}

/** The result of an attempt, as the ledger keeps it. */
export interface EpisodeResult {
	readonly outcome: Outcome;
	readonly conversation: string | null;
	readonly usage: Usage;
	readonly tools: readonly ToolCount[];
	readonly seconds: number;
	/** Processes, shells and boxes that were left at its end and were killed, a line each. */
	readonly ended: readonly string[];
	/** Nothing of its task is left. */
	readonly gone: boolean;
}
