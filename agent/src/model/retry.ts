/**
 * When a request is made again: 5 tries for what passes (5xx, overload, rate limits), 3 new ones for a stream that broke. Between them 2 s, doubled each
 * time, at most 30 s; or what the endpoint says, up to 60 s. Beyond that the caller is told until when. Every retry is shown.
 */
import { setTimeout as delay } from "node:timers/promises";
import type { Clock } from "../base/index.js";
import { type Answer, ModelError, type Piece } from "./model.js";

export interface RetryClock extends Clock {
	/** Rejects with the signal's reason when it aborts. */
	sleep(ms: number, signal: AbortSignal): Promise<void>;
	/** From 0 to 1. */
	random(): number;
}

export const retryClock: RetryClock = {
	now: () => Date.now(),
	random: () => Math.random(),
	sleep: async (ms, signal) => {
		await delay(ms, undefined, { signal }).catch(() => signal.throwIfAborted());
	},
};

const TRIES = 5;
const NEW_TRIES_AFTER_CUT = 3;
const FIRST_MS = 2_000;
const MOST_MS = 30_000;
const JITTER = 0.25;
/** A person waits that long; not longer. */
const MOST_OBEYED_MS = 60_000;

export async function* withRetries(attempt: () => AsyncGenerator<Piece, Answer>, clock: RetryClock, signal: AbortSignal): AsyncGenerator<Piece, Answer> {
	const failed = { before: 0, inside: 0 };
	for (;;) {
		try {
			return yield* attempt();
		} catch (error) {
			if (!(error instanceof ModelError)) throw error;
			const inside = error.kind === "cut" || error.details.inStream === true;
			if (error.kind !== "again" && error.kind !== "later" && error.kind !== "cut") throw error;
			const asked = error.details.retryAfterMs;
			if (asked !== undefined && asked > MOST_OBEYED_MS) throw tooLate(error, asked, clock.now());
			const count = inside ? ++failed.inside : ++failed.before;
			if (count > (inside ? NEW_TRIES_AFTER_CUT : TRIES - 1)) throw gaveUp(error, failed.before + failed.inside);
			const waitMs = Math.round((asked ?? Math.min(MOST_MS, FIRST_MS * 2 ** (count - 1))) * (1 + JITTER * clock.random()));
			yield { type: "retry", kind: error.kind, why: error.message, waitMs, attempt: failed.before + failed.inside + 1 };
			await clock.sleep(waitMs, signal);
		}
	}
}

const gaveUp = (error: ModelError, tries: number): ModelError =>
	new ModelError(error.kind, `${error.message}; it failed ${tries} times, so try again later, or take another model`, error.details);

function tooLate(error: ModelError, waitMs: number, now: number): ModelError {
	const until = new Date(now + waitMs);
	const day = until.toDateString() === new Date(now).toDateString() ? "" : `${until.getFullYear()}-${two(until.getMonth() + 1)}-${two(until.getDate())} `;
	return new ModelError(
		error.kind,
		`${error.message}; it takes no requests until ${day}${two(until.getHours())}:${two(until.getMinutes())}, so go on then, or take another model`,
		error.details,
	);
}

const two = (value: number): string => String(value).padStart(2, "0");
