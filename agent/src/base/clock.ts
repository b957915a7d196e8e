/** The time, as a seam: tests stand it still or set it back. */
export interface Clock {
	/** Milliseconds since 1970. */
	now(): number;
}

export const systemClock: Clock = { now: () => Date.now() };

export const isoTime = (clock: Clock): string => new Date(clock.now()).toISOString();
