/** Checks the requested notices about a process; the ones that cannot be had are said in words. */
import * as z from "zod";
import { parseOptions } from "../base/index.js";
import type { Process } from "../process/index.js";
import type { Armed } from "./armed.js";
import { NO_MATCHES_YET } from "./limits.js";

export const SHORTEST_INTERVAL = 30;
export const LONGEST_INTERVAL = 10_000_000;
export const PATTERNS_AT_MOST = 20;
export const PATTERN_LENGTH = 500;

/** Else it could never match. */
export const isWithinLine = (pattern: string): boolean => !/[\x00-\x08\x0a-\x1f\x7f]/.test(pattern);
export const WITHIN_LINE = "must not contain line breaks or control characters: it is looked for within a line";

const wishesSchema = z.lazy(() =>
	z.strictObject({
		/** Seconds between reports of progress, 30 or more. */
		checkInterval: z.number().int().min(1).max(LONGEST_INTERVAL).optional(),
		notifyOnComplete: z.boolean().optional(),
		/** Strings, each looked for in every line of output. */
		watchPatterns: z.array(z.string().min(1).max(PATTERN_LENGTH).refine(isWithinLine, WITHIN_LINE)).max(PATTERNS_AT_MOST).optional(),
	}),
);
export type Wishes = Readonly<z.infer<typeof wishesSchema>>;

export interface ArmResult {
	/** Notes for the result of the call. */
	readonly notes: readonly string[];
	/** The result's field of that name; not among `notes`. */
	readonly check_interval_note?: string;
}

/** undefined: nothing was wished for. */
export function readWishes(process: Process, given: Wishes, now: number): { armed: Armed | undefined; result: ArmResult } {
	const wishes = parseOptions("notices", wishesSchema, given);
	const { checkInterval, notifyOnComplete: notify = false, watchPatterns = [] } = wishes;
	const notes: string[] = [];
	if (notify && watchPatterns.length > 0)
		notes.push(
			"watch_patterns was ignored, because notify_on_complete was given too: you get one notice when it ends. Give one of the two; with watch_patterns alone you hear of matching lines.",
		);
	const patterns = notify ? [] : [...new Set(watchPatterns)];
	const raised = checkInterval !== undefined && checkInterval < SHORTEST_INTERVAL;
	const result: ArmResult = raised
		? { notes, check_interval_note: `check_interval was raised from ${checkInterval} to ${SHORTEST_INTERVAL} seconds, the shortest there is.` }
		: { notes };
	if (!notify && patterns.length === 0 && checkInterval === undefined) return { armed: undefined, result };
	const armed: Armed = {
		v: 1,
		id: process.id,
		task: process.spec.task,
		notify,
		interval: checkInterval === undefined ? null : Math.max(checkInterval, SHORTEST_INTERVAL),
		patterns,
		search: { offset: 0, midline: false, missed: 0 },
		limit: NO_MATCHES_YET,
		progress: { at: now, offset: 0 },
	};
	return { armed, result };
}
