/** The output of a process: lines, and the search in logs. */
import * as z from "zod";
import { count, task } from "./shared.js";

export const logQuerySchema = z.strictObject({
	offset: z.coerce.number().int().min(0).optional().describe("Default: the last `limit` bytes."),
	limit: z.coerce.number().int().min(1).max(4_194_304).optional().describe("Bytes; default 262,144."),
});
/** Lines as text, without escape sequences: for scrolling back and reading, also in a log of 64 MiB. */
export const linesQuerySchema = z.strictObject({
	before: z.coerce.number().int().min(0).optional().describe("Lines that end at or before this byte. Default: the end of the log."),
	after: z.coerce.number().int().min(0).optional().describe("Instead: lines from this byte on."),
	limit: z.coerce.number().int().min(1).max(5_000).optional().describe("Default 200."),
});
export const linesSchema = z.object({
	lines: z.array(z.object({ offset: count, text: z.string() })),
	first_offset: count,
	start: count.describe("Where the first of them starts: `before` for the page above."),
	next: count.describe("Behind the last of them: `after` for the page below."),
	total_bytes: count,
});
export const searchQuerySchema = z.strictObject({
	q: z.string().min(1).max(500).describe("Text, not a pattern; case does not matter."),
	task: task.optional(),
	session_id: z.string().optional(),
	limit: z.coerce.number().int().min(1).max(500).optional().describe("Default 100."),
});
export const searchSchema = z.object({
	matches: z.array(z.object({ session_id: z.string(), offset: count, line_offset: count, line: z.string() })),
	searched_bytes: count,
	complete: z.boolean().describe("false: there may be more; the note says why."),
	note: z.string().nullable(),
});

export type LinePage = z.infer<typeof linesSchema>;
export type SearchResult = z.infer<typeof searchSchema>;
