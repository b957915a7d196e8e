/**
 * A kill that is under way: a file in the directory of its process names the program that kills. A tree is stopped before it is signalled
 * (halt.ts). If that program is itself killed in between, the tree stays stopped and nothing else would ever continue it; so the next
 * program that looks at the process finishes the kill.
 *
 * The file is `plan`, which is empty and of no more use once the command has started; it becomes `killing`, and `killed` when a signal has
 * reached the tree. At the end `killed` is emptied. To make one file and remove it takes longer than all the signals of a kill.
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
		// the disk is full, or the directory was removed: a kill works without
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
 * Written when a signal of ours is certain to reach it, so that a natural end is never called a kill. `code`: its exit code, where the
 * shell that runs it would record that of an interrupted command: if this runtime is killed before it can put that right, the next
 * one knows. A code that no signal gives is of a command that ended by itself before that.
 */
export function markKilled(dir: string, code?: number): void {
	if (code !== undefined || !renamed(path.join(dir, "killing"), path.join(dir, "killed")))
		fs.writeFileSync(path.join(dir, "killed"), String(code ?? ""), { mode: 0o600 });
}

/** Returns undefined if it was not killed, else the code that it is to have if there is one. */
export function readKilled(dir: string): { readonly code?: number } | undefined {
	const mark = readMark(dir, "killed");
	return mark === undefined ? undefined : mark === "" || WHO.test(mark) ? {} : { code: Number(mark) };
}

/** Has a program been killed while it killed this process? */
export function wasCutShort(dir: string): boolean {
	return ["killing", "killed"].some((name) => {
		const who = readMark(dir, name) ?? "";
		return WHO.test(who) && isGone(who, path.join(dir, name));
	});
}

/** Asked at every look, mostly about files that are not there: an error costs ten times as much as a stat. */
function readMark(dir: string, name: string): string | undefined {
	const file = path.join(dir, name);
	const stat = fs.statSync(file, { throwIfNoEntry: false });
	return stat?.size === 0 ? "" : stat && readIfThere(file);
}

/** Returns false if another kill has done it before, or there is no such file. */
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
