/** Directories of this machine, and where its processes are. */
import fs from "node:fs";
import path from "node:path";
import { linkOf, statIfThere } from "../../base/index.js";

function isDirectory(dir: string): boolean {
	try {
		return statIfThere(dir)?.isDirectory() ?? false;
	} catch {
		return false; // not to be looked at, so not to be entered
	}
}

/** A path as a process sees it, as one that can be looked at from here. */
export type PathView = (dir: string) => string;

/** The directory itself, or the nearest one above it that exists. */
export function existingParent(dir: string, at: PathView = (same) => same): string {
	let found = path.resolve(dir);
	while (found !== "/" && !isDirectory(at(found))) found = path.dirname(found);
	return found;
}

/** The same, and it must be one that can be entered. */
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

/** Returns where a process is, whatever it thinks itself. A directory that was removed has its last name. */
export function directoryOf(pid: number): string | undefined {
	const real = linkOf(`/proc/${pid}/cwd`);
	return real !== undefined && isRemoved(pid) ? real.replace(/ \(deleted\)$/, "") : real;
}

/** The process is in a directory that was removed. */
export function isRemoved(pid: number): boolean {
	try {
		return fs.statSync(`/proc/${pid}/cwd`).nlink === 0;
	} catch {
		return false; // the process has ended
	}
}

/** What a shell calls its directory, if that is where it is; else what the kernel calls it. $PWD is for anybody to set. */
export function trueDirectory(said: string, pid: number, sandboxed: boolean): string {
	if (sandboxed) return path.isAbsolute(said) ? said : "/"; // what the kernel calls it out here is no path in there
	if (linkOf(`/proc/${pid}/cwd`) === said) return said;
	const real = directoryOf(pid) ?? "/";
	return path.isAbsolute(said) && isSame(said, `/proc/${pid}/cwd`) ? said : real;
}

/** Two names of one directory. */
export function isSame(one: string, other: string): boolean {
	try {
		const [a, b] = [fs.statSync(one), fs.statSync(other)];
		return a.ino === b.ino && a.dev === b.dev;
	} catch {
		return false; // one of them is not there
	}
}
