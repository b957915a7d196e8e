/** Other programs' files: read as they are, replaced in one step, never without a copy of the old content. */
import { randomBytes } from "node:crypto";
import fs from "node:fs";
import path from "node:path";
import { ensureDir, errno, fromSystem, HoldfastError, unlinkIfThere } from "../../base/index.js";

export interface ConfigFile {
	readonly path: string;
	/** The file itself, at the end of symbolic links. */
	readonly target: string;
	/** Undefined: there is no such file. */
	readonly bytes: Buffer | undefined;
}

export function readConfig(file: string): ConfigFile {
	try {
		const target = targetOf(file);
		if (target === undefined) return { path: file, target: file, bytes: undefined };
		if (!fs.statSync(target).isFile()) throw new HoldfastError("CONFIG", `${file} is not a file`);
		return { path: file, target, bytes: fs.readFileSync(target) };
	} catch (error) {
		throw inWords(error, `cannot read ${file}`);
	}
}

/** Returns where the old content is kept, null if there was none. Whatever kills us, the file is the old or the new one. */
export function replaceConfig(shown: ConfigFile, text: string): string | null {
	const now = readConfig(shown.path);
	if (now.target !== shown.target || !sameBytes(now.bytes, shown.bytes))
		throw new HoldfastError("CONFIG", `${shown.path} has changed since it was shown, and was left alone; run setup again`);
	const fresh = `${now.target}.holdfast-new-${randomBytes(4).toString("hex")}`; // in the same directory, so that it can be renamed
	let backup: string | null = null;
	try {
		if (now.bytes === undefined) ensureDir(path.dirname(now.target));
		writeLike(now, fresh, text);
		if (now.bytes !== undefined) backup = keep(now.target);
		fs.renameSync(fresh, now.target);
		return backup;
	} catch (error) {
		for (const file of [fresh, backup]) if (file) discard(file);
		throw inWords(error, `cannot change ${shown.path}, nothing was done`);
	}
}

function targetOf(file: string): string | undefined {
	try {
		return fs.realpathSync(file);
	} catch (error) {
		if (errno(error) !== "ENOENT") throw error;
		if (fs.lstatSync(file, { throwIfNoEntry: false })) throw new HoldfastError("CONFIG", `${file} is a symbolic link to nothing; remove it or mend it`);
		return undefined;
	}
}

const sameBytes = (one: Buffer | undefined, other: Buffer | undefined): boolean => (one && other ? one.equals(other) : one === other);

/** Mode and owner are the old file's. A new one is for its owner alone: what else comes to stand there may be secret. */
function writeLike(old: ConfigFile, file: string, text: string): void {
	const stat = old.bytes === undefined ? undefined : fs.statSync(old.target);
	const fd = fs.openSync(file, "wx", 0o600);
	try {
		fs.writeFileSync(fd, text);
		if (stat && (stat.uid !== process.geteuid?.() || stat.gid !== process.getegid?.())) fs.fchownSync(fd, stat.uid, stat.gid);
		if (stat) fs.fchmodSync(fd, stat.mode & 0o7777);
		fs.fsyncSync(fd);
	} finally {
		fs.closeSync(fd);
	}
}

/** A second name for the old file, which is about to lose its own: nothing to copy, mode and owner as they were. */
function keep(target: string): string {
	const stamp = new Date().toISOString().replace(/[-:]|\.\d+/g, "");
	for (let nth = 1; ; nth++) {
		const backup = `${target}.holdfast-backup-${stamp}${nth === 1 ? "" : `-${nth}`}`;
		try {
			linkOrCopy(target, backup);
			return backup;
		} catch (error) {
			if (errno(error) !== "EEXIST") throw error; // an earlier backup stays
		}
	}
}

function linkOrCopy(from: string, to: string): void {
	try {
		fs.linkSync(from, to);
	} catch (error) {
		if (errno(error) === "EEXIST") throw error;
		fs.copyFileSync(from, to, fs.constants.COPYFILE_EXCL); // a file system without hard links
	}
}

function discard(file: string): void {
	try {
		unlinkIfThere(file);
	} catch {
		// whatever hindered the change hinders this too
	}
}

function inWords(error: unknown, doing: string): HoldfastError {
	const code = errno(error);
	if (code === "EACCES" || code === "EPERM" || code === "EROFS")
		return new HoldfastError("CONFIG", `${doing}: not allowed (${code}); check the permissions of the file and its directory`, { cause: error });
	return fromSystem(error, doing);
}
