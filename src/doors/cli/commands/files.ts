/** The tools for files as commands: what they take as options, what is natural as words. */
import type * as z from "zod";
import type { Approver } from "../../../approvals/index.js";
import { ERRORS, type ErrorCode, HoldfastError, keptProcesses } from "../../../base/index.js";
import { FILE_TOOLS } from "../../../tools/files/index.js";
import { renderResult } from "../../../tools/index.js";
import { askHere } from "../approve.js";
import { canAsk } from "../ask.js";
import { type CliCall, type CommandBody, EXIT } from "../command.js";
import { interruptible } from "../interruptible.js";
import { argumentsOf, optionsOf } from "../tool-options.js";

type Name = (typeof FILE_TOOLS)[number]["name"];

interface Manner {
	readonly name: string;
	readonly tool: Name;
	readonly usage: string;
	readonly teach: string;
	/** Parameters that words stand for, in order. */
	readonly words: readonly string[];
	/** The parameter that comes from standard input when it is not given. */
	readonly input?: string;
	/** Only if none of these is given. */
	readonly unless?: readonly string[];
}

const readFile: Manner = {
	name: "read-file",
	tool: "read_file",
	usage: "PATH [OPTIONS]",
	words: ["path"],
	teach: `Examples
  holdfast read-file src/index.ts --offset 100 --limit 50
  holdfast read-file --place ssh://me@box /etc/os-release`,
};

const writeFile: Manner = {
	name: "write-file",
	tool: "write_file",
	usage: "PATH [OPTIONS] < CONTENT",
	words: ["path"],
	input: "content",
	teach: `The content is text: for any bytes use \`holdfast cp\`.

Example
  echo hello | holdfast write-file notes/today.md`,
};

const patchFile: Manner = {
	name: "patch",
	tool: "patch",
	usage: "[PATH] [OPTIONS] [< DIFF]",
	words: ["path"],
	input: "diff",
	unless: ["old_string", "new_string", "edits"],
	teach: `Examples
  holdfast patch config.py --old-string 'DEBUG = True' --new-string 'DEBUG = False'
  holdfast patch config.py --edits '[{"old_string": "a = 1", "new_string": "a = 2"}, {"old_string": "b = 1", "new_string": ""}]'
  git diff | holdfast patch --place docker://debian`,
};

const searchFiles: Manner = {
	name: "search-files",
	tool: "search_files",
	usage: "PATTERN [PATH] [OPTIONS]",
	words: ["pattern", "path"],
	teach: `Examples
  holdfast search-files 'TODO|FIXME' src --glob '*.ts' --context 1
  holdfast search-files '*.lock' --target names`,
};

export const fileCommand = (name: string): CommandBody => commandFor([readFile, writeFile, patchFile, searchFiles].find((one) => one.name === name) as Manner);

function commandFor({ name, tool, usage, teach, words, input, unless = [] }: Manner): CommandBody {
	const { input: later } = FILE_TOOLS.find((one) => one.name === tool) as { input: z.ZodLazy<z.ZodObject> };
	const schema = later._zod.innerType;
	return {
		name,
		usage,
		options: optionsOf(schema, words),
		starts: true,
		teach: `Paths are those of the task's place, and relative ones start in the directory of its shell. With --json the result object, as in docs/files.md.\n\nExit code: 0; 1 when it failed or was refused, 3 when there is no such file, 75 when the place waits in a queue or is being made, 130 when it was interrupted.\n\n${teach}`,
		async run(call) {
			const args: Record<string, unknown> = argumentsOf(schema, call.values);
			if (call.words.length > words.length)
				throw new HoldfastError("INVALID", `"${call.words[words.length]}" is not expected; see \`holdfast ${name} --help\``);
			for (const [at, word] of call.words.entries()) args[words[at] as string] = word;
			if (input !== undefined && args[input] === undefined && !unless.some((given) => args[given] !== undefined)) args[input] = await standardInput(input);
			return callFileTool(call, tool, args);
		},
	};
}

async function callFileTool(call: CliCall, tool: Name, args: unknown): Promise<number> {
	const { out } = call;
	const runtime = await call.agent();
	const asks = canAsk() && !out.json && keptProcesses().length === 0;
	const approver: Approver = (approval, signal) => askHere(approval, out, signal);
	let code: ErrorCode | undefined;
	const failed = (why: ErrorCode) => {
		code = why;
	};
	const result = await interruptible((signal) => runtime.file(tool, args, { signal, failed, door: "cli", ...(asks ? { approver } : {}) }));
	if (out.json) out.data(result);
	else out.line(renderResult(result));
	if (code === "PENDING") return ERRORS.PENDING.exit;
	if (result.status === "not_found") return EXIT.notFound;
	if (result.status === "interrupted") return EXIT.interrupted;
	return result.status === "ok" ? EXIT.ok : EXIT.failed;
}

async function standardInput(what: string): Promise<string> {
	if (process.stdin.isTTY) throw new HoldfastError("INVALID", `give --${what}, or the ${what} on standard input`);
	const pieces: Buffer[] = [];
	for await (const piece of process.stdin) pieces.push(piece as Buffer);
	const bytes = Buffer.concat(pieces);
	try {
		return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
	} catch {
		throw new HoldfastError("INVALID", `the ${what} on standard input is not UTF-8 text; \`holdfast cp\` copies any bytes`);
	}
}
