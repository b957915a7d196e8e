/** The file tools: schema, description and handler of each. */
import type * as z from "zod";
import type { Ask } from "../ask.js";
import type { Call } from "../call.js";
import type { ToolHost } from "../host.js";
import { answerFiles } from "./answer.js";
import { downloadInput, patchInput, readFileInput, searchFilesInput, uploadInput, writeFileInput } from "./input.js";
import { patch } from "./patch/index.js";
import { readFile } from "./read.js";
import { patchOutput, readFileOutput, searchFilesOutput, transferOutput, writeFileOutput } from "./result.js";
import { searchFiles } from "./search.js";
import { download, upload } from "./transfer.js";
import type { FilesAt } from "./where.js";
import { writeFile } from "./write.js";

export type { PatchArgs, ReadFileArgs, SearchFilesArgs, TransferArgs, WriteFileArgs } from "./input.js";
export type { FileResult, PatchResult, ReadFileResult, SearchFilesResult, TransferResult, WriteFileResult } from "./result.js";
export { type FilesOfTask, filesOfTask } from "./where.js";

interface FileTool<N extends string, I extends z.ZodObject, O extends z.ZodObject> {
	readonly name: N;
	readonly title: string;
	readonly description: string;
	/** Input and output schemas are created on first use. */
	readonly input: z.ZodLazy<I>;
	readonly output: z.ZodLazy<O>;
	readonly changes: boolean;
	run(runtime: ToolHost, args: unknown, call: Call): Promise<z.infer<O>>;
}

const READ = `Read a text file: its lines with their numbers. Paths are as in your shell, and relative ones start in its directory.
- A long file comes in parts: go on with offset=next_offset. Lines over 2000 characters are cut.
- Images and other files that are not text: only their type and size. A directory: its entries. Not found: names like it.
The number and the tab before each line are not part of the file.`;

const WRITE = `Write a whole file, new or instead of what is there. Others see the old file or the new one, never half of it.
- It keeps permissions, line endings and encoding of what it replaces, writes through symbolic links, and makes directories.
- To change a part of a file use patch: it is shorter, and cannot lose the rest.
Status "blocked" or "pending_approval": nothing was written, because a rule or a person has to allow it; do what the result says.`;

const PATCH = `Change parts of files. One of three ways:
- path, old_string, new_string: old_string must be in the file exactly once (or replace_all=true). Take it from read_file without the line numbers, with a line or two around it.
- path, edits=[{old_string, new_string}, …]: several changes of one file, in order, each to the result of those before.
- diff: a unified diff of one or several files (--- a/file, +++ b/file, @@ …); /dev/null for a new or deleted file. Line numbers may be a little wrong, context may not.
All of it is done or nothing. If only whitespace differs it is found all the same, and the result says so. The result shows the change as a diff.`;

const SEARCH = `Search files, quickly and without what .gitignore and hidden names leave out.
- In them: search_files(pattern="def \\\\w+_test", glob="*.py", context=2). A regular expression; fixed=true for plain text.
- For them: search_files(target="names", pattern="*.config.js"), the newest first.
The result counts all matches, also those that limit leaves out.`;

const UPLOAD = `Copy a file or directory from the machine that Holdfast runs on to the place where your commands run. Checked by sha256; in a sandbox a plain copy.`;
const DOWNLOAD = `Copy a file or directory from the place where your commands run to the machine that Holdfast runs on. Checked by sha256; in a sandbox a plain copy.`;

export const FILE_TOOLS = [
	define("read_file", "Read file", READ, readFileInput, readFileOutput, { changes: false }, readFile),
	define("write_file", "Write file", WRITE, writeFileInput, writeFileOutput, { changes: true }, writeFile),
	define("patch", "Patch", PATCH, patchInput, patchOutput, { changes: true }, patch),
	define("search_files", "Search files", SEARCH, searchFilesInput, searchFilesOutput, { changes: false }, searchFiles),
	define("upload", "Upload", UPLOAD, uploadInput, transferOutput, { changes: true }, upload),
	define("download", "Download", DOWNLOAD, downloadInput, transferOutput, { changes: true }, download),
] as const;

function define<N extends (typeof NAMES)[number], I extends z.ZodObject, O extends z.ZodObject>(
	name: N,
	title: string,
	description: string,
	input: z.ZodLazy<I>,
	output: z.ZodLazy<O>,
	{ changes }: { changes: boolean },
	act: (ask: Ask, args: z.infer<I>, where: FilesAt) => Promise<z.infer<O>>,
): FileTool<N, I, O> {
	const run: FileTool<N, I, O>["run"] = (runtime, args, call) => answerFiles(runtime, call, { tool: name, input: input._zod.innerType }, args, act);
	return { name, title, description, input, output, changes, run };
}

const NAMES = ["read_file", "write_file", "patch", "search_files", "upload", "download"] as const;
