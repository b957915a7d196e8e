/** The limits of the tools. Each can be set when a runtime is opened; descriptions and notes follow. */
import * as z from "zod";
import { parseOptions } from "../base/index.js";

export const LIMITS = {
	/** Default and maximum wait of `terminal`, in seconds. */
	timeout: 180,
	maxTimeout: 600,
	/** Default and maximum wait of `wait`, in seconds. */
	waitTimeout: 180,
	maxWaitTimeout: 180,
	/** Seconds for a program to react to `keys`. */
	keysTimeout: 5,
	/** Seconds without output that count as waiting for input if the kernel cannot tell. */
	idleThreshold: 5,
	/** Default and maximum number of output characters in a result of `terminal`. */
	outputChars: 20_000,
	maxOutputChars: 1_000_000,
	/** Characters in a `poll` or `log`; in the end of output that `wait` shows. */
	recentChars: 200_000,
	tailChars: 20_000,
	/** Default number of lines of a `log`. */
	logLines: 200,
	/** Processes in a `list`; running ones are always included. */
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

/** The least output size that leaves room for the note about omitted text. */
export const LEAST_OUTPUT_CHARS = 200;
export const LARGEST_TERMINAL = 10_000;
