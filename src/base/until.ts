/** Waits for a condition that a look finds out: look, wait for word of a change, look again. */
import { Wakeup } from "./watch.js";

/** Calls `poke` at every word of a change. Returns a function that ends that. */
export type Watch = (poke: () => void) => () => void;

export interface UntilOptions {
	/** The time by performance.now(). Default: none. */
	readonly deadline?: number;
	readonly signal?: AbortSignal;
	/** Milliseconds after which `look` is called again without word of a change, for conditions without an event. A function is asked after each look. */
	readonly every?: number | (() => number);
}

/**
 * Looks at once, and again whenever `watch` has word of a change. Resolves with the first thing found that is not undefined; with undefined when the
 * deadline has passed or the signal is aborted, after a last look. What `look` throws ends the wait.
 */
export async function until<T extends NonNullable<unknown>>(
	watch: Watch,
	look: () => T | undefined | Promise<T | undefined>,
	{ deadline = Number.POSITIVE_INFINITY, signal, every = Number.POSITIVE_INFINITY }: UntilOptions = {},
): Promise<T | undefined> {
	const wakeup = new Wakeup();
	const unwatch = watch(wakeup.poke);
	try {
		for (;;) {
			const over = signal?.aborted || performance.now() >= deadline;
			const found = await look();
			if (found !== undefined || over) return found;
			const ms = Math.min(typeof every === "number" ? every : every(), deadline - performance.now());
			await wakeup.next(ms === Number.POSITIVE_INFINITY ? undefined : ms, signal);
		}
	} finally {
		unwatch();
	}
}

/** Joins several watches to one. */
export const watchAll =
	(...watches: Watch[]): Watch =>
	(poke) => {
		const ends = watches.map((watch) => watch(poke));
		return () => {
			for (const end of ends) end();
		};
	};

/** Makes the end of a promise into a watch. */
export const watchEnd =
	(of: Promise<unknown>): Watch =>
	(poke) => {
		let end = poke;
		const tell = () => end();
		of.then(tell, tell);
		return () => {
			end = () => {};
		};
	};
