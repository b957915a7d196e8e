/** Subscriptions to logs: one watch for each log, however many want it, told when it grew. */
import { setTimeout as sleep } from "node:timers/promises";
import { HoldfastError } from "../../base/index.js";
import type { Process } from "../../process/index.js";

/** After one update the next comes no sooner: a flood is one update a second. */
const PAUSE_MS = 1_000;
const MOST = 256;

export class LogWatches {
	readonly #changed: (uri: string) => void;
	readonly #watches = new Map<string, { wanted: number; stop: AbortController }>();

	constructor(changed: (uri: string) => void) {
		this.#changed = changed;
	}

	/** Returns what ends it. */
	add(uri: string, process: Process): () => void {
		let watch = this.#watches.get(uri);
		if (!watch) {
			if (this.#watches.size >= MOST) throw new HoldfastError("LIMIT", `${MOST} logs are watched already; unsubscribe from one first`);
			watch = { wanted: 0, stop: new AbortController() };
			this.#watches.set(uri, watch);
			void this.#follow(uri, process, watch.stop.signal);
		}
		const mine = watch;
		mine.wanted++;
		let ended = false;
		return () => {
			if (ended) return;
			ended = true;
			if (--mine.wanted > 0) return;
			mine.stop.abort();
			if (this.#watches.get(uri) === mine) this.#watches.delete(uri);
		};
	}

	close(): void {
		for (const { stop } of this.#watches.values()) stop.abort();
		this.#watches.clear();
	}

	async #follow(uri: string, process: Process, signal: AbortSignal): Promise<void> {
		try {
			for (let from = process.log.bounds().end; await grows(process, from, signal); from = process.log.bounds().end) {
				this.#changed(uri);
				await sleep(PAUSE_MS, undefined, { signal });
			}
		} catch {
			// unsubscribed, or pruned: there is nothing left to tell
		}
	}
}

/** Waits for the first byte from an offset on; false when there will be none. Reads no more than that, so a flood costs nothing. */
async function grows(process: Process, from: number, signal: AbortSignal): Promise<boolean> {
	for await (const _slice of process.follow({ from, signal })) return !signal.aborted;
	return false;
}
