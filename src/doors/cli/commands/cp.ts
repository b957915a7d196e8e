import fs from "node:fs";
import path from "node:path";
import { counted, HoldfastError, realPath } from "../../../base/index.js";
import { type Copied, type CopyProgress, type CopySide, copy, strictFiles } from "../../../places/files/index.js";
import { filesOfTask } from "../../../tools/files/index.js";
import type { AgentRuntime } from "../../../tools/index.js";
import { type CommandBody, EXIT } from "../command.js";
import { interruptible } from "../interruptible.js";
import type { Output } from "../output.js";

export const cp: CommandBody = {
	name: "cp",
	usage: "SOURCE… TARGET",
	options: { quiet: { type: "boolean", short: "q", help: "no progress" } },
	starts: true,
	teach: `
A path that begins with a colon, or with there:, is one of the place (--place) of the task (--task); relative ones start in the directory of its
shell. Any other path is of this machine; ./a:b is a file whose name has a colon in it.
A target that is a directory gets the source into it, under its own name; else it is the new name. Folders go with all that is in them, and
SOURCE/. stands for what is in a folder. Permissions go along; links stay links. Each file is complete and checked by its sha256 before it
appears under its name.

Exit code: 0; 1 when it failed, 3 when there is no such file, 130 when it was interrupted.

Examples
  holdfast cp --place ssh://me@box ./dist :www/
  holdfast cp --task build :out.log .
  holdfast cp --place docker://debian there:/etc/os-release /tmp/`,
	async run(call) {
		const { words, out } = call;
		if (words.length < 2) throw new HoldfastError("INVALID", "give one or more sources and a target; `holdfast cp --help` has examples");
		const runtime = await call.agent();
		const sides = words.map((word) => sideOf(word, runtime));
		const target = sides.at(-1) as Side;
		const sources = sides.slice(0, -1);
		if (!target.there && !sources.some(({ there }) => there)) throw new HoldfastError("INVALID", "nothing here is about a place: write :PATH for a path in it");
		const place = await placeSide(runtime, sides);
		for (const note of place.notes) out.remark(note);
		const end = ({ there, path: file }: Side): CopySide =>
			there ? { files: place.files, path: ends(file, place.resolve(file)) } : { files: strictFiles(), path: ends(file, realPath(path.resolve(file))) };
		const to = end(target);
		if (sources.length > 1 && (await to.files.stat(to.path))?.kind !== "directory")
			throw new HoldfastError("INVALID", `several things can only be copied into a directory, and ${target.path} is none`);
		const results: Copied[] = [];
		for (const source of sources) {
			const progress = out.json || call.values.quiet ? undefined : reporter(out, source.path);
			results.push(
				await interruptible((signal) => copy(end(source), to, { signal, ...(progress ? { progress: progress.report } : {}) })).finally(() => progress?.end()),
			);
			runtime.audit.note(runtime.task, {
				event: "file",
				tool: "cp",
				command: `holdfast cp ${source.path} ${target.path}`,
				place: runtime.placeName,
				by: "cli",
				bytes: results.at(-1)?.bytes ?? 0,
			});
		}
		if (out.json) out.data({ copied: results });
		else for (const result of results) show(out, result);
		return EXIT.ok;
	},
};

interface Side {
	readonly there: boolean;
	readonly path: string;
}

function sideOf(word: string, { placeName }: AgentRuntime): Side {
	const match = /^([^/]*?):([\s\S]*)$/.exec(word);
	if (!match || fs.existsSync(word)) return { there: false, path: word };
	const [, name = "", rest = ""] = match;
	if (name === "" || name === "there" || name === placeName) return { there: true, path: rest === "" ? "." : rest };
	throw new HoldfastError(
		"INVALID",
		`"${name}:" is not known: :PATH is a path in the task's place (${placeName}), ./${word} a file here; another place is chosen with --place`,
	);
}

async function placeSide(runtime: AgentRuntime, sides: readonly Side[]): ReturnType<typeof filesOfTask> {
	if (!sides.some(({ there }) => there)) return { files: strictFiles(), resolve: (file) => path.resolve(file), notes: [] };
	return filesOfTask(runtime, runtime.task);
}

/** Restores the end of a path that resolving removes and that means something to a copy. */
const ends = (given: string, file: string): string =>
	/(?:^|\/)\.$/.test(given) && given !== "." ? `${file}/.` : given.endsWith("/") && file !== "/" ? `${file}/` : file;

const EVERY_MS = 200;

/** A line on a terminal that is written over. */
function reporter(out: Output, name: string): { report: (progress: CopyProgress) => void; end: () => void } | undefined {
	if (!process.stderr.isTTY) return undefined;
	let last = 0;
	return {
		report: ({ files, totalFiles, bytes, totalBytes }) => {
			const now = performance.now();
			if (now - last < EVERY_MS) return;
			last = now;
			const share = totalBytes === 0 ? 100 : Math.floor((100 * bytes) / totalBytes);
			process.stderr.write(
				`\r\x1b[K${out.style("dim", `${name}: ${share} %, ${bytes} of ${counted(totalBytes, "byte")}, ${files} of ${counted(totalFiles, "file")}`)}`,
			);
		},
		end: () => process.stderr.write("\r\x1b[K"),
	};
}

function show(out: Output, { kind, path: target, files, bytes, sha256, skipped, notes }: Copied): void {
	out.line(kind === "file" ? `${target}  ${counted(bytes, "byte")}  sha256 ${sha256}` : `${target}  ${counted(files, "file")}, ${counted(bytes, "byte")}`);
	for (const note of [...notes, ...skipped.map((one) => `left out: ${one}`)]) out.note(note);
}
