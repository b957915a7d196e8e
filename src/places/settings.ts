/** Parts of the settings that several kinds of places share. */
import * as z from "zod";
import { parseSize, shellQuote, sizeText } from "../base/index.js";
import { directoryProblem } from "./image-name.js";

export const MIB = 1024 ** 2;

/** A size as people write it, in bytes. */
export const size = (least: number) =>
	z.union([z.number(), z.string()], 'takes for example "512M" or 536870912').transform((given, context): number => {
		const bytes = typeof given === "string" ? parseSize(given) : given;
		const refuse = (why: string) => {
			context.addIssue({ code: "custom", message: why });
			return z.NEVER;
		};
		if (bytes === undefined || !Number.isSafeInteger(bytes)) return refuse('takes for example "512M" or 536870912');
		return bytes < least ? refuse(`must be at least ${sizeText(least)}`) : bytes;
	});

/** Text that one of our functions parses, which reports what is wrong with it. */
export const readBy = <T>(read: (text: string) => T) =>
	z.string().transform((text, context): T => {
		try {
			return read(text);
		} catch (error) {
			context.addIssue({ code: "custom", message: (error as Error).message });
			return z.NEVER;
		}
	});

export const saying = (problem: (text: string) => string | undefined) =>
	z.string().superRefine((text, context) => {
		const wrong = problem(text);
		if (wrong !== undefined) context.addIssue({ code: "custom", message: wrong });
	});

/** zod does not pass on what is wrong with a key. */
export const everyKey = (problem: (key: string) => string | undefined) => (record: Record<string, unknown>, context: z.RefinementCtx) => {
	for (const wrong of Object.keys(record).map(problem)) if (wrong !== undefined) context.addIssue({ code: "custom", message: wrong });
};

export const directory = saying(directoryProblem);

/** Variables for commands. */
export const environment = z.lazy(() =>
	z
		.record(
			z.string(),
			z.string().refine((text) => !text.includes("\0"), "a value cannot contain a NUL byte"),
		)
		.superRefine(
			everyKey((name) => (/^[^=\0]+$/.test(name) ? undefined : `a name cannot be empty or contain "=" or a NUL byte, as ${JSON.stringify(name)} does`)),
		)
		.default({}),
);

/** Returns shell text that sets them. One that no shell can name is left out. */
export const exportText = (variables: Readonly<Record<string, string>>): string =>
	Object.entries(variables)
		.filter(([name]) => /^[A-Za-z_]\w*$/.test(name))
		.map(([name, value]) => `export ${name}=${shellQuote(value)}\n`)
		.join("");

/** Seconds without a sign of life of any runtime, and without a running process, after which it stops itself. "task": it stays until its task ends. */
export const lifetime = z.lazy(() =>
	z.union([z.number().int().min(2).max(31_536_000), z.literal("task")], 'must be a whole number of seconds from 2 to 31536000, or "task"').default(300),
);

/** Returns how long it stays without use. */
export const idleSecondsOf = (lifetime: number | "task"): number => (lifetime === "task" ? Number.POSITIVE_INFINITY : lifetime);

/** Returns the switch's argument: 0 for never. */
export const switchSeconds = (lifetime: number | "task"): number => (lifetime === "task" ? 0 : lifetime);
