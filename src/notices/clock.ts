/** The time that limits and intervals go by. Tests bring a clock of their own. */
import type { Home } from "../base/index.js";

export interface Clock {
	/** Milliseconds, as Date.now(): they are kept on disk, and the next program goes on with them. */
	now(): number;
	/** Returns what cancels it. */
	after(ms: number, run: () => void): () => void;
}

const systemClock: Clock = {
	now: Date.now,
	after(ms, run) {
		const timer = setTimeout(run, Math.min(ms, 2 ** 31 - 1)); // a caller that is woken too early looks, and waits again
		return () => clearTimeout(timer);
	},
};

const clocks = new WeakMap<Home, Clock>();

/** From now on the notices of a home that is about to be used go by this clock, in this program. */
export const useClock = (home: Home, clock: Clock): void => void clocks.set(home, clock);

export const clockOf = (home: Home): Clock => clocks.get(home) ?? systemClock;
