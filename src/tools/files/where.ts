/** Where a call is about: the files of the task's place, from the same directory as its shell. */
import os from "node:os";
import path from "node:path";
import { HoldfastError } from "../../base/errors.js";
import { isAlive } from "../../base/proc.js";
import { commandEnd, type Files, farFiles, linkEnd, nearFiles } from "../../places/files/index.js";
import type { Place } from "../../places/place.js";
import type { Ask } from "../ask.js";
import type { AgentRuntime } from "../runtime.js";

export interface Where {
	readonly files: Files;
	readonly cwd: string;
	/** What `~` stands for there. */
	readonly home: string;
	/** The same file system as this program's. */
	readonly near: boolean;
	/** In a container or on another machine. */
	readonly box: boolean;
	/** In a sandbox: the directory that it shares with this machine. */
	readonly shared?: string;
}

export async function whereOf(ask: Ask): Promise<Where> {
	const { runtime, task, signal, call } = ask;
	const deadline = call.within === undefined ? Number.POSITIVE_INFINITY : ask.since + call.within;
	const { notes, ...where } = await findWhere(runtime, task, { signal, deadline });
	ask.notes.push(...notes);
	return where;
}

/** For a door that copies by itself. */
export async function filesOfTask(runtime: AgentRuntime, task: string): Promise<{ files: Files; resolve: (file: string) => string; notes: readonly string[] }> {
	const { notes, ...where } = await findWhere(runtime, task, {});
	return { files: where.files, resolve: (file) => pathIn(where, file), notes };
}

async function findWhere(
	runtime: AgentRuntime,
	task: string,
	patience: { signal?: AbortSignal | undefined; deadline?: number },
): Promise<Where & { notes: readonly string[] }> {
	const { cwd, env, notes } = await runtime.shells.context({ task, ...patience });
	const place = await runtime.place(task);
	const near = !place.sandbox && !place.box;
	const shared = place.sandbox ? { shared: place.cwd } : {};
	return { files: filesOf(place), cwd, home: env.HOME ?? (near ? os.homedir() : "/"), near, box: place.box !== undefined, ...shared, notes };
}

const SANDBOX_PATH = "/usr/local/bin:/usr/bin:/bin:/usr/local/sbin:/usr/sbin:/sbin";
const known = new WeakMap<object, Files>();

function filesOf(place: Place): Files {
	const key = place.box ?? place; // what stays the same from call to call
	const found = known.get(key) ?? makeFiles(place);
	known.set(key, found);
	return found;
}

/** What is in a sandbox is seen and written by a shell that is in it: its paths may lead anybody outside astray. */
function makeFiles({ sandbox, box }: Place): Files {
	if (box) return farFiles(linkEnd({ use: (work, { signal }) => box.use(work, signal) }));
	if (!sandbox) return nearFiles();
	const { guard, words } = sandbox.entry(sandbox.id);
	const shell = () => {
		if (!isAlive(guard)) throw new HoldfastError("START_FAILED", "nothing was done: the sandbox has ended; try again, and a new one is made");
		return [...words, "sh"];
	};
	return farFiles(commandEnd(shell, { PATH: SANDBOX_PATH, HOME: "/", LC_ALL: "C" }));
}

/** Absolute, as the place has it. */
export function pathIn({ cwd, home }: Pick<Where, "cwd" | "home">, given: string): string {
	if (given.includes("\0")) throw new HoldfastError("INVALID", "a path cannot have a NUL byte in it; nothing was done");
	const expanded = given === "~" ? home : given.startsWith("~/") ? path.posix.join(home, given.slice(2)) : given;
	return path.posix.resolve(cwd, expanded);
}
