/**
 * Sizes transfers: each takes a fraction of a second, since other users of the same link wait for it. Several are in flight at a time, to hide the
 * round trip.
 */
const MIB = 1024 * 1024;
const MOST = 8 * MIB;
const FAST_MS = 150;
const SLOW_MS = 1_000;
export const UNDER_WAY = 3;

export class Pace {
	size: number;
	readonly #least: number;

	/** `least`: the initial size, and the size after a slow transfer. For one file, a MiB: the unit of comparison. */
	constructor(least = MIB) {
		this.#least = least;
		this.size = least;
	}

	/** Runs `move`, which transfers `bytes`, and adapts the size to its time. */
	async timed<T>(bytes: number, move: () => Promise<T>): Promise<T> {
		const began = performance.now();
		const result = await move();
		const ms = performance.now() - began;
		if (ms > SLOW_MS) this.size = this.#least;
		else if (ms < FAST_MS * UNDER_WAY && bytes >= this.size) this.size = Math.min(MOST, this.size * 4);
		return result;
	}
}

/** Runs a few jobs at a time; throws the first failure after all started jobs have ended. */
export class Lanes {
	readonly #under = new Set<Promise<void>>();
	#failure: { readonly error: unknown } | undefined;

	async add(work: () => Promise<void>): Promise<void> {
		while (this.#under.size >= UNDER_WAY) await Promise.race(this.#under);
		if (this.#failure) return this.end();
		const one: Promise<void> = work()
			.catch((error: unknown) => {
				this.#failure ??= { error };
			})
			.finally(() => this.#under.delete(one));
		this.#under.add(one);
	}

	async end(): Promise<void> {
		await Promise.all(this.#under);
		if (this.#failure) throw this.#failure.error;
	}
}
