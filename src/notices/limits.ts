/** How often a pattern may report: for one process, and for all of a task. Plain functions over plain state, which is kept on disk. */
import * as z from "zod";

export const WINDOW_MS = 15_000; // one notice a process in so long
export const STRIKES = 3; // windows with drops in a row until its patterns are switched off
export const LIFETIME = 8; // notices a process, ever
export const FLOOD_COUNT = 15; // notices a task …
export const FLOOD_MS = 10_000; // … in so long
export const FLOOD_PAUSE_MS = 30_000; // then none for so long

const time = z.lazy(() => z.number().min(0));
const count = z.lazy(() => z.number().int().min(0));

export const limitSchema = z.lazy(() =>
	z.object({
		delivered: count,
		/** Matching lines that were not reported and not yet told of. */
		suppressed: count,
		/** The end of the window that the last notice opened; 0: there was none. */
		windowEnds: time,
		droppedInWindow: z.boolean(),
		/** Windows with drops in a row, before this one. */
		strikes: count,
	}),
);
export type LimitState = Readonly<z.infer<typeof limitSchema>>;

export const NO_MATCHES_YET: LimitState = { delivered: 0, suppressed: 0, windowEnds: 0, droppedInWindow: false, strikes: 0 };

export type MatchVerdict = "tell" | "drop" | "disable: too often" | "disable: enough";

/** Some lines of a process match: what is to be done, and the state if that is done. */
export function judge(state: LimitState, lines: number, now: number): { verdict: MatchVerdict; next: LimitState } {
	if (isBefore(state.windowEnds, WINDOW_MS, now)) return { verdict: "drop", next: { ...state, suppressed: state.suppressed + lines, droppedInWindow: true } };
	const strikes = state.droppedInWindow ? state.strikes + 1 : 0;
	if (strikes >= STRIKES) return { verdict: "disable: too often", next: { ...state, suppressed: 0 } };
	if (state.delivered >= LIFETIME) return { verdict: "disable: enough", next: { ...state, suppressed: 0 } };
	return { verdict: "tell", next: { delivered: state.delivered + 1, suppressed: 0, windowEnds: now + WINDOW_MS, droppedInWindow: false, strikes } };
}

export const floodSchema = z.lazy(() =>
	z.object({
		/** When the last notices were. */
		recent: z.array(time),
		/** Nothing is told before this; 0: no flood. */
		until: time,
		dropped: count,
	}),
);
export type FloodState = Readonly<z.infer<typeof floodSchema>>;

export const NO_FLOOD: FloodState = { recent: [], until: 0, dropped: 0 };

/** Decides whether one more notice of a match may go out. `tripped`: it is the one too many. */
export function admit(state: FloodState, now: number): { verdict: "tell" | "drop" | "tripped"; next: FloodState } {
	if (state.until > 0) return { verdict: "drop", next: { ...state, dropped: state.dropped + 1 } };
	const recent = state.recent.filter((at) => at > now - FLOOD_MS && at <= now);
	if (recent.length >= FLOOD_COUNT) return { verdict: "tripped", next: { recent: [], until: now + FLOOD_PAUSE_MS, dropped: 1 } };
	return { verdict: "tell", next: { ...state, recent: [...recent, now] } };
}

/** A flood has been waited out. */
export const floodIsOver = (state: FloodState, now: number): boolean => state.until > 0 && !isBefore(state.until, FLOOD_PAUSE_MS, now);

/** Is it still before the end of something that lasts `ms`? If the end is farther away than that, the clock was set back: no. */
const isBefore = (end: number, ms: number, now: number): boolean => now < end && end - now <= ms;
