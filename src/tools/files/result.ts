/** Results of the file tools: one flat object, as for all tools. */
import * as z from "zod";
import { noticeSchema } from "../../notices/index.js";
import { boxField } from "../box-field.js";

const common = () => ({
	status: z.enum(["ok", "error", "not_found", "blocked", "pending_approval", "interrupted"]),
	error: z.string().nullable().describe("null, or what went wrong and what to do next."),
	path: z.string().optional().describe("Where it really is."),
	showing: z.string().optional().describe("What it is, in a few words."),
	outcome: z.enum(["denied", "expired", "refused_by_rule", "unattended"]).optional().describe("blocked: how."),
	approval_id: z.string().optional().describe("The question to a person about this."),
	rule: z.string().optional().describe("The rule that decided about it."),
	reason: z.string().optional(),
	note: z.string().optional(),
	box: boxField.optional(),
	notices: z.array(noticeSchema).optional().describe("News of background processes."),
});

export const readFileOutput = z.lazy(() =>
	z.object({
		...common(),
		output: z.string().describe("Lines, each with its number and a tab before it."),
		kind: z.enum(["text", "binary", "image", "directory"]).optional(),
		type: z.string().optional().describe("Of an image or a binary file, as far as its first bytes tell."),
		size: z.number().int().optional().describe("Bytes."),
		width: z.number().int().optional(),
		height: z.number().int().optional(),
		total_lines: z.number().int().nullable().optional().describe("null when they were not counted."),
		next_offset: z.number().int().optional().describe("The line to read on from; absent at the end."),
		encoding: z.string().optional(),
		line_endings: z.enum(["lf", "crlf", "mixed"]).optional(),
		similar: z.array(z.string()).optional().describe("not_found: names like it."),
	}),
);

export const writeFileOutput = z.lazy(() =>
	z.object({
		...common(),
		output: z.string(),
		created: z.boolean().optional().describe("False: an existing file was replaced."),
		bytes: z.number().int().optional(),
		sha256: z.string().optional(),
		made_directory: z.string().optional().describe("The topmost directory that had to be made."),
		similar: z.array(z.string()).optional(),
	}),
);

export const patchOutput = z.lazy(() =>
	z.object({
		...common(),
		output: z.string().describe("What has changed, as a diff."),
		replacements: z.number().int().optional(),
		files: z
			.array(z.object({ path: z.string(), change: z.enum(["changed", "created", "deleted"]), bytes: z.number().int() }))
			.optional()
			.describe("Every file that was changed."),
		similar: z.array(z.string()).optional(),
	}),
);

export const searchFilesOutput = z.lazy(() =>
	z.object({
		...common(),
		output: z.string().describe("Matches by file, with line numbers; or names, the newest first."),
		matches: z.number().int().optional().describe("How many there are in all, also those that are not shown."),
		files: z.number().int().optional().describe("How many files have any."),
		omitted: z.number().int().optional().describe("How many are not shown."),
		engine: z.string().optional().describe("What searched."),
		similar: z.array(z.string()).optional(),
	}),
);

export const transferOutput = z.lazy(() =>
	z.object({
		...common(),
		output: z.string(),
		kind: z.enum(["file", "directory"]).optional(),
		created: z.boolean().optional(),
		files: z.number().int().optional(),
		directories: z.number().int().optional(),
		links: z.number().int().optional(),
		bytes: z.number().int().optional(),
		sha256: z.string().optional().describe("Of a single file."),
		skipped: z.array(z.string()).optional().describe("What was left out, and why."),
		similar: z.array(z.string()).optional(),
	}),
);

export type ReadFileResult = z.infer<typeof readFileOutput>;
export type WriteFileResult = z.infer<typeof writeFileOutput>;
export type PatchResult = z.infer<typeof patchOutput>;
export type SearchFilesResult = z.infer<typeof searchFilesOutput>;
export type TransferResult = z.infer<typeof transferOutput>;
export type FileResult = ReadFileResult | WriteFileResult | PatchResult | SearchFilesResult | TransferResult;
