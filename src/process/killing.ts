/**
 * A kill in progress: a file in the directory of the process names the program that kills. A tree is stopped before it is signalled (halt.ts). If the
 * killing program is itself killed in between, the tree stays stopped and nothing would ever continue it; so the next program that looks at the
 * process finishes the kill.
 *
 * The file is `plan`, which is empty and unused once the command has started. It is renamed to `killing`, then to `killed` when a signal has reached
 * the tree. At the end `killed` is emptied. Creating and removing a file would take longer than all the signals of a kill.
 */
import fs from "node:fs";
import path from "node:path";
import { isGone, me, readIfThere, unlinkIfThere } from "../base/index.js";

const WHO = /^[0-9a-f]+\.\d+\.\d+$/;

export async function whileKilling<Result>(dir: string, kill: () => Promise<Result>): Promise<Result> {
	const who = me();
	try {
		const [file, plan] = [path.join(dir, "killing"), path.join(dir, "plan")];
		if (fs.statSync(plan, { throwIfNoEntry: false })?.size === 0) renamed(plan, file);
		fs.writeFileSync(file, who, { mode: 0o600 });
	} catch {
		// the disk is full, or the directory was removed: the kill works without the file
	}
	try {
		return await kill();
	} finally {
		if (["", who].includes(readMark(dir, "killing") ?? "another's")) unlinkIfThere(path.join(dir, "killing"));
		const killer = readMark(dir, "killed") ?? "";
		if (WHO.test(killer) && (killer === who || isGone(killer, path.join(dir, "killed")))) emptyIfThere(path.join(dir, "killed"));
	}
}

/**
 * Marks a process as killed. Called only when a signal is certain to reach it, so that a natural end is never called a kill. `code`: its exit code,
 * for a command whose shell would record the code of an interrupted command; if this runtime is killed before it can correct that, the next one knows
 * the code. An exit code that no signal produces belongs to a command that ended by itself first.
 */
export function markKilled(dir: string, code?: number): void {
	if (code !== undefined || !renamed(path.join(dir, "killing"), path.join(dir, "killed")))
		fs.writeFileSync(path.join(dir, "killed"), String(code ?? ""), { mode: 0o600 });
}

/** Returns undefined if the process was not killed; otherwise its intended exit code, if there is one. */
export function readKilled(dir: string): { readonly code?: number } | undefined {
	const mark = readMark(dir, "killed");
	return mark === undefined ? undefined : mark === "" || WHO.test(mark) ? {} : { code: Number(mark) };
}

/** Returns true if a program was killed while it killed this process. */
export function wasCutShort(dir: string): boolean {
	return ["killing", "killed"].some((name) => {
		const who = readMark(dir, name) ?? "";
		return WHO.test(who) && isGone(who, path.join(dir, name));
	});
}

/** Reads a mark. Called at every status check, mostly for files that do not exist: an error costs ten times as much as a stat. */
function readMark(dir: string, name: string): string | undefined {
	const file = path.join(dir, name);
	const stat = fs.statSync(file, { throwIfNoEntry: false });
	return stat?.size === 0 ? "" : stat && readIfThere(file);
}

/** Renames a file. Returns false if it does not exist, or if another kill has renamed it first. */
function renamed(from: string, to: string): boolean {
	try {
		fs.renameSync(from, to);
		return true;
	} catch {
		return false;
	}
}

function emptyIfThere(file: string): void {
	try {
		fs.truncateSync(file);
	} catch {
		// removed meanwhile
	}
}
