/** Files that the page shows. */
import * as z from "zod";
import { count, noNul, task, time } from "./shared.js";

export const filesQuerySchema = z.strictObject({
	path: noNul(z.string().min(1).max(4_096)).optional().describe("Absolute, or from `task`'s directory. Default: that directory."),
	task: task.optional(),
	session_id: z.string().optional().describe("Instead of a task: start at this process's directory."),
});
export const fileEntrySchema = z.object({
	name: z.string(),
	type: z.enum(["file", "directory", "link", "other"]),
	size: count,
	modified_at: time,
	mode: z.string().describe("As in -rw-r--r--."),
	target: z.string().optional().describe("Of a link, and what that is."),
	target_type: z.enum(["file", "directory", "other", "missing"]).optional(),
});
export const filesSchema = z.object({
	place: z.string().describe("The place that has the files: `local`, or the display name of a remote one."),
	path: z.string().describe("Without links and dots: where this really is."),
	type: z.enum(["file", "directory", "other"]),
	parent: z.string().nullable(),
	entries: z.array(fileEntrySchema).nullable().describe("Of a directory: directories first, then by name."),
	omitted: count.describe("Entries beyond the first 5,000."),
	size: count,
	modified_at: time,
	text: z.boolean().nullable().describe("Of a file: it looks like text."),
});
export const uploadedSchema = z.object({ path: z.string(), size: count, replaced: z.boolean() });

export type FileEntry = z.infer<typeof fileEntrySchema>;
export type FileView = z.infer<typeof filesSchema>;
