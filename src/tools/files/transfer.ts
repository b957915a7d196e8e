/** `upload` and `download`: between the machine that Holdfast runs on and the task's place. */
import os from "node:os";
import path from "node:path";
import { configDir, counted, HoldfastError, realPath } from "../../base/index.js";
import { type Copied, type CopySide, checkEnd, copy, strictFiles } from "../../places/files/index.js";
import { type Ask, secondsOf } from "../ask.js";
import { Missing } from "./answer.js";
import type { TransferArgs } from "./input.js";
import { copies, copiesFile, permitted, reads, writes } from "./permit.js";
import type { TransferResult } from "./result.js";
import { type FilesAt, pathIn } from "./where.js";

const MARGIN_MS = 1_000;
const SKIPPED_SHOWN = 20;

export async function upload(ask: Ask, { source, target }: TransferArgs, where: FilesAt): Promise<TransferResult> {
	const to = { files: where.files, path: ends(target, pathIn(where, target)) };
	if (where.sees !== "nothing") return copyWithin(ask, where, "upload", { source, target });
	return transfer(ask, where, { tool: "upload", command: writes(to.path), from: hostEnd(ask, source, "read"), to });
}

export async function download(ask: Ask, { source, target }: TransferArgs, where: FilesAt): Promise<TransferResult> {
	const from = { files: where.files, path: ends(source, pathIn(where, source)) };
	if (where.sees !== "nothing") return copyWithin(ask, where, "download", { source, target });
	return transfer(ask, where, { tool: "download", command: reads(from.path), from, to: hostEnd(ask, target, "written") });
}

/**
 * Copies on this machine or within one of its sandboxes, where both ends are the task's own files. In a sandbox, programs inside it read and write
 * them, so the copy reaches only what the sandbox's commands reach, whatever links exist.
 */
async function copyWithin(ask: Ask, where: FilesAt, tool: Plan["tool"], { source, target }: TransferArgs): Promise<TransferResult> {
	const end = (given: string) => {
		const file = pathIn(where, given);
		return where.sees === "all" ? { files: strictFiles(), path: ends(given, realPath(file)) } : { files: where.files, path: ends(given, file) };
	};
	const [from, to] = [ends(source, pathIn(where, source)), ends(target, pathIn(where, target))];
	const kindOf = async (file: string) => (await where.files.stat(path.posix.resolve(file)))?.kind;
	const file = (await kindOf(from)) === "file"; // then the copy reads and writes like the other tools, and the rules decide the same
	const command = file ? copiesFile(from, (await kindOf(to)) === "directory" ? path.posix.join(to, path.posix.basename(from)) : to) : copies(from, to);
	return transfer(ask, where, { tool, command, from: end(source), to: end(target) });
}

type Plan = {
	readonly tool: "upload" | "download";
	readonly command: string;
	readonly from: CopySide;
	readonly to: CopySide;
};

function transfer(ask: Ask, where: FilesAt, { tool, command, from, to }: Plan): Promise<TransferResult> {
	return permitted(ask, { tool, command, cwd: where.cwd }, async (record) => {
		if (!(await from.files.stat(path.posix.resolve(from.path)))) throw new Missing(path.posix.resolve(from.path));
		const { signal, expired, close } = deadline(ask);
		const began = performance.now();
		let seen = "";
		try {
			const copied = await copy(from, to, {
				signal,
				placing: (at) => record(0, at && [at]),
				progress: ({ files, totalFiles, bytes, totalBytes }) => {
					seen = `${bytes} of ${counted(totalBytes, "byte")}, ${files} of ${counted(totalFiles, "file")}`;
					ask.call.progress?.(`${tool}: ${seen}`);
				},
			});
			if (where.shared !== undefined && !isWithin(copied.path, where.shared))
				ask.notes.push(`${copied.path} may be in the sandbox alone, and go with it; what your user is to find on the disk belongs below ${where.shared}.`);
			return resultOf(ask, copied);
		} catch (error) {
			if (!expired()) throw error;
			throw new HoldfastError(
				"LIMIT",
				`not finished within ${secondsOf(performance.now() - began)} (${seen || "it had not begun"}), which is as long as this call may take; nothing was put in place. Copy less at once, or tell your user about \`holdfast cp\``,
			);
		} finally {
			close();
		}
	});
}

/** Aborts early enough for the door to answer in time. */
function deadline(ask: Ask): { signal: AbortSignal; expired: () => boolean; close: () => void } {
	const stop = new AbortController();
	const { within } = ask.call;
	const timer = within === undefined ? undefined : setTimeout(() => stop.abort(), Math.max(1, within - (performance.now() - ask.since) - MARGIN_MS));
	return {
		signal: ask.signal ? AbortSignal.any([ask.signal, stop.signal]) : stop.signal,
		expired: () => stop.signal.aborted,
		close: () => clearTimeout(timer),
	};
}

function resultOf(ask: Ask, { kind, path: target, created, files, directories, links, bytes, sha256, skipped, notes }: Copied): TransferResult {
	ask.notes.push(...notes.slice(0, SKIPPED_SHOWN));
	if (skipped.length > 0)
		ask.notes.push(
			`${counted(skipped.length, "thing was", "things were")} left out: ${skipped.slice(0, SKIPPED_SHOWN).join(", ")}${skipped.length > SKIPPED_SHOWN ? ", …" : ""}.`,
		);
	return {
		status: "ok",
		output: "",
		error: null,
		path: target,
		kind,
		created,
		files,
		directories,
		links,
		bytes,
		...(sha256 === undefined ? {} : { sha256 }),
		...(skipped.length > 0 ? { skipped: skipped.slice(0, SKIPPED_SHOWN) } : {}),
		showing: `${kind === "file" ? "file" : counted(files, "file")}, ${counted(bytes, "byte")}, to ${target}`,
	};
}

/**
 * Returns an end on the machine that Holdfast runs on, for commands that run in a container or on another machine: that machine does not belong to the
 * agent. Allowed is the directory in which Holdfast was started, without hidden files and Holdfast's own, and nothing if that directory contains a
 * home. The check is about the path that is opened: links are resolved once, here, and never after.
 */
function hostEnd({ runtime }: Ask, given: string, done: "read" | "written"): CopySide {
	const base = runtime.directory; // a real path, without links
	const file = realPath(pathIn({ cwd: base, home: os.homedir() }, given));
	const home = realPath(os.homedir());
	const own = [runtime.home.root, configDir()].map(realPath);
	const refuse = (one: string): string | undefined => {
		const below = path.relative(base, one);
		if (isWithin(home, base)) return `it is on your user's machine, where Holdfast was started in ${base}, which has a whole home in it`;
		if (!isWithin(one, base)) return `it is on your user's machine, outside of ${base}, where Holdfast was started`;
		if (below.split("/").some((name) => name.startsWith("."))) return "it is hidden: a name with a dot";
		return own.some((dir) => isWithin(one, dir)) ? "it is Holdfast's own" : undefined;
	};
	const end = { files: strictFiles(), path: ends(given, file), refuse };
	checkEnd(end, file, done); // before any check whether it exists
	return end;
}

const isWithin = (file: string, dir: string): boolean => file === dir || file.startsWith(dir === "/" ? "/" : `${dir}/`);

/** Keeps a trailing slash or dot, which matters to a copy. */
const ends = (given: string, file: string): string => (/(?:^|\/)\.$/.test(given) ? `${file}/.` : given.endsWith("/") && file !== "/" ? `${file}/` : file);
