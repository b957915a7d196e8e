/** Small helpers for files of the home. */
import { randomBytes } from "node:crypto";
import fs from "node:fs";
import path from "node:path";
import { errno } from "./errors.js";

/** Makes a directory and those above it, for their owner alone. Node's own recursive mkdir never returns below /proc. */
export function ensureDir(dir: string): void {
	try {
		makeDir(dir);
	} catch (error) {
		if (errno(error) !== "ENOENT") throw error;
		const parent = path.dirname(dir);
		if (!fs.existsSync(parent)) ensureDir(parent);
		makeDir(dir); // also when the parent has appeared since: another program is making the same
	}
}

function makeDir(dir: string): void {
	try {
		fs.mkdirSync(dir, { mode: 0o700 });
	} catch (error) {
		if (errno(error) !== "EEXIST" || !fs.statSync(dir).isDirectory()) throw error;
	}
}

/** Returns the content, or undefined if there is no such file. */
export function readIfThere(file: string): Buffer | undefined {
	try {
		return fs.readFileSync(file);
	} catch (error) {
		if (errno(error) === "ENOENT" || errno(error) === "ENOTDIR") return undefined;
		throw error;
	}
}

/** Returns the names in a directory; none if it does not exist. */
export function namesIn(dir: string): string[] {
	try {
		return fs.readdirSync(dir);
	} catch (error) {
		if (errno(error) === "ENOENT" || errno(error) === "ENOTDIR") return [];
		throw error;
	}
}

/** Writes a file for its owner alone, whole or not at all: another program may be reading it. `sync`: it is on the disk afterwards, under its name. */
export function writeWhole(file: string, content: string | Buffer, options: { readonly sync?: boolean } = {}): void {
	const temp = path.join(path.dirname(file), `.${path.basename(file)}.${randomBytes(6).toString("hex")}`);
	try {
		const fd = fs.openSync(temp, "wx", 0o600);
		try {
			fs.writeFileSync(fd, content);
			if (options.sync) fs.fdatasyncSync(fd);
		} finally {
			fs.closeSync(fd);
		}
		fs.renameSync(temp, file);
	} finally {
		fs.rmSync(temp, { force: true });
	}
	if (options.sync) syncDir(path.dirname(file));
}

/** After it, names that were made in the directory are there also after a power cut. */
export function syncDir(dir: string): void {
	const fd = fs.openSync(dir, "r");
	try {
		fs.fsyncSync(fd);
	} catch (error) {
		if (errno(error) !== "EINVAL") throw error; // a file system that does not sync directories
	} finally {
		fs.closeSync(fd);
	}
}
