/** Tasks, notices, doctor, sandboxes: the whole home. */
import * as z from "zod";
import { count, task, time } from "./shared.js";

export const taskUseSchema = z
	.object({
		cpu_percent: z.number().min(0).describe("Of one core, since the last look."),
		memory_bytes: count,
		processes: count,
		seconds: count.describe("How long all of it ran, added up."),
		printed_bytes: count,
		limits: z.array(z.object({ name: z.string(), of: z.enum(["process", "task", "machine"]), words: z.string(), met: z.boolean() })),
	})
	.describe("Of what is listed, and of the task's shells.");
export const tasksSchema = z.object({
	tasks: z.array(
		z.object({
			task: z.string(),
			running: count,
			waiting: count,
			ended: count,
			started_at: time,
			cwd: z.string().nullable(),
			use: taskUseSchema,
			client: z.enum(["connected", "silent", "gone"]).nullable().describe("Its MCP client; silent: over HTTP, with nothing open; null: there is none."),
			client_name: z.string().nullable(),
			client_version: z.string().nullable(),
			silent_since: time.nullable(),
			gone_since: time.nullable(),
		}),
	),
});
export const noticeSchema = z.looseObject({
	id: z.string(),
	kind: z.string(),
	task: z.string(),
	session_id: z.string().nullable(),
	at: z.string(),
	text: z.string(),
});
export const noticesSchema = z.object({ notices: z.array(noticeSchema) });
export const doctorSchema = z.object({
	checks: z.array(z.object({ name: z.string(), state: z.enum(["ok", "warn", "fail"]), found: z.string(), advice: z.string().optional() })),
	orphans: z.array(z.object({ kind: z.string(), what: z.string(), path: z.string().optional(), pids: z.array(z.number()).optional() })),
});
export const pruneSchema = z.strictObject({
	older_than_seconds: z.number().min(0).optional(),
	quota_bytes: count.optional(),
	dry_run: z.boolean().optional(),
});
export const endTaskSchema = z.strictObject({ task, if_gone: z.boolean().optional().describe("Only if its MCP client is gone now; else CONFLICT.") });
export const endedTaskSchema = z.looseObject({
	task: z.string(),
	gone: z.boolean().describe("Nothing of it is left."),
	processes: z.array(z.looseObject({ session_id: z.string(), command: z.string(), place: z.string(), status: z.string() })),
	shells: count,
	sandboxes: z.array(z.object({ id: z.string(), kind: z.string() })),
	notes: z.array(z.string()),
});
export const sandboxesSchema = z.object({
	sandboxes: z.array(z.looseObject({ id: z.string(), kind: z.string(), task: z.string(), home: z.string(), state: z.string(), orphan: z.boolean() })),
	notes: z.array(z.string()),
});
export const stoppedSchema = z.object({ stopped: z.array(z.string()) });
export const removedSchema = z.object({ removed: z.array(z.string()), notes: z.array(z.string()) });
export const prunedSchema = z.object({
	removed: z.array(z.string()),
	bytes: count,
	kept: count,
	places: z.array(z.string()),
	shells: count,
	dry_run: z.boolean(),
});

export type TaskUse = z.infer<typeof taskUseSchema>;
export type TaskItem = TaskList["tasks"][number];
export type EndedTask = z.infer<typeof endedTaskSchema>;
export type TaskList = z.infer<typeof tasksSchema>;
export type Notice = z.infer<typeof noticeSchema>;
