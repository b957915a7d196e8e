import { constants } from "node:fs";
import fsp from "node:fs/promises";
import path from "node:path";
import { errno, HoldfastError, realPath } from "../../base/index.js";
import { runHere } from "./command.js";
import { entryOf, type Files, fileError, type WriteOptions } from "./interface.js";
import { localDraft, makeDirs } from "./local-draft.js";
import { readPart, strictFiles, sumOf } from "./strict.js";

const _STEP = 1024 * 1024;

export const localFiles = (): Files => near;

const strict = strictFiles();

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
	read: (file, offset, max) => reading(file, (handle) => readPart(handle, offset, max)),
	async list(dir) {
		try {
			const names = await fsp.readdir(dir, { encoding: "buffer" }); // a name that is not UTF-8 cannot be looked up by its text
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
		const draft = await localDraft(file, content, options);
		try {
			return await draft.commit();
		} finally {
			await draft.drop();
		}
	},
	draft: (file, content, options: WriteOptions = {}) => localDraft(file, content, options),
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
	discard: (file) => strict.discard(path.join(realPath(path.dirname(file)), path.basename(file))),
	rename: (from, to) => fsp.rename(from, to).catch((error: unknown) => fail(error, from)),
	hash: (file, signal) => reading(file, (handle) => sumOf(handle, signal)),
	run: (script, args, options) => runHere(["sh"], script, args, options),
	// Whole folders: links above them are followed, links inside are not.
	tree: (dir, signal) => strict.tree(realPath(dir), signal),
	tidy: (dir) => strict.tidy(realPath(dir)),
	install: (stage, dir, mode) => strict.install(stage, path.join(realPath(path.dirname(dir)), path.basename(dir)), mode),
	merge: (stage, dir) => strict.merge(path.join(realPath(path.dirname(stage)), path.basename(stage)), realPath(dir)),
	putAll: (dir, items, options) => strict.putAll(realPath(dir), items, options),
	readAll: (dir, names, signal) => strict.readAll(realPath(dir), names, signal),
};

/** Handles an entry that was removed after its name was read. */
function gone(error: unknown): undefined {
	if (errno(error) !== "ENOENT") throw error;
}

function fail(error: unknown, file: string): never {
	throw fileError(error, file);
}

/** Opens only regular files: a pipe would block for ever. */
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
