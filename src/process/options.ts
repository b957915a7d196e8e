/** What a runtime may be opened with, and a process started with, checked where it comes in. */
import * as z from "zod";
import type { SandboxOptions } from "../base/config.js";
import { HoldfastError } from "../base/errors.js";
import { limitsSchema, processLimitsSchema } from "../base/limits.js";
import { checked } from "../base/problems.js";
import type { Tools } from "../keeper/tools.js";

export const DAY_MS = 24 * 3_600_000;
export const LIMITS = {
	runningPerTask: 64,
	logBytes: 64 * 1024 * 1024,
	keepMs: 7 * DAY_MS,
	quotaBytes: 16 * 1024 ** 3,
} as const;

const runtimeSchema = z.strictObject({
	home: z.string().min(1).optional(),
	task: z.string().min(1).max(1000).optional(),
	maxRunning: z.number().int().min(1).optional(),
	quotaBytes: z.number().int().min(0).optional(),
	keepMs: z.number().min(0).optional(),
	/** Keepers to have ready. 0 for programs that start one thing and go. */
	warm: z.number().int().min(0).max(16).optional(),
	/** Control groups for killing: `off` never makes any. */
	cgroup: z.enum(["auto", "off"]).optional(),
	tools: z.custom<Tools>().optional(),
	/** What processes and tasks may use of the machine; default: what config.json says. */
	resourceLimits: limitsSchema.optional(),
	/** Where commands run: an address, or a name from config.json. */
	place: z.string().max(8_192).optional(),
	/** False: results of a place that is a boundary are not masked, but for this program's own secrets. Refused for any other place. Default: what config.json says. */
	mask: z.boolean().optional(),
	/** For `local+sandbox`, on top of what config.json says. */
	sandbox: z.custom<SandboxOptions>((value) => typeof value === "object" && value !== null).optional(),
});
export type RuntimeOptions = z.input<typeof runtimeSchema>;
export type Settled = z.output<typeof runtimeSchema>;

const noNul = (what: string) => z.string().refine((text) => !text.includes("\0"), `${what} cannot contain a NUL byte`);

const spawnSchema = z.strictObject({
	/** Shell text, run by bash as it is; or a program and its arguments, run without a shell. */
	command: z.union(
		[noNul("a command").refine((text) => text.trim() !== "", "the command is empty"), z.array(noNul("an argument")).min(1, "the command is empty")],
		"must be shell text, or a list of a program and its arguments",
	),
	cwd: noNul("cwd").optional(),
	/** Added to the filtered environment of this program; undefined removes a variable. */
	env: z.record(z.string(), noNul("a variable").optional()).optional(),
	stdin: z.boolean().optional(),
	terminal: z
		.union(
			[z.boolean(), z.strictObject({ cols: z.number().int().min(1).max(10_000), rows: z.number().int().min(1).max(10_000) })],
			"must be true, or an object with cols and rows, each 1 to 10000",
		)
		.optional(),
	name: noNul("a name").max(200).optional(),
	task: z.string().min(1).max(1000).optional(),
	log: z
		.strictObject({
			limit: z
				.number()
				.int()
				.min(64 * 1024)
				.max(2 ** 50)
				.optional(),
			full: z.enum(["ring", "block"]).optional(),
		})
		.optional(),
	/** What it may use of the machine, on top of what the runtime says; null: no limit. */
	limits: processLimitsSchema.optional(),
});
export type SpawnOptions = z.input<typeof spawnSchema>;
export type Wanted = z.output<typeof spawnSchema>;

export const settled = (options: RuntimeOptions): Settled => parse(runtimeSchema, options, "openRuntime");
export const wantedOf = (options: SpawnOptions): Wanted => parse(spawnSchema, options, "spawn");

function parse<T extends z.ZodType>(schema: T, value: unknown, what: string): z.infer<T> {
	const result = checked(schema, value);
	if ("problems" in result) throw new HoldfastError("INVALID", `${what}: ${result.problems}`);
	return result.data;
}
