/** The audit and the transcripts of tasks. */
import * as z from "zod";
import { count, task, time } from "./shared.js";

export const auditQuerySchema = z.strictObject({
	task: task.optional(),
	since: time.optional(),
	limit: z.coerce.number().int().min(1).max(10_000).optional().describe("The newest so many; default 500."),
});
export const auditSchema = z.object({
	events: z.array(z.looseObject({ at: z.string(), task: z.string(), event: z.string(), session_id: z.string().optional(), command: z.string().optional() })),
	omitted: count.describe("Older ones that match and are left out."),
});

export const taskLogQuerySchema = z.strictObject({
	task,
	before: z.string().max(200).optional().describe("Entries before the one with this `entry_id`. Default: the newest."),
	after: z.string().max(200).optional().describe("Instead: entries behind this one."),
	since: time.optional(),
	search: z.string().min(1).max(500).optional().describe("Only entries with this text, in a command or in what it printed; case does not matter."),
	limit: z.coerce.number().int().min(1).max(1_000).optional().describe("Default 200."),
});
export const taskLogEntrySchema = z.looseObject({
	entry_id: z.string(),
	at: z.string(),
	kind: z.string().describe("command, file, read, tool, asked, decided, notice, keyboard, killed, signalled, wrote: docs/transcript.md."),
	task: z.string(),
	session_id: z.string().optional(),
	command: z.string().optional(),
	status: z.string().optional(),
	exit_code: z.number().int().nullable().optional(),
	duration_ms: z.number().nullable().optional(),
	bytes: count.nullable().optional(),
	words: z.object({
		head: z.string(),
		text: z.string(),
		details: z.array(z.string()).readonly(),
		tone: z.enum(["good", "bad", "asks", "plain"]),
	}),
	has_output: z.boolean().describe("/api/tasks/log/output has it."),
	lines: z.array(z.string()).optional().describe("Of a search: lines of the output that have the text, 5 at most."),
});
export const taskLogSchema = z.object({
	task: z.string(),
	entries: z.array(taskLogEntrySchema),
	earlier: z.boolean().describe("There may be entries before these."),
	later: z.boolean().describe("There may be entries behind these."),
});
export const taskLogsSchema = z.object({ tasks: z.array(z.object({ task: z.string(), last_activity: time })) });
export const taskLogOutputQuerySchema = z.strictObject({
	session_id: z.string(),
	limit: z.coerce.number().int().min(1).max(1_048_576).optional().describe("Bytes; of more, the first and the last half. Default 262,144."),
});
export const taskLogOutputSchema = z.object({ session_id: z.string(), output: z.string(), omitted_bytes: count });
export const taskLogExportQuerySchema = z.strictObject({ task, format: z.enum(["md", "json", "html"]) });

export type TaskLogs = z.infer<typeof taskLogsSchema>;
export type TaskLog = z.infer<typeof taskLogSchema>;
export type TaskLogEntry = TaskLog["entries"][number];
export type TaskLogOutput = z.infer<typeof taskLogOutputSchema>;
