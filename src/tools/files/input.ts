/** What a model may send to the tools for files. No unions, as everywhere. */
import * as z from "zod";

export const MOST_LINES = 2_000;
export const MOST_CHARS = 2_000; // of a line
export const MOST_MATCHES = 1_000;

const whole = (least: number, most: number = Number.MAX_SAFE_INTEGER) => z.number().int().min(least).max(most).optional();
const file = () => z.string().min(1).max(4_000);

export const readFileInput = z.strictObject({
	path: file().describe("The file; relative paths start in the shell's directory, ~ is the home."),
	offset: whole(1).describe("First line to show, 1 by default."),
	limit: whole(1, MOST_LINES).describe(`How many lines, ${MOST_LINES} by default and at most.`),
});

export const writeFileInput = z.strictObject({
	path: file().describe("The file; relative paths start in the shell's directory, ~ is the home. Directories above it are made."),
	content: z.string().describe("All of the file's new content."),
});

const edit = z.strictObject({
	old_string: z.string().min(1).describe("Text that is in the file, exactly, with enough around it to be there only once."),
	new_string: z.string().describe("What replaces it; empty to delete it."),
	replace_all: z.boolean().optional().describe("Replace every occurrence."),
});

export const patchInput = z.strictObject({
	path: file().optional().describe("The file to change. A diff has paths of its own, and needs none."),
	old_string: z.string().min(1).optional().describe("Text that is in the file, exactly, with enough around it to be there only once."),
	new_string: z.string().optional().describe("What replaces old_string; empty to delete it."),
	replace_all: z.boolean().optional().describe("Replace every occurrence of old_string."),
	edits: z.array(edit).min(1).max(200).optional().describe("Several replacements in one file, one after the other: all of them or none."),
	diff: z.string().min(1).optional().describe("A unified diff, of one or several files: all of it or nothing."),
});

export const searchFilesInput = z.strictObject({
	pattern: z.string().min(1).max(10_000).describe('content: a regular expression. names: a glob such as "*.ts", "test_*" or "src/**/index.js".'),
	target: z.enum(["content", "names"]).optional().describe("Look in files (content, the default) or for files (names)."),
	path: file().optional().describe("Directory or file to search; the shell's directory by default."),
	glob: z.string().min(1).max(1_000).optional().describe('Only in files with such names, e.g. "*.py" or "*.{ts,tsx}".'),
	type: z.string().min(1).max(40).optional().describe('Only in files of a language, e.g. "py", "js", "rust", "md".'),
	context: whole(0, 20).describe("Lines to show around each match, 0 by default."),
	ignore_case: z.boolean().optional().describe("Do not tell a from A."),
	fixed: z.boolean().optional().describe("pattern is plain text, not a regular expression."),
	hidden: z.boolean().optional().describe("Also in what is hidden (names with a dot) or ignored (.gitignore)."),
	limit: whole(1, MOST_MATCHES).describe(`How many matches or names, 100 by default and ${MOST_MATCHES} at most.`),
});

export const uploadInput = z.strictObject({
	source: file().describe("File or directory on the machine that Holdfast runs on; relative paths start where it was started."),
	target: file().describe(
		"Where it goes in the place that commands run in; relative paths start in the shell's directory. Into a directory that is there, else under that name.",
	),
});

export const downloadInput = z.strictObject({
	source: file().describe("File or directory in the place that commands run in; relative paths start in the shell's directory."),
	target: file().describe(
		"Where it goes on the machine that Holdfast runs on; relative paths start where it was started. Into a directory that is there, else under that name.",
	),
});

export type ReadFileArgs = z.infer<typeof readFileInput>;
export type WriteFileArgs = z.infer<typeof writeFileInput>;
export type PatchArgs = z.infer<typeof patchInput>;
export type SearchFilesArgs = z.infer<typeof searchFilesInput>;
export type TransferArgs = z.infer<typeof uploadInput>;
