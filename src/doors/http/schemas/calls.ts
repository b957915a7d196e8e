/** Calls of tools, and files of a task, for a program that runs the task. */
import * as z from "zod";
import { count, noNul, task } from "./shared.js";

/** The place of a task's call, in a query. */
export const whereSchema = z.strictObject({
	task: task.optional().describe("Whose call it is. Default: the server's own task."),
	place: z.string().min(1).max(8_192).optional().describe("An address or a name, as for --place, or a place object as JSON. Default: the server's place."),
	user: z.string().min(1).max(100).optional().describe("The user in a container. Default: the container's."),
});
export const callQuerySchema = whereSchema.extend({
	id: z.string().min(1).max(200).optional().describe("Of the caller's: the call is found by it after any crash. Used once in a task."),
	keep: z.enum(["true", "false"]).optional().describe("Keep the result until it is settled; needs an id."),
});
export const callIdSchema = z.strictObject({ task, id: z.string().min(1).max(200) });
export const foundCallSchema = z.looseObject({
	state: z.enum(["never", "running", "ended", "unknown"]),
	tool: z.string().optional(),
	session_id: z.string().optional(),
	status: z.string().nullable().optional(),
	exit_code: z.number().int().nullable().optional(),
	result: z.record(z.string(), z.unknown()).optional().describe("The answer of the tool, if it was kept and is not settled."),
	settled: z.boolean().optional(),
	reason: z.string().optional().describe("unknown: why that cannot be known."),
});
export const taskFileQuerySchema = whereSchema.extend({
	path: noNul(z.string().min(1).max(4_096)).describe("Absolute, or from the directory of the task's shell."),
});
export const taskFileWriteQuerySchema = taskFileQuerySchema.extend({
	mode: z
		.string()
		.regex(/^[0-7]{3,4}$/, "must be permissions such as 644")
		.optional(),
});
export const taskFileListQuerySchema = taskFileQuerySchema.extend({ recursive: z.enum(["true", "false"]).optional() });
export const taskFileWrittenSchema = z.object({
	path: z.string(),
	created: z.boolean(),
	bytes: count,
	sha256: z.string(),
	notes: z.array(z.string()).readonly(),
});
export const taskFileListSchema = z.object({
	entries: z.array(
		z.object({
			name: z.string(),
			kind: z.enum(["file", "directory", "link", "other"]),
			size: count,
			mode: z.number().int().nullable(),
			target: z.string().optional(),
		}),
	),
});
