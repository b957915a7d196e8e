/** Processes: lists, starts, input, waits. */
import * as z from "zod";
import { count, noNul, place, side, task, time } from "./shared.js";

/** The holder of a process's keyboard. null: no person has it, so the agent may type. */
export const keyboardSchema = z
	.object({
		who: z.string().describe("In words: a person in a browser, a person at `holdfast attach`."),
		since: time,
		byte_offset: count.describe("Where the output ended when it was taken."),
	})
	.nullable();

export const resourcesSchema = z
	.object({
		cpu_percent: z.number().min(0).nullable().describe("Of one core, since the last look; null at the first."),
		memory_bytes: count,
		processes: count,
	})
	.nullable()
	.describe("Of the whole tree; null when it has ended or cannot be told.");

export const processSchema = z.object({
	session_id: z.string(),
	name: z.string().optional(),
	kind: z
		.enum(["process", "command", "shell", "sandbox"])
		.describe("command: a foreground command of a task's shell. shell, sandbox: what a task's commands run in."),
	task: z.string(),
	command: z.string().describe("Cut at 4,096 characters; one process alone has it all."),
	cwd: z.string(),
	place: z.string(),
	pty: z.boolean(),
	pid: z.number().int().nullable(),
	status: z.enum(["running", "awaiting_input", "exited", "killed", "lost", "error"]),
	waiting_for: z.enum(["line", "password", "keys", "idle"]).optional(),
	waiting_evidence: z.string().optional(),
	exit_code: z.number().int().nullable(),
	signal: z.string().nullable(),
	started_at: time,
	ended_at: time.nullable(),
	uptime_seconds: count,
	restart: z.enum(["always", "on-failure"]).optional().describe("It is started again when it ends, or when it fails."),
	restarts: count.optional(),
	last_line: z.string().describe("The last line with something on it, without escape sequences, 200 characters at most."),
	first_offset: count.describe("The oldest byte that is still in the log."),
	total_bytes: count.describe("The offset behind the newest byte."),
	last_output_at: time.nullable(),
	parent: z.string().nullable().describe("The process that started it through Holdfast."),
	call: z.string().nullable().describe("The call of an agent that it was started for, as `run` in the audit; null: by hand."),
	keyboard: keyboardSchema,
	resources: resourcesSchema,
	limit: z
		.object({
			name: z.string(),
			of: z.enum(["process", "task", "machine"]),
			value: z.number().nullable(),
			by: z.string(),
			left: z.array(z.number().int()).readonly().optional(),
		})
		.optional()
		.describe("A limit that it met."),
	note: z.string().optional(),
});
export const startedSchema = processSchema.extend({
	notes: z.array(z.string()).describe("What was found changed where it was started: that a container was made again, or woken."),
});
export const processListSchema = z.object({ processes: z.array(processSchema) });
export const processDetailSchema = processSchema.extend({
	full_command: z.string(),
	argv: z.array(z.string()).optional(),
	shell: z.string().optional(),
	stdin: z.boolean(),
	cols: side.nullable(),
	rows: side.nullable(),
	log: z.object({ limit: count, full: z.enum(["ring", "block"]) }),
	kill_method: z.string(),
	dir: z.string().nullable().describe("Its directory in the home, for the owner."),
});

export const listQuerySchema = z.strictObject({
	task: task.optional().describe("Only this task's; default: every task's."),
	ended: z.enum(["true", "false"]).optional().describe("Also those that ended in the last half hour. Default true."),
	shells: z.enum(["true", "false"]).optional().describe("Also the persistent shells. Default false."),
});

export const spawnSchema = z.strictObject({
	command: noNul(z.string().min(1).max(1_000_000)),
	task: task.optional(),
	name: noNul(z.string().max(200)).optional(),
	cwd: noNul(z.string().min(1).max(4_096)).optional(),
	pty: z.boolean().optional().describe("Default true."),
	cols: side.optional(),
	rows: side.optional(),
	place: place
		.optional()
		.describe("An address or a name, as for --place, or an object with the kind of place and its settings. Default: where this server's agents run."),
});

export const renameSchema = z.strictObject({ name: noNul(z.string().min(1).max(200)) });

export const killedSchema = z.object({
	session_id: z.string(),
	status: z.enum(["killed", "already_exited", "error"]),
	method: z.string(),
	signalled: z.array(z.number().int()),
	survivors: z.array(z.number().int()),
	exit_code: z.number().int().nullable(),
	signal: z.string().nullable(),
});
export const signalSchema = z.strictObject({ signal: z.string().min(1).max(20) });
export const inputSchema = z.strictObject({
	data: z.string().max(1_000_000),
	base64: z.boolean().optional().describe("The data is base64 of bytes."),
	submit: z.boolean().optional().describe("And Enter."),
});
export const keysSchema = z.strictObject({ keys: z.string().min(1).max(100_000).describe("Text and <KEY> tokens.") });
export const writtenSchema = z.object({ session_id: z.string(), bytes_written: count });
export const resizeSchema = z.strictObject({ cols: side, rows: side });
export const screenSchema = z.object({
	session_id: z.string(),
	screen: z.string(),
	cursor: z.object({ row: count, col: count }),
	alt_screen: z.boolean(),
	title: z.string(),
	cols: side,
	rows: side,
	byte_offset: count,
	waiting_for: z.enum(["line", "password", "keys", "idle"]).nullable(),
	waiting_evidence: z.string().nullable(),
});
export const waitSchema = z.strictObject({
	until: z.record(z.string(), z.unknown()).optional().describe("As in docs/tools.md; default {exit: true}."),
	timeout: z.number().positive().max(600).optional().describe("Seconds; default 30."),
	byte_offset: count.optional(),
});
export const waitedSchema = z.object({
	process: processSchema,
	matched: z.string().nullable(),
	timed_out: z.boolean(),
	byte_offset: count,
	match: z.string().optional(),
});

export type KeyboardState = z.infer<typeof keyboardSchema>;
export type Resources = z.infer<typeof resourcesSchema>;
export type ProcessItem = z.infer<typeof processSchema>;
export type StartedProcess = z.infer<typeof startedSchema>;
export type ProcessDetail = z.infer<typeof processDetailSchema>;
export type SpawnRequest = z.infer<typeof spawnSchema>;
export type Killed = z.infer<typeof killedSchema>;
export type Screen = z.infer<typeof screenSchema>;
