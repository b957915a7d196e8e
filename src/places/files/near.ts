/** Files of this machine, with the rights of this program. */
import { createHash } from "node:crypto";
import fs, { constants } from "node:fs";
import fsp from "node:fs/promises";
import path from "node:path";
import { errno, HoldfastError } from "../../base/errors.js";
import { runHere } from "./command.js";
import { type Entry, type Files, fileError, kindOf, type PutItem, stopIf, type WriteOptions } from "./files.js";
import { nearDraft } from "./near-draft.js";

const STEP = 1024 * 1024;

export const nearFiles = (): Files => near;

const near: Files = {
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
	rename: (from, to) => fsp.rename(from, to).catch((error: unknown) => fail(error, from)),
	hash: (file, signal) =>
		reading(file, async (handle) => {
			const hash = createHash("sha256");
			for await (const piece of handle.createReadStream({ autoClose: false, highWaterMark: STEP, ...(signal ? { signal } : {}) })) hash.update(piece as Buffer);
			return hash.digest("hex");
		}),
	run: (script, args, options) => runHere(["sh"], script, args, options),
	async putAll(dir, items, { signal } = {}) {
		for (const item of items) {
			stopIf(signal, dir);
			await putOne(dir, item);
		}
	},
	async readAll(dir, names) {
		const found: Buffer[] = [];
		for (const { name, size } of names) {
			const bytes = await near.read(path.join(dir, name), 0, size + 1);
			if (bytes.length !== size) throw new HoldfastError("ANSWERED", `${path.join(dir, name)} was changed while it was read; try again`);
			found.push(bytes);
		}
		return found;
	},
};

export function entryOf(name: string, stat: fs.Stats): Entry {
	const { size, mode, mtimeMs, uid, gid, nlink } = stat;
	return { name, kind: kindOf(mode), size, mode: mode & 0o7777, mtime: Math.floor(mtimeMs / 1000), uid, gid, links: nlink };
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

/** Nothing is written through a link below `dir`: who made it may have had something else in mind. */
async function putOne(dir: string, item: PutItem): Promise<void> {
	const file = path.join(dir, item.name);
	try {
		for (let above = path.dirname(item.name); above !== "." && above !== ""; above = path.dirname(above)) {
			const stat = fs.lstatSync(path.join(dir, above), { throwIfNoEntry: false });
			if (stat && !stat.isDirectory())
				throw new HoldfastError("INVALID", `${path.join(dir, above)} is there and is no directory; nothing was written below it`);
		}
		const there = fs.lstatSync(file, { throwIfNoEntry: false });
		if (item.kind === "directory") {
			if (there && !there.isDirectory()) throw new HoldfastError("INVALID", `${file} is there and is no directory`);
			await makeDirs(file);
			await fsp.chmod(file, item.mode);
			return;
		}
		if (there?.isDirectory()) throw new HoldfastError("INVALID", `${file} is there and is a directory`);
		if (item.kind === "file") await near.write(file, item.content, { mode: item.mode, replaceLink: true });
		else {
			await makeDirs(path.dirname(file));
			if (there) await fsp.unlink(file);
			await fsp.symlink(item.target, file);
		}
	} catch (error) {
		throw fileError(error, file);
	}
}
