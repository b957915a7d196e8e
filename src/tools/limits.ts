/** The numbers of the tools. Each can be set when a runtime is opened; descriptions and notes follow. */
import * as z from "zod";
import { HoldfastError } from "../base/errors.js";
import { checked } from "../base/problems.js";

const whole = (value: number, least = 1) => z.number().int().min(least).default(value);

const schema = z.strictObject({
	/** Seconds that `terminal` waits, and the most that may be asked for. */
	timeout: whole(180),
	maxTimeout: whole(600),
	/** The same for `wait`. */
	waitTimeout: whole(180),
	maxWaitTimeout: whole(180),
	/** Seconds that a program gets to react to `keys`. */
	keysTimeout: whole(5),
	/** Seconds without output that count as waiting for input where the kernel does not say. */
	idleThreshold: z.number().min(0.1).default(5),
	/** Characters of output in a result of `terminal`, and the most that may be asked for. */
	outputChars: whole(20_000, 200),
	maxOutputChars: whole(1_000_000, 200),
	/** Characters in a `poll` or `log`; at the end of a `wait`. */
	recentChars: whole(200_000, 200),
	tailChars: whole(20_000, 200),
	/** Lines of a `log`. */
	logLines: whole(200),
	/** Processes in a `list`; those that run are all in it. */
	listed: whole(100),
	cols: whole(120),
	rows: whole(30),
});

export type Limits = Readonly<z.infer<typeof schema>>;

export function limitsFrom(given: Partial<Limits> = {}): Limits {
	const result = checked(schema, given);
	if ("problems" in result) throw new HoldfastError("INVALID", `limits: ${result.problems}`);
	return result.data;
}

export const LIMITS: Limits = limitsFrom();
/** Smaller results have no room for the words about what was left out. */
export const LEAST_OUTPUT_CHARS = 200;
export const LARGEST_TERMINAL = 10_000;
