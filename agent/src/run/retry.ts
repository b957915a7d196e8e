/** Whether a failure is made again, and when. What the model did is its result; only what is out of its hands gets another attempt. */
import type { Outcome } from "../episode/index.js";

type Failure = Extract<Outcome, { kind: "error" }>;

/** Attempts after the first, by whose failure it was. A scorer that failed would fail again: `rescore` is for that. */
const MOST: Readonly<Record<Failure["of"], number>> = { place: 2, runner: 2, model: 1, environment: 1, scorer: 0 };

export const RETRY_MS = 5_000;

/** Milliseconds until another attempt begins; undefined: this failure is the result. `failures`: of this episode, before this one. */
export function retryAfter(outcome: Outcome, failures: number, firstMs = RETRY_MS, random: () => number = Math.random): number | undefined {
	if (outcome.kind !== "error" || !outcome.again || failures >= MOST[outcome.of]) return undefined;
	return firstMs * 2 ** failures * (0.5 + random());
}
