/** Waits between tries: doubled each time, up to the longest; the signal ends a wait at once. */
import type { Incoming, PlatformEvents, Tapped } from "./platform.js";

export interface Pace {
	readonly firstMs: number;
	readonly longestMs: number;
}

export const USUAL_PACE: Pace = { firstMs: 1000, longestMs: 60_000 };

export class Backoff {
	readonly #pace: Pace;
	#next: number;

	constructor(pace: Pace) {
		this.#pace = pace;
		this.#next = pace.firstMs;
	}

	reset(): void {
		this.#next = this.#pace.firstMs;
	}

	/** Waits; resolves early when the signal aborts. */
	async wait(signal: AbortSignal): Promise<void> {
		const ms = this.#next;
		this.#next = Math.min(this.#next * 2, this.#pace.longestMs);
		await pause(ms, signal);
	}
}

export function pause(ms: number, signal: AbortSignal): Promise<void> {
	if (signal.aborted) return Promise.resolve();
	return new Promise((resolve) => {
		const done = (): void => {
			clearTimeout(timer);
			signal.removeEventListener("abort", done);
			resolve();
		};
		const timer = setTimeout(done, ms);
		signal.addEventListener("abort", done);
	});
}

/**
 * For platforms that cannot be told "not stored": keeps a message in memory and offers it again until it was stored, so that those behind it wait.
 * Returns false if the signal came first.
 */
export async function offer(store: () => Promise<void>, pace: Pace, signal: AbortSignal): Promise<boolean> {
	const backoff = new Backoff(pace);
	while (!signal.aborted) {
		try {
			await store();
			return true;
		} catch {
			await backoff.wait(signal);
		}
	}
	return false;
}

/** Hands events over one after another, in the order in which they came. */
export class InOrder {
	readonly #on: PlatformEvents;
	readonly #pace: Pace;
	readonly #signal: AbortSignal;
	#last: Promise<unknown> = Promise.resolve();

	constructor(on: PlatformEvents, pace: Pace, signal: AbortSignal) {
		this.#on = on;
		this.#pace = pace;
		this.#signal = signal;
	}

	/** Resolves with whether it was stored. */
	message(message: Incoming): Promise<boolean> {
		return this.do(() => this.#on.message(message));
	}

	tapped(tap: Tapped): Promise<boolean> {
		return this.do(() => this.#on.tapped(tap));
	}

	/** Tried until it succeeds. Resolves with false if the signal came first. */
	do(store: () => Promise<void>): Promise<boolean> {
		const turn = this.#last.then(() => offer(store, this.#pace, this.#signal));
		this.#last = turn;
		return turn;
	}
}
