/** Schemas for the options of a runtime and of a process; options are checked on entry. */
import * as z from "zod";
import { isTaskName, limitsSchema, parseOptions, processLimitsSchema, type SandboxOptions, TASK_NAME } from "../base/index.js";
import type { Tools } from "../keeper/index.js";
import { placeSchema } from "../places/index.js";
import { isPlain, NOT_PLAIN } from "./names.js";
import { RESTARTS } from "./restart.js";

export const DAY_MS = 24 * 3_600_000;
export const LIMITS = {
	runningPerTask: 64,
	logBytes: 64 * 1024 * 1024,
	keepMs: 7 * DAY_MS,
	quotaBytes: 16 * 1024 ** 3,
} as const;

export const runtimeSchema = z.lazy(() =>
	z.strictObject({
		home: z.string().min(1).optional(),
		task: z.custom<string>(isTaskName, TASK_NAME).optional(),
		maxRunning: z.number().int().min(1).optional(),
		quotaBytes: z.number().int().min(0).optional(),
		keepMs: z.number().min(0).optional(),
		/** Keepers to keep ready. 0 for programs that start one thing and exit. */
		warm: z.number().int().min(0).max(16).optional(),
		/** Cgroups for killing: `off` never creates any. */
		cgroup: z.enum(["auto", "off"]).optional(),
		tools: z.custom<Tools>().optional(),
		/** Resource limits of processes and tasks; default: those of config.json. */
		resourceLimits: limitsSchema.optional(),
		/** The place where commands run: an address, a name from config.json, or an object with the kind of place and its settings. */
		place: placeSchema.optional(),
		/**
		 * False: results of a place that is a boundary are not masked, except for this program's own secrets. Refused for any other place. Default: the
		 * setting in config.json.
		 */
		mask: z.boolean().optional(),
		/** Settings for `local+sandbox`, in addition to those of config.json. */
		sandbox: z.custom<SandboxOptions>((value) => typeof value === "object" && value !== null, "must be an object").optional(),
	}),
);
export type RuntimeOptions = z.input<typeof runtimeSchema>;
/** `user`: another user of the place, as whom this runtime makes calls. `once`: the program runs one command and exits. */
export type RuntimeSettings = z.output<typeof runtimeSchema> & { readonly user?: string; readonly once?: boolean };

const noNul = (what: string) => z.string().refine((text) => !text.includes("\0"), `${what} cannot contain a NUL byte`);

/** Variables by name; undefined removes a variable. */
export const environmentSchema = z.lazy(() =>
	z.record(z.string().regex(/^[^=\0]+$/, "the name of a variable has a character at least, and neither = nor NUL"), noNul("a variable").optional()),
);

const spawnSchema = z.lazy(() =>
	z.strictObject({
		/** Shell text, run by bash unchanged; or a program and its arguments, run without a shell. */
		command: z.union(
			[noNul("a command").refine((text) => text.trim() !== "", "the command is empty"), z.array(noNul("an argument")).min(1, "the command is empty")],
			"must be shell text, or a list of a program and its arguments",
		),
		cwd: noNul("cwd").optional(),
		/** Added to the filtered environment of this program; undefined removes a variable. */
		env: environmentSchema.optional(),
		stdin: z.boolean().optional(),
		terminal: z
			.union(
				[z.boolean(), z.strictObject({ cols: z.number().int().min(1).max(10_000), rows: z.number().int().min(1).max(10_000) })],
				"must be true, or an object with cols and rows, each 1 to 10000",
			)
			.optional(),
		name: z.string().max(200).refine(isPlain, NOT_PLAIN).optional(),
		/** Restarts the process whenever it ends, or only when it fails; gives up if it repeatedly ends soon after its start. Only on this machine. */
		restart: z.enum(RESTARTS).optional(),
		task: z.custom<string>(isTaskName, TASK_NAME).optional(),
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
		/** Resource limits, in addition to those of the runtime; null: no limit. */
		limits: processLimitsSchema.optional(),
	}),
);
export type SpawnOptions = z.input<typeof spawnSchema>;
export type StartRequest = z.output<typeof spawnSchema>;

export const settled = (options: RuntimeOptions): RuntimeSettings => parseOptions("openRuntime", runtimeSchema, options);
export const wantedOf = (options: SpawnOptions): StartRequest => parseOptions("spawn", spawnSchema, options);
