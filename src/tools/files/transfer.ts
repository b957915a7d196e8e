/** `upload` and `download`: between the machine that this runs on and the task's place. */
import os from "node:os";
import path from "node:path";
import { HoldfastError } from "../../base/errors.js";
import { realPath } from "../../base/files.js";
import { counted } from "../../base/quantity.js";
import { type Copied, copy, nearFiles } from "../../places/files/index.js";
import { type Ask, secondsOf } from "../ask.js";
import { Missing } from "./answer.js";
import type { TransferArgs } from "./input.js";
import { permitted, reads, writes } from "./permit.js";
import type { TransferResult } from "./result.js";
import { pathIn, type Where } from "./where.js";

const MARGIN_MS = 1_000;
const SKIPPED_SHOWN = 20;

export async function upload(ask: Ask, { source, target }: TransferArgs, where: Where): Promise<TransferResult> {
	const from = await hostPath(ask, where, source, { write: false });
	const to = withSlash(target, pathIn(where, target));
	return transfer(ask, where, {
		tool: "upload",
		command: where.near ? `${reads(from)}; ${writes(to)}` : writes(to),
		from: { files: nearFiles(), path: from },
		to: { files: where.files, path: to },
	});
}

export async function download(ask: Ask, { source, target }: TransferArgs, where: Where): Promise<TransferResult> {
	const from = dotted(source, pathIn(where, source));
	const to = withSlash(target, await hostPath(ask, where, target, { write: true }));
	if (!where.near && (await where.files.stat(pathIn(where, source)))?.kind === "directory" && (await nearFiles().stat(to)))
		throw new HoldfastError(
			"FORBIDDEN",
			`${to} is there already; a directory is downloaded only to where nothing is yet, so that it cannot replace anything. Give another target; nothing was copied`,
		);
	return transfer(ask, where, {
		tool: "download",
		command: where.near ? `${reads(from)}; ${writes(to)}` : reads(from),
		from: { files: where.files, path: from },
		to: { files: nearFiles(), path: to },
	});
}

type Plan = {
	readonly tool: "upload" | "download";
	readonly command: string;
	readonly from: Parameters<typeof copy>[0];
	readonly to: Parameters<typeof copy>[1];
};

function transfer(ask: Ask, where: Where, { tool, command, from, to }: Plan): Promise<TransferResult> {
	return permitted(ask, { tool, command, cwd: where.cwd }, async (record) => {
		if (!(await from.files.stat(path.posix.resolve(from.path)))) throw new Missing(path.posix.resolve(from.path));
		record(0);
		const { signal, expired, close } = deadline(ask);
		const began = performance.now();
		let seen = "";
		try {
			const copied = await copy(from, to, {
				signal,
				progress: ({ files, totalFiles, bytes, totalBytes }) => {
					seen = `${bytes} of ${counted(totalBytes, "byte")}, ${files} of ${counted(totalFiles, "file")}`;
					ask.call.progress?.(`${tool}: ${seen}`);
				},
			});
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

/** A door that has to answer by some time gets an answer by then. */
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
 * On this machine. Where commands run elsewhere, or in a sandbox, this machine is not the agent's: then it is the directory that the
 * program was started in, without what is hidden in it, and never a home or more.
 */
async function hostPath(ask: Ask, where: Where, given: string, { write }: { write: boolean }): Promise<string> {
	if (where.near) return withSlash(given, dotted(given, pathIn(where, given)));
	const base = realPath(ask.runtime.directory);
	const file = pathIn({ cwd: base, home: os.homedir() }, given);
	const there = await nearFiles().stat(file, { follow: false });
	const real = there ? realPath(file) : path.join(realPath(path.dirname(file)), path.basename(file));
	const below = path.relative(base, real);
	const home = realPath(os.homedir());
	const wide = base === home || home.startsWith(base === "/" ? "/" : `${base}/`);
	const outside = below.startsWith("..") || path.isAbsolute(below);
	const hidden = below.split("/").some((name) => name.startsWith(".") && name !== "" && name !== ".");
	if (wide || outside || hidden) {
		const why = wide
			? `Holdfast was started in ${base}, which has a whole home in it`
			: outside
				? `it is outside of ${base}, where Holdfast was started`
				: "it is hidden (a name with a dot)";
		throw new HoldfastError(
			"FORBIDDEN",
			`${file} is on your user's machine, and cannot be ${write ? "written" : "read"} from here: ${why}. Nothing was copied; your user can do it with \`holdfast cp\``,
		);
	}
	return dotted(given, real);
}

/** Slashes and dots at the end mean something to a copy. */
const withSlash = (given: string, file: string): string => (given.endsWith("/") && file !== "/" ? `${file}/` : file);
const dotted = (given: string, file: string): string => (/(?:^|\/)\.$/.test(given) ? `${file}/.` : file);
