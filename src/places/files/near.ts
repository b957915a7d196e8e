/** Files of this machine, with the rights of this program. */
import { createHash } from "node:crypto";
import fs, { constants } from "node:fs";
import fsp from "node:fs/promises";
import path from "node:path";
import { errno, HoldfastError } from "../../base/errors.js";
import { runHere } from "./command.js";
import { type Entry, type Files, fileError, kindOf, type PutItem, stopIf, type WriteOptions } from "./files.js";
import { nearDraft, tidy } from "./near-draft.js";
import { discarded } from "./temporary.js";
import { walk } from "./walk.js";

const STEP = 1024 * 1024;

export const nearFiles = (): Files => near;

const near: Files = {
	near: true,
	async stat(file, { follow = true } = {}) {
		try {
			return entryOf(path.basename(file), await (follow ? fsp.stat(file) : fsp.lstat(file)));
		} catch (error) {
			if (errno(error) === "ENOENT" || errno(error) === "ENOTDIR") return undefined;
			throw fileError(error, file);
		}
	},
	read: (file, offset, max) =>
		reading(file, async (handle) => {
			const bytes = Buffer.allocUnsafe(max);
			let got = 0;
			while (got < max) {
				const { bytesRead } = await handle.read(bytes, got, Math.min(max - got, STEP), offset + got);
				if (bytesRead === 0) break;
				got += bytesRead;
			}
			return bytes.subarray(0, got);
		}),
	async list(dir) {
		try {
			const names = await fsp.readdir(dir, { encoding: "buffer" }); // one that is not UTF-8 cannot be looked at by its text
			const entries = await Promise.all(
				names.map((name) => fsp.lstat(Buffer.concat([Buffer.from(`${dir}/`), name])).then((stat) => entryOf(name.toString(), stat), gone)),
			);
			return entries.filter((entry) => entry !== undefined);
		} catch (error) {
			throw fileError(error, dir);
		}
	},
	readLink: (file) => fsp.readlink(file).catch((error: unknown) => fail(error, file)),
	async write(file, content, options = {}) {
		const draft = await nearDraft(file, content, options);
		try {
			return await draft.commit();
		} finally {
			await draft.drop();
		}
	},
	draft: (file, content, options: WriteOptions = {}) => nearDraft(file, content, options),
	async mkdir(dir, { mode } = {}) {
		const made = await makeDirs(dir);
		if (mode !== undefined) await fsp.chmod(dir, mode).catch((error: unknown) => fail(error, dir));
		return made;
	},
	async remove(file, { recursive = false } = {}) {
		try {
			if (recursive) await fsp.rm(file, { recursive: true, force: true, maxRetries: 2 });
			else if ((await fsp.lstat(file)).isDirectory()) await fsp.rmdir(file);
			else await fsp.unlink(file);
		} catch (error) {
			throw fileError(error, file);
		}
	},
	async discard(file) {
		await fsp.rm(file, { recursive: true, force: true, maxRetries: 2 }).catch(() => {}); // the next one that writes there removes it
		discarded(path.basename(file));
	},
	rename: (from, to) => fsp.rename(from, to).catch((error: unknown) => fail(error, from)),
	hash: (file, signal) =>
		reading(file, async (handle) => {
			const hash = createHash("sha256");
			for await (const piece of handle.createReadStream({ autoClose: false, highWaterMark: STEP, ...(signal ? { signal } : {}) })) hash.update(piece as Buffer);
			return hash.digest("hex");
		}),
	run: (script, args, options) => runHere(["sh"], script, args, options),
	tree: (dir, signal) => walk(near, dir, signal),
	tidy: async (dir) => tidy(dir),
	async install(stage, dir, mode) {
		try {
			if (fs.lstatSync(dir, { throwIfNoEntry: false })) throw Object.assign(new Error("it is there"), { code: "EEXIST" });
			fs.chmodSync(stage, mode);
			fs.renameSync(stage, dir);
		} catch (error) {
			throw fileError(error, dir);
		}
	},
	async merge(stage, dir) {
		try {
			inTheWay(stage, dir);
			moveAll(stage, dir);
			fs.rmSync(stage, { recursive: true });
		} catch (error) {
			throw fileError(error, dir);
		}
	},
	async putAll(dir, items, { signal } = {}) {
		const made = new Set<string>();
		const masked = process.umask();
		for (const [at, item] of items.entries()) {
			if (at % AT_ONCE === 0) await others();
			stopIf(signal, dir);
			putOne(dir, item, made, masked);
		}
	},
	async readAll(dir, names) {
		const found: Buffer[] = [];
		for (const [at, { name, size }] of names.entries()) {
			if (at % AT_ONCE === 0) await others();
			found.push(readWhole(path.join(dir, name), size));
		}
		return found;
	},
};

/** Small files one after the other are quickest without a wait between them; now and then everybody else has a turn. */
const AT_ONCE = 32;
const others = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

function readWhole(file: string, size: number): Buffer {
	let open: number | undefined;
	try {
		open = fs.openSync(file, constants.O_RDONLY | constants.O_NONBLOCK);
		const bytes = Buffer.allocUnsafe(size + 1);
		let got = 0;
		for (let more = -1; got < bytes.length && more !== 0; got += more) more = fs.readSync(open, bytes, got, bytes.length - got, got);
		if (got !== size) throw new HoldfastError("ANSWERED", `${file} was changed while it was read; try again`);
		return bytes.subarray(0, size);
	} catch (error) {
		throw fileError(error, file);
	} finally {
		if (open !== undefined) fs.closeSync(open);
	}
}

export function entryOf(name: string, stat: fs.Stats): Entry {
	const { size, mode, mtimeMs, ctimeMs, uid, gid, nlink, ino } = stat;
	const version = `${ino} ${mtimeMs} ${ctimeMs}`;
	return { name, kind: kindOf(mode), size, mode: mode & 0o7777, mtime: Math.floor(mtimeMs / 1000), uid, gid, links: nlink, version };
}

/** Removed since its name was read. */
function gone(error: unknown): undefined {
	if (errno(error) !== "ENOENT") throw error;
}

function fail(error: unknown, file: string): never {
	throw fileError(error, file);
}

/** Only what is a file: a pipe would hold us for ever. */
async function reading<T>(file: string, act: (handle: fsp.FileHandle) => Promise<T>): Promise<T> {
	let handle: fsp.FileHandle | undefined;
	try {
		handle = await fsp.open(file, constants.O_RDONLY | constants.O_NONBLOCK);
		const stat = await handle.stat();
		if (stat.isDirectory()) throw new HoldfastError("INVALID", `${file} is a directory`);
		if (!stat.isFile()) throw new HoldfastError("INVALID", `${file} is a device, a pipe or a socket, not a file`);
		return await act(handle);
	} catch (error) {
		throw fileError(error, file);
	} finally {
		await handle?.close();
	}
}

/** Node's own recursive mkdir never returns below /proc. */
export async function makeDirs(dir: string): Promise<string | undefined> {
	try {
		if (isDirectory(dir)) return undefined;
		const above = await makeDirs(path.dirname(dir));
		await fsp.mkdir(dir).catch((error: unknown) => {
			if (errno(error) !== "EEXIST" || !isDirectory(dir)) throw error; // another program is making the same
		});
		return above ?? dir;
	} catch (error) {
		if (errno(error) === "EEXIST" || errno(error) === "ENOTDIR")
			throw new HoldfastError("INVALID", `${dir} cannot be made a directory: something of that name is there, or above it`);
		throw fileError(error, dir);
	}
}

const isDirectory = (dir: string): boolean => fs.statSync(dir, { throwIfNoEntry: false })?.isDirectory() ?? false;

/** `made`: directories that are there, and need no look. */
function putOne(dir: string, item: PutItem, made: Set<string>, masked: number): void {
	const file = path.join(dir, item.name);
	const needed = item.kind === "directory" ? file : path.dirname(file);
	try {
		if (!made.has(needed)) fs.mkdirSync(needed, { recursive: true });
		made.add(needed);
		if (item.kind === "link") fs.symlinkSync(item.target, file);
		else {
			if (item.kind === "file") fs.writeFileSync(file, item.content, { flag: "wx", mode: item.mode });
			if (item.kind === "directory" || (item.mode & masked) !== 0) fs.chmodSync(file, item.mode);
		}
	} catch (error) {
		throw fileError(error, file);
	}
}

/** Nothing is written through a link: who made it may have had something else in mind. */
function inTheWay(stage: string, dir: string): void {
	for (const entry of fs.readdirSync(stage, { withFileTypes: true })) {
		const [from, to] = [path.join(stage, entry.name), path.join(dir, entry.name)];
		const there = fs.lstatSync(to, { throwIfNoEntry: false });
		if (!there) continue;
		if (!entry.isDirectory()) {
			if (there.isDirectory()) throw new HoldfastError("INVALID", `${to} is a directory`);
		} else if (!there.isDirectory()) throw new HoldfastError("INVALID", `${to} is there and is no directory; nothing was written`);
		else inTheWay(from, to);
	}
}

function moveAll(stage: string, dir: string): void {
	for (const entry of fs.readdirSync(stage, { withFileTypes: true })) {
		const [from, to] = [path.join(stage, entry.name), path.join(dir, entry.name)];
		if (entry.isDirectory() && fs.lstatSync(to, { throwIfNoEntry: false })) moveAll(from, to);
		else fs.renameSync(from, to);
	}
}
