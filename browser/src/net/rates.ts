/** Keeps requests to one host apart, and their number small: a model asks for ten pages of a site at once. */
import { setTimeout as sleep } from "node:timers/promises";

const GAP_MS = 250;
const MOST_DELAY_S = 10;
const KEPT = 500;

export class Rates {
	/** When the next request to a host may begin, on the clock of `performance`. */
	readonly #next = new Map<string, number>();
	readonly #gapMs: number;

	constructor(gapMs = GAP_MS) {
		this.#gapMs = gapMs;
	}

	/** Waits until it is this request's turn. `delay`: seconds that the site wants. */
	async turn(host: string, delay: number | undefined, signal: AbortSignal | undefined): Promise<void> {
		const now = performance.now();
		const gap = Math.max(this.#gapMs, Math.min(delay ?? 0, MOST_DELAY_S) * 1000);
		const at = Math.max(now, this.#next.get(host) ?? 0);
		this.#next.set(host, at + gap);
		if (this.#next.size > KEPT) for (const [name, time] of this.#next) if (time < now) this.#next.delete(name);
		if (at > now) await sleep(at - now, undefined, signal ? { signal } : {});
	}
}
