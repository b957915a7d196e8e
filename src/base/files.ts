import { randomBytes } from "node:crypto";
import fs from "node:fs";
import path from "node:path";
import { errno, HoldfastError } from "./errors.js";

/** The content, or undefined when there is no such file. Other failures throw. */
export function readIfThere(path: string): string | undefined {
	try {
		return fs.readFileSync(path, "utf8");
	} catch (error) {
		if (errno(error) === "ENOENT" || errno(error) === "ENOTDIR" || errno(error) === "ESRCH") return undefined;
		throw error;
	}
}

/** Returns the first bytes of a file that another program may have made as long as it likes. */
export function readStart(file: string, bytes: number): string {
	const fd = fs.openSync(file, "r");
	try {
		const buffer = Buffer.allocUnsafe(bytes);
		return buffer.toString("utf8", 0, fs.readSync(fd, buffer, 0, bytes, 0));
	} finally {
		fs.closeSync(fd);
	}
}

/** Write a file, for its owner alone, whole or not at all: others may be reading it. `fresh`: only if there is none yet. */
export function writeWhole(file: string, content: string, options: { fresh?: boolean } = {}): void {
	const temp = path.join(path.dirname(file), `.${randomBytes(6).toString("hex")}`);
	try {
		fs.writeFileSync(temp, content, { mode: 0o600, flag: "wx" });
		if (options.fresh) fs.linkSync(temp, file);
		else fs.renameSync(temp, file);
	} finally {
		unlinkIfThere(temp);
	}
}

/** Remove a file that may be gone already. */
export function unlinkIfThere(path: string): void {
	try {
		fs.unlinkSync(path);
	} catch (error) {
		if (errno(error) !== "ENOENT") throw error;
	}
}

/** Whether a name, which others can change, still stands for a file of ours. It is not opened. */
export function isSameFile(name: string, ours: string): boolean {
	try {
		const [one, other] = [fs.lstatSync(name), fs.statSync(ours)];
		return one.ino === other.ino && one.dev === other.dev;
	} catch {
		return false; // gone, locked, or not a name any more
	}
}

export function statIfThere(path: string): fs.Stats | undefined {
	try {
		return fs.statSync(path);
	} catch (error) {
		if (errno(error) === "ENOENT" || errno(error) === "ENOTDIR") return undefined;
		throw error;
	}
}

/** Another after every change, as far as the file system can tell; empty when there is no such file. */
export function versionOf(file: string): string {
	try {
		const stat = fs.statSync(file, { throwIfNoEntry: false });
		return stat ? `${stat.ino} ${stat.mtimeMs} ${stat.ctimeMs} ${stat.size}` : "";
	} catch {
		return "?"; // cannot be looked at: the reader of the file says why
	}
}

const LINKS = 40; // as many as the kernel follows

/**
 * Returns where an absolute path leads through all links, also if nothing is there yet: a write to a dangling link makes the file that it
 * names. A circle of links leads to one of them.
 */
export function realPath(file: string): string {
	try {
		if (isMissing(file)) return path.join(realPath(path.dirname(file)), path.basename(file));
		return fs.realpathSync.native(file);
	} catch {
		return path.isAbsolute(file) ? linkByLink(file) : file;
	}
}

/** A name that nothing has, not even a link, as of a file that is still to be made. Asked first: an exception takes as long as ten looks. */
const isMissing = (file: string): boolean =>
	path.isAbsolute(file) && path.normalize(file) === file && !file.endsWith("/") && fs.lstatSync(file, { throwIfNoEntry: false }) === undefined;

/** Name by name, as the kernel does: `..` is above the directory that a link has led to. */
function linkByLink(file: string): string {
	let at = "/";
	let links = 0;
	const left = file.split("/").reverse();
	for (let name = left.pop(); name !== undefined; name = left.pop()) {
		if (name === "" || name === ".") continue;
		const next = name === ".." ? path.dirname(at) : path.join(at, name);
		const target = name === ".." ? undefined : linkTarget(next);
		if (target === undefined || ++links > LINKS) at = next;
		else {
			if (target.startsWith("/")) at = "/";
			left.push(...target.split("/").reverse());
		}
	}
	return at;
}

function linkTarget(file: string): string | undefined {
	try {
		return fs.readlinkSync(file);
	} catch {
		return undefined; // no link, nothing, or not to be looked at
	}
}

/** The names in a directory; none when it does not exist. */
export function namesIn(path: string): string[] {
	try {
		return fs.readdirSync(path);
	} catch (error) {
		if (errno(error) === "ENOENT" || errno(error) === "ENOTDIR") return [];
		throw error;
	}
}

/** Make a directory and those above it, for their owner alone. Node's own recursive mkdir never returns below /proc. */
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

/** Remove a directory with all that is in it. A keeper that is just ending may still put a file there: then once more. */
export function removeDir(dir: string): void {
	for (let tries = 1; ; tries++) {
		try {
			fs.rmSync(dir, { recursive: true, force: true });
			return;
		} catch (error) {
			if (errno(error) !== "ENOTEMPTY" || tries >= 100) throw error;
		}
	}
}

/** Returns the directory where this program was started. */
export function ownDirectory(): string {
	try {
		return process.cwd();
	} catch (cause) {
		throw new HoldfastError("NO_DIRECTORY", "the directory that Holdfast was started in is gone; start it again in one that exists", { cause });
	}
}

/** Returns the identity of a file, which stays when it is moved: its inode with its birth time, since inodes are reused. */
export function identityOf(file: string): string | undefined {
	try {
		const { dev, ino, birthtimeNs } = fs.lstatSync(file, { bigint: true });
		return `${dev}.${ino}.${birthtimeNs}`;
	} catch {
		return undefined;
	}
}
