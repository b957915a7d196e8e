import type { TurnEvent } from "../../turn/index.js";

const SECOND_MS = 1_000;

/** `… answered 503; again in 2 s (try 2)` */
export function retryText({ why, waitMs, attempt }: Extract<TurnEvent, { type: "retry" }>): string {
	return `${why}; ${waitMs >= SECOND_MS ? `again in ${Math.round(waitMs / SECOND_MS)} s` : "again"} (try ${attempt})`;
}
