import fs from "node:fs";
import path from "node:path";
import { statIfThere } from "../base/files.js";
import { linkOf } from "../base/proc.js";

function isDirectory(dir: string): boolean {
	try {
		return statIfThere(dir)?.isDirectory() ?? false;
	} catch {
		return false; // not to be looked at, so not to be entered
	}
}

/** The directory itself, or the nearest one above it that exists. */
export function existingParent(dir: string): string {
	let found = path.resolve(dir);
	while (found !== "/" && !isDirectory(found)) found = path.dirname(found);
	return found;
}

/** Where a process is, whatever it thinks itself. A directory that was removed has its last name. */
export function directoryOf(pid: number): string {
	const real = linkOf(`/proc/${pid}/cwd`) ?? "/";
	return isRemoved(pid) ? real.replace(/ \(deleted\)$/, "") : real;
}

/** It is in a directory that has no name any more. */
export function isRemoved(pid: number): boolean {
	try {
		return fs.statSync(`/proc/${pid}/cwd`).nlink === 0;
	} catch {
		return false; // the process has ended
	}
}

/** What a shell calls its directory, if that is where it is; else what the kernel calls it. $PWD is for anybody to set. */
export function trueDirectory(said: string, pid: number): string {
	if (linkOf(`/proc/${pid}/cwd`) === said) return said;
	const real = directoryOf(pid);
	try {
		const [a, b] = [fs.statSync(said), fs.statSync(`/proc/${pid}/cwd`)];
		if (path.isAbsolute(said) && a.ino === b.ino && a.dev === b.dev) return said;
	} catch {
		// said is no path, or not to be looked at
	}
	return real;
}
