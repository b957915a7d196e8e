/** The time that limits and intervals go by. Tests bring a clock of their own. */
export interface Clock {
	/** Milliseconds, as Date.now(): they are kept on disk, and the next program goes on with them. */
	now(): number;
	/** Returns what cancels it. */
	after(ms: number, run: () => void): () => void;
}

export const systemClock: Clock = {
	now: Date.now,
	after(ms, run) {
		const timer = setTimeout(run, Math.min(ms, 2 ** 31 - 1)); // who is called too early looks, and waits on
		return () => clearTimeout(timer);
	},
};
