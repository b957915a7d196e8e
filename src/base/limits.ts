/**
 * Limits on the resources of one process, and of all processes of a task. A limit is written as people do ("512M", "50%", "10m",
 * "10M/s") or as a number, in bytes, cores, seconds or bytes a second; `null` is no limit. docs/limits.md.
 */
import os from "node:os";
import * as z from "zod";
import { parseRate, parseSeconds, parseShare, parseSize, sizeText, timeText } from "./quantity.js";

const KIB = 1024;
const MIB = 1024 ** 2;
const LARGEST = 2 ** 50;
const YEAR = 366 * 86_400;

interface Kind {
	readonly least: number;
	readonly most: number;
	readonly example: string;
	readonly whole?: true;
	parse(text: string): number | undefined;
	words(value: number): string;
}

const bytes = (least: number): Kind => ({ least, most: LARGEST, example: '"512M" or 536870912', parse: parseSize, words: sizeText });
const seconds: Kind = {
	least: 1,
	most: YEAR,
	example: '"10m" or 600',
	parse: parseSeconds,
	words: timeText,
};
const count = (most: number): Kind => ({
	least: 1,
	most,
	whole: true,
	example: "100",
	parse: (text) => (/^\d+$/.test(text.trim()) ? Number(text) : undefined),
	words: String,
});

/** All there are. The names are those of the settings, of the options and of the results. */
export const LIMIT_KINDS = {
	memory: {
		...bytes(MIB),
		example: '"512M", "50%" (of what the machine has) or 536870912',
		parse: (text) => {
			const share = parseShare(text);
			return share === undefined ? parseSize(text) : share * os.totalmem();
		},
	},
	cpu: { least: 0.01, most: 1024, example: '"50%" or 0.5 (of one core)', parse: parseShare, words: (value) => `${Math.round(value * 100)} % of a core` },
	cpu_time: seconds,
	pids: count(4_194_304),
	time: seconds,
	output: bytes(64 * KIB),
	output_rate: {
		least: 4 * KIB,
		most: LARGEST,
		example: '"10M/s" or 10485760',
		parse: parseRate,
		words: (value) => `${sizeText(value)}/s`,
	},
	file_size: bytes(MIB),
} as const satisfies Record<string, Kind>;

export type LimitName = keyof typeof LIMIT_KINDS;
const FRACTIONS: readonly LimitName[] = ["cpu"];

export const limitText = (name: LimitName, value: number): string => (LIMIT_KINDS[name] as Kind).words(value);

/** Returns the schema of one limit; its error says what the limit takes. */
function limit(name: LimitName) {
	const { least, most, example, whole, parse, words }: Kind = LIMIT_KINDS[name];
	return z
		.unknown()
		.transform((given, context): number | null => {
			if (given === null) return null;
			const read = typeof given === "string" ? parse(given) : typeof given === "number" ? given : undefined;
			const value = read === undefined || FRACTIONS.includes(name) ? read : Math.floor(read);
			const refuse = (why: string) => {
				context.addIssue({ code: "custom", message: why });
				return z.NEVER;
			};
			if (value === undefined || Number.isNaN(value)) return refuse(`takes for example ${example}, or null for none`);
			if (whole && value !== read) return refuse("must be a whole number");
			if (value < least) return refuse(`must be at least ${words(least)}, or null for none`);
			if (value > most) return refuse(`must be at most ${words(most)}, or null for none`);
			return value;
		})
		.optional();
}

export const processLimitsSchema = z.lazy(() =>
	z.strictObject({
		memory: limit("memory"),
		cpu: limit("cpu"),
		cpu_time: limit("cpu_time"),
		pids: limit("pids"),
		time: limit("time"),
		output: limit("output"),
		output_rate: limit("output_rate"),
		file_size: limit("file_size"),
	}),
);

export const limitsSchema = z.lazy(() =>
	z.strictObject({
		process: processLimitsSchema.prefault({}),
		task: z
			.strictObject({
				memory: limit("memory"),
				cpu: limit("cpu"),
				pids: limit("pids"),
				processes: z.number().int().min(1).max(100_000).optional(),
			})
			.prefault({}),
	}),
);

/** Requested limits: a missing name has its default, null is no limit. */
export type LimitsGiven = z.input<typeof limitsSchema>;
export type ProcessLimitsGiven = z.input<typeof processLimitsSchema>;
export type LimitsAsked = z.output<typeof limitsSchema>;
export type ProcessLimitsAsked = z.output<typeof processLimitsSchema>;

/** The limits that hold: only those that there are. */
export type LimitsInForce = { readonly [name in LimitName]?: number };
