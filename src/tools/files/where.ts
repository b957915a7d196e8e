/** Locates the files of a call: those of the task's place, relative to the directory of its shell. */
import os from "node:os";
import path from "node:path";
import { HoldfastError } from "../../base/index.js";
import type { Files } from "../../places/files/index.js";
import type { Place } from "../../places/index.js";
import type { Ask } from "../ask.js";
import type { ToolHost } from "../host.js";

export interface FilesAt {
	readonly files: Files;
	readonly cwd: string;
	/** The meaning of `~` at the place. */
	readonly home: string;
	/** How much of this machine's file system the place sees. */
	readonly sees: Place["sees"];
	/** The directory that a sandbox shares with this machine. */
	readonly shared?: string;
}

export async function whereOf(ask: Ask): Promise<FilesAt> {
	const { runtime, task, signal, call } = ask;
	const answerBy = call.within === undefined ? Number.POSITIVE_INFINITY : ask.since + call.within;
	const { notes, ...where } = await findWhere(runtime, task, { signal, answerBy });
	ask.notes.push(...notes);
	return where;
}

export interface FilesOfTask {
	readonly files: Files;
	/** Returns the absolute path at the place; a relative path starts in the directory of the task's shell. */
	resolve(file: string): string;
	readonly notes: readonly string[];
}

/** Returns the files of a task for callers that copy without a tool: the command line, and `task.files`. */
export async function filesOfTask(runtime: ToolHost, task: string, signal?: AbortSignal): Promise<FilesOfTask> {
	const { notes, ...where } = await findWhere(runtime, task, { signal });
	return { files: where.files, resolve: (file) => pathIn(where, file), notes };
}

async function findWhere(
	runtime: ToolHost,
	task: string,
	patience: { signal?: AbortSignal | undefined; answerBy?: number },
): Promise<FilesAt & { notes: readonly string[] }> {
	const { cwd, env, notes } = await runtime.shells.context({ task, ...patience });
	const place = await runtime.place(task);
	const { files, sees } = place;
	const shared = sees === "part" ? { shared: place.cwd } : {};
	return { files, cwd, home: env.HOME ?? (sees === "all" ? os.homedir() : "/"), sees, ...shared, notes };
}

/** Returns the absolute path at the place. */
export function pathIn({ cwd, home }: Pick<FilesAt, "cwd" | "home">, given: string): string {
	if (given.includes("\0")) throw new HoldfastError("INVALID", "a path cannot have a NUL byte in it; nothing was done");
	const expanded = given === "~" ? home : given.startsWith("~/") ? path.posix.join(home, given.slice(2)) : given;
	return path.posix.resolve(cwd, expanded);
}
