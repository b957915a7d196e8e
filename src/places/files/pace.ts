/**
 * How much to move at once: as much as goes in a fraction of a second, since whoever else uses the same link waits for it. Several are under way at
 * a time, so that nobody waits for an answer.
 */
const MIB = 1024 * 1024;
const MOST = 8 * MIB;
const FAST_MS = 150;
const SLOW_MS = 1_000;
export const UNDER_WAY = 3;

export class Pace {
	size: number;
	readonly #least: number;

	/** `least`: what it begins with, and goes back to when that is too much. Of one file, a MiB: what it is compared in. */
	constructor(least = MIB) {
		this.#least = least;
		this.size = least;
	}

	/** What `move` moves is so much. */
	async timed<T>(bytes: number, move: () => Promise<T>): Promise<T> {
		const began = performance.now();
		const result = await move();
		const ms = performance.now() - began;
		if (ms > SLOW_MS) this.size = this.#least;
		else if (ms < FAST_MS * UNDER_WAY && bytes >= this.size) this.size = Math.min(MOST, this.size * 4);
		return result;
	}
}

/** A few things at a time; the first that fails is told, when all that were under way are over. */
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
