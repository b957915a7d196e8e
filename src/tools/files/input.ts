/** Input schemas of the file tools. No unions, since some providers refuse them. */
import * as z from "zod";

export const MOST_LINES = 2_000;
export const MOST_CHARS = 2_000; // per line
export const MOST_MATCHES = 1_000;

const whole = (least: number, most: number = Number.MAX_SAFE_INTEGER) => z.number().int().min(least).max(most).optional();
const file = () => z.string().min(1).max(4_000);

export const readFileInput = z.lazy(() =>
	z.strictObject({
		path: file().describe("The file."),
		offset: whole(1).describe("First line to show, 1 by default."),
		limit: whole(1, MOST_LINES).describe(`How many lines, ${MOST_LINES} by default and at most.`),
	}),
);

export const writeFileInput = z.lazy(() =>
	z.strictObject({
		path: file().describe("The file, from the shell's directory on. ~ is the home."),
		content: z.string().describe("All of the file's new content."),
	}),
);

const edit = z.lazy(() =>
	z.strictObject({
		old_string: z.string().min(1),
		new_string: z.string(),
		replace_all: z.boolean().optional(),
	}),
);

export const patchInput = z.lazy(() =>
	z.strictObject({
		path: file().optional().describe("The file to change; not with diff."),
		old_string: z.string().min(1).optional().describe("Text that is in the file, exactly, with enough around it to be there only once."),
		new_string: z.string().optional().describe("What replaces old_string; empty to delete it."),
		replace_all: z.boolean().optional().describe("Every occurrence."),
		edits: z.array(edit).min(1).max(200).optional().describe("Several replacements in one file, in order."),
		diff: z.string().min(1).optional().describe("A unified diff."),
	}),
);

export const searchFilesInput = z.lazy(() =>
	z.strictObject({
		pattern: z.string().min(1).max(10_000).describe('content: a regular expression. names: a glob such as "test_*" or "src/**/index.js".'),
		target: z.enum(["content", "names"]).optional().describe("Look in files (content, the default) or for files (names)."),
		path: file().optional().describe("Where to search; the shell's directory by default."),
		glob: z.string().min(1).max(1_000).optional().describe('Only in files with such names, e.g. "*.{ts,tsx}".'),
		type: z.string().min(1).max(40).optional().describe('Only in files of a language, e.g. "py", "rust".'),
		context: whole(0, 20).describe("Lines around each match, 0 by default."),
		ignore_case: z.boolean().optional().describe("Do not tell a from A."),
		fixed: z.boolean().optional().describe("pattern is plain text, not a regular expression."),
		hidden: z.boolean().optional().describe("Also in what is hidden (names with a dot) or ignored (.gitignore)."),
		limit: whole(1, MOST_MATCHES).describe(`Matches or names, 100 by default, ${MOST_MATCHES} at most.`),
	}),
);

export const uploadInput = z.lazy(() =>
	z.strictObject({
		source: file().describe("File or directory on the machine of Holdfast, from where it was started on."),
		target: file().describe("Where it goes, from the shell's directory on. Into a directory that is there, else under that name."),
	}),
);

export const downloadInput = z.lazy(() =>
	z.strictObject({
		source: file().describe("File or directory, from the shell's directory on."),
		target: file().describe("Where it goes on the machine of Holdfast, from where that was started on. Into a directory that is there, else under that name."),
	}),
);

export type ReadFileArgs = z.infer<typeof readFileInput>;
export type WriteFileArgs = z.infer<typeof writeFileInput>;
export type PatchArgs = z.infer<typeof patchInput>;
export type SearchFilesArgs = z.infer<typeof searchFilesInput>;
export type TransferArgs = z.infer<typeof uploadInput>;
