/** Keeps requests to one host apart, and their number small: a model asks for ten pages of a site at once. */
import { setTimeout as sleep } from "node:timers/promises";
import { WebError } from "../base/index.js";

const GAP_MS = 250;
const MOST_DELAY_S = 10;
const MOST_WAIT_MS = 45_000;
const KEPT = 500;

export class Rates {
	/** When the next request to a host may begin, on the clock of `performance`. */
	readonly #next = new Map<string, number>();
	readonly #gapMs: number;

	constructor(gapMs = GAP_MS) {
		this.#gapMs = gapMs;
	}

	/** Waits until it is this request's turn. `delay`: seconds that the site wants. Throws `WebError` if it would be too long. */
	async turn(host: string, delay: number | undefined, signal: AbortSignal | undefined): Promise<void> {
		const now = performance.now();
		const gap = Math.max(this.#gapMs, Math.min(delay ?? 0, MOST_DELAY_S) * 1000);
		const at = Math.max(now, this.#next.get(host) ?? 0);
		if (at - now > MOST_WAIT_MS)
			throw new WebError(
				`${host} wants ${gap / 1000} s between requests, and the next ${MOST_WAIT_MS / 1000} s are taken by earlier ones; nothing was fetched. Try again later, with fewer of its pages`,
			);
		this.#next.set(host, at + gap);
		if (this.#next.size > KEPT) for (const [name, time] of this.#next) if (time < now) this.#next.delete(name);
		if (at > now) await sleep(at - now, undefined, signal ? { signal } : {});
	}
}
