/** The numbers of the tools. Each can be set when a runtime is opened; descriptions and notes follow. */
import * as z from "zod";
import { parseOptions } from "../base/index.js";

export const LIMITS = {
	/** Seconds that `terminal` waits, and the most that may be asked for. */
	timeout: 180,
	maxTimeout: 600,
	/** The same for `wait`. */
	waitTimeout: 180,
	maxWaitTimeout: 180,
	/** Seconds that a program gets to react to `keys`. */
	keysTimeout: 5,
	/** Seconds without output that count as waiting for input where the kernel does not say. */
	idleThreshold: 5,
	/** Characters of output in a result of `terminal`, and the most that may be asked for. */
	outputChars: 20_000,
	maxOutputChars: 1_000_000,
	/** Characters in a `poll` or `log`; at the end of a `wait`. */
	recentChars: 200_000,
	tailChars: 20_000,
	/** Lines of a `log`. */
	logLines: 200,
	/** Processes in a `list`; those that run are all in it. */
	listed: 100,
	cols: 120,
	rows: 30,
};
export type Limits = Readonly<typeof LIMITS>;

const schema = z.lazy(() => {
	const whole = (name: keyof Limits, least = 1) => z.number().int().min(least).default(LIMITS[name]);
	return z.strictObject({
		timeout: whole("timeout"),
		maxTimeout: whole("maxTimeout"),
		waitTimeout: whole("waitTimeout"),
		maxWaitTimeout: whole("maxWaitTimeout"),
		keysTimeout: whole("keysTimeout"),
		idleThreshold: z.number().min(0.1).default(LIMITS.idleThreshold),
		outputChars: whole("outputChars", LEAST_OUTPUT_CHARS),
		maxOutputChars: whole("maxOutputChars", LEAST_OUTPUT_CHARS),
		recentChars: whole("recentChars", LEAST_OUTPUT_CHARS),
		tailChars: whole("tailChars", LEAST_OUTPUT_CHARS),
		logLines: whole("logLines"),
		listed: whole("listed"),
		cols: whole("cols"),
		rows: whole("rows"),
	});
});

export function limitsFrom(given: Partial<Limits> = {}): Limits {
	return parseOptions("limits", schema, given);
}

/** Smaller results have no room for the words about what was left out. */
export const LEAST_OUTPUT_CHARS = 200;
export const LARGEST_TERMINAL = 10_000;
