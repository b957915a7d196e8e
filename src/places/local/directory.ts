/** Local directories, and the working directories of local processes. */
import fs from "node:fs";
import path from "node:path";
import { linkOf, statIfThere } from "../../base/index.js";

function isDirectory(dir: string): boolean {
	try {
		return statIfThere(dir)?.isDirectory() ?? false;
	} catch {
		return false; // cannot be examined, so cannot be entered
	}
}

/** Maps a path as a process sees it to one that this program can examine. */
export type PathView = (dir: string) => string;

/** Returns the directory itself, or its nearest existing parent. */
export function existingParent(dir: string, at: PathView = (same) => same): string {
	let found = path.resolve(dir);
	while (found !== "/" && !isDirectory(at(found))) found = path.dirname(found);
	return found;
}

/** The same, for directories that can be entered. */
export function enterableParent(dir: string): string {
	let found = existingParent(dir);
	while (found !== "/" && !canEnter(found)) found = path.dirname(found);
	return found;
}

function canEnter(dir: string): boolean {
	try {
		fs.accessSync(dir, fs.constants.X_OK);
		return true;
	} catch {
		return false;
	}
}

/** Returns the real working directory of a process, whatever it reports itself. A removed directory has its last name. */
export function directoryOf(pid: number): string | undefined {
	const real = linkOf(`/proc/${pid}/cwd`);
	return real !== undefined && isRemoved(pid) ? real.replace(/ \(deleted\)$/, "") : real;
}

/** Returns true if the process is in a removed directory. */
export function isRemoved(pid: number): boolean {
	try {
		return fs.statSync(`/proc/${pid}/cwd`).nlink === 0;
	} catch {
		return false; // the process has ended
	}
}

/** Returns the shell's own name of its directory if that is correct; else the kernel's. $PWD can be set to anything. */
export function trueDirectory(said: string, pid: number, sandboxed: boolean): string {
	if (sandboxed) return path.isAbsolute(said) ? said : "/"; // the kernel's name outside is no path inside
	if (linkOf(`/proc/${pid}/cwd`) === said) return said;
	const real = directoryOf(pid) ?? "/";
	return path.isAbsolute(said) && isSame(said, `/proc/${pid}/cwd`) ? said : real;
}

/** Returns true if both names lead to one directory. */
export function isSame(one: string, other: string): boolean {
	try {
		const [a, b] = [fs.statSync(one), fs.statSync(other)];
		return a.ino === b.ino && a.dev === b.dev;
	} catch {
		return false; // one of them does not exist
	}
}
