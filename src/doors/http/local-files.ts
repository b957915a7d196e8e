/**
 * Files of the local place, with the rights of the user who started the server, as a command like `cat` would have them. Refused all the same:
 * the home, which has the token in it; and what is no regular file, such as a pipe, which would block for ever.
 */
import { randomBytes } from "node:crypto";
import fs from "node:fs";
import path from "node:path";
import { errno, HoldfastError } from "../../base/index.js";
import { Refusal } from "./refusal.js";
import type { FileEntry, FileView } from "./schemas.js";

export const ENTRIES = 5_000;
export const LOOKED_AT = 8_192;
export const UPLOAD_BYTES = 256 * 1024 * 1024;

export class PageFiles {
	readonly #home: string;

	constructor(home: string) {
		this.#home = fs.realpathSync(home);
	}

	/** Returns the real path, with links and dots resolved. */
	resolve(base: string, wanted: string | undefined): string {
		const real = attempt(() => fs.realpathSync(path.resolve(base, wanted ?? ".")));
		this.#allowed(real);
		return real;
	}

	view(file: string): FileView {
		const stat = attempt(() => fs.statSync(file));
		const type = stat.isDirectory() ? "directory" : stat.isFile() ? "file" : "other";
		const listed = type === "directory" ? this.#entries(file) : undefined;
		return {
			place: "local",
			path: file,
			type,
			parent: file === "/" ? null : path.dirname(file),
			entries: listed?.entries ?? null,
			omitted: listed?.omitted ?? 0,
			size: type === "file" ? stat.size : 0,
			modified_at: stat.mtime.toISOString(),
			text: type === "file" ? looksLikeText(file) : null,
		};
	}

	/** Open for reading. What was looked at is what is opened: no link, pipe or device that has taken its place. */
	open(file: string): { fd: number; size: number } {
		const fd = attempt(() => fs.openSync(file, fs.constants.O_RDONLY | fs.constants.O_NOFOLLOW | fs.constants.O_NONBLOCK));
		const stat = fs.fstatSync(fd);
		if (stat.isFile()) return { fd, size: stat.size };
		fs.closeSync(fd);
		throw new HoldfastError("INVALID", `${file} is not a file`);
	}

	/** Writes whole or not at all: other programs see the old file or the new one. The directory must exist. */
	async write(base: string, wanted: string, body: AsyncIterable<Uint8Array>, replace: boolean): Promise<{ path: string; size: number; replaced: boolean }> {
		const name = nameOf(wanted, path.resolve(base, wanted));
		const file = path.join(this.resolve(base, path.dirname(path.resolve(base, wanted))), name);
		this.#allowed(file);
		const before = checkTarget(file, replace);
		const draft = path.join(path.dirname(file), `.${name.slice(0, 100)}.${randomBytes(6).toString("hex")}`);
		try {
			const size = await save(draft, body, before?.mode);
			attempt(() => (replace ? fs.renameSync(draft, file) : fs.linkSync(draft, file)));
			return { path: file, size, replaced: before !== undefined };
		} finally {
			fs.rmSync(draft, { force: true });
		}
	}

	#entries(dir: string): { entries: FileEntry[]; omitted: number } {
		const names = attempt(() => fs.readdirSync(dir));
		const entries = names.slice(0, ENTRIES).flatMap((name) => entryOf(dir, name) ?? []);
		entries.sort(order);
		return { entries, omitted: Math.max(0, names.length - ENTRIES) };
	}

	#allowed(file: string): void {
		if (file === this.#home || file.startsWith(`${this.#home}/`)) throw new HoldfastError("FORBIDDEN", "the home of Holdfast itself cannot be seen here");
	}
}

export function nameOf(wanted: string, full: string): string {
	const name = path.basename(full);
	if (/[/\\]\.{0,2}$/.test(wanted) || name === "") throw new HoldfastError("INVALID", "the path must end in the name of a file");
	return name;
}

/** Directories first, then by name. */
export const order = (a: FileEntry, b: FileEntry): number => rank(a) - rank(b) || (a.name.toLowerCase() < b.name.toLowerCase() ? -1 : 1);

const rank = ({ type, target_type }: FileEntry): number => (type === "directory" || target_type === "directory" ? 0 : 1);

function entryOf(dir: string, name: string): FileEntry | undefined {
	const file = path.join(dir, name);
	const stat = fs.lstatSync(file, { throwIfNoEntry: false });
	if (!stat) return undefined; // removed meanwhile
	const link = stat.isSymbolicLink();
	return {
		name,
		type: link ? "link" : stat.isDirectory() ? "directory" : stat.isFile() ? "file" : "other",
		size: stat.size,
		modified_at: stat.mtime.toISOString(),
		mode: modeText(stat.isDirectory() ? "directory" : link ? "link" : stat.isFile() ? "file" : "other", stat.mode),
		...(link ? targetOf(file) : {}),
	};
}

function targetOf(link: string): Pick<FileEntry, "target" | "target_type"> {
	try {
		const stat = fs.statSync(link, { throwIfNoEntry: false });
		return { target: fs.readlinkSync(link), target_type: !stat ? "missing" : stat.isDirectory() ? "directory" : stat.isFile() ? "file" : "other" };
	} catch {
		return { target_type: "missing" }; // a circle, or not ours to follow
	}
}

export function modeText(type: FileEntry["type"], mode: number): string {
	const kind = { directory: "d", link: "l", file: "-", other: "?" }[type];
	return kind + [6, 3, 0].map((shift) => ["r", "w", "x"].map((letter, bit) => ((mode >> shift) & (4 >> bit) ? letter : "-")).join("")).join("");
}

function looksLikeText(file: string): boolean | null {
	try {
		const fd = fs.openSync(file, fs.constants.O_RDONLY | fs.constants.O_NONBLOCK);
		try {
			const bytes = Buffer.alloc(LOOKED_AT);
			const got = fs.readSync(fd, bytes, 0, LOOKED_AT, 0);
			return !bytes.subarray(0, got).includes(0);
		} finally {
			fs.closeSync(fd);
		}
	} catch {
		return null; // not ours to read
	}
}

/** A link is not followed and not replaced: what is behind it may be anywhere. */
function checkTarget(file: string, replace: boolean): fs.Stats | undefined {
	const stat = attempt(() => fs.lstatSync(file, { throwIfNoEntry: false }));
	if (stat && !stat.isFile()) throw new Refusal(409, "INVALID", `${file} is there and is no file; choose another name`);
	if (stat && !replace) throw new Refusal(409, "INVALID", `${file} is there already; say replace=true to replace it`);
	return stat;
}

async function save(file: string, body: AsyncIterable<Uint8Array>, mode: number | undefined): Promise<number> {
	const fd = attempt(() => fs.openSync(file, "wx", mode === undefined ? 0o666 : mode & 0o777));
	let size = 0;
	try {
		for await (const part of body) {
			size += part.length;
			if (size > UPLOAD_BYTES) throw new Refusal(413, "TOO_BIG", `a file may have ${UPLOAD_BYTES} bytes at most; nothing was written`);
			for (let at = 0; at < part.length; ) at += attempt(() => fs.writeSync(fd, part, at));
		}
		return size;
	} finally {
		fs.closeSync(fd);
	}
}

/** Returns a system error in words for the caller. */
function attempt<T>(act: () => T): T {
	try {
		return act();
	} catch (error) {
		const code = errno(error);
		if (code === "ENOENT" || code === "ENOTDIR") throw new HoldfastError("NOT_FOUND", "there is no such file or directory", { cause: error });
		if (code === "EACCES" || code === "EPERM" || code === "EROFS")
			throw new HoldfastError("FORBIDDEN", "you are not allowed to do that there", { cause: error });
		if (code === "ELOOP" || code === "ENAMETOOLONG" || code === "ENXIO" || code === "EISDIR")
			throw new HoldfastError("INVALID", `this path cannot be used (${code})`, { cause: error });
		if (code === "EEXIST") throw new Refusal(409, "INVALID", "a file of that name has just been made; say replace=true to replace it");
		throw error;
	}
}
