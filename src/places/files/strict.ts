/**
 * Local files for a copy: no link is followed, neither as the last name of a path nor above it, and none that appears meanwhile. The caller
 * resolves links (`realPath`) and decides about that path; reads and writes happen at that path or nowhere.
 */
import { createHash } from "node:crypto";
import fs, { constants } from "node:fs";
import fsp from "node:fs/promises";
import path from "node:path";
import { errno, HoldfastError } from "../../base/index.js";
import { runHere } from "./command.js";
import { HeldDirectory, inDirectory, linkInTheWay } from "./held.js";
import { type Content, type Draft, type Entry, entryOf, type Files, type WriteOptions } from "./interface.js";
import { localDraft, tidy } from "./local-draft.js";
import { install, merge, putAll, readAll } from "./strict-folder.js";
import { discarded } from "./temporary.js";
import { walk } from "./walk.js";

const STEP = 1024 * 1024;

export const strictFiles = (): Files => strict;

const strict: Files = {
	near: true,
	async stat(file, { follow = true } = {}) {
		try {
			const stat = await inDirectory(file, (dir, name) => dir.stat(name));
			if (follow && stat?.isSymbolicLink()) throw linkInTheWay(file);
			return stat && entryOf(path.basename(file), stat);
		} catch (error) {
			if (error instanceof HoldfastError && error.code === "NOT_FOUND") return undefined;
			throw error;
		}
	},
	read: (file, offset, max) => reading(file, (handle) => readPart(handle, offset, max)),
	async list(dir) {
		const held = HeldDirectory.open(dir);
		try {
			const found: Entry[] = [];
			for (const name of fs.readdirSync(held.self, { encoding: "buffer" })) {
				const stat = fs.lstatSync(held.at(name), { throwIfNoEntry: false }); // removed after its name was read
				if (stat) found.push(entryOf(name.toString(), stat));
			}
			return found;
		} catch (error) {
			throw held.inWords(error, "");
		} finally {
			held.close();
		}
	},
	readLink: (file) => inDirectory(file, (dir, name) => fsp.readlink(dir.at(name))),
	async write(file, content, options = {}) {
		const draft = await strictDraft(file, content, options);
		try {
			return await draft.commit();
		} finally {
			await draft.drop();
		}
	},
	draft: (file, content, options = {}) => strictDraft(file, content, options),
	async mkdir(dir, { mode } = {}) {
		const held = HeldDirectory.open(dir, { make: true });
		try {
			if (mode !== undefined) fs.chmodSync(held.self, mode);
			return held.made;
		} catch (error) {
			throw held.inWords(error, "");
		} finally {
			held.close();
		}
	},
	remove: (file, { recursive = false } = {}) =>
		inDirectory(file, (dir, name) => {
			if (recursive) dir.remove(name);
			else if (dir.stat(name)?.isDirectory()) fs.rmdirSync(dir.at(name));
			else fs.unlinkSync(dir.at(name));
		}),
	async discard(file) {
		await inDirectory(file, (dir, name) => dir.remove(name)).catch(() => {}); // the next writer to this directory removes it
		discarded(path.basename(file));
	},
	rename: (from, to) => inDirectory(from, (dir, name) => inDirectory(to, (other, newName) => fs.renameSync(dir.at(name), other.at(newName)))),
	hash: (file, signal) => reading(file, (handle) => sumOf(handle, signal)),
	run: (script, args, options) => runHere(["sh"], script, args, options),
	tree: (dir, signal) => walk(strict, dir, signal),
	tidy: async (dir) => tidy(dir),
	install,
	merge,
	putAll,
	readAll,
};

/** Returns the bytes from `offset` on, at most `max`. */
export async function readPart(handle: fsp.FileHandle, offset: number, max: number): Promise<Buffer> {
	const bytes = Buffer.allocUnsafe(max);
	let got = 0;
	while (got < max) {
		const { bytesRead } = await handle.read(bytes, got, Math.min(max - got, STEP), offset + got);
		if (bytesRead === 0) break;
		got += bytesRead;
	}
	return bytes.subarray(0, got);
}

/** Returns the sha256 of the whole file, in hex. */
export async function sumOf(handle: fsp.FileHandle, signal?: AbortSignal): Promise<string> {
	const hash = createHash("sha256");
	for await (const piece of handle.createReadStream({ autoClose: false, highWaterMark: STEP, ...(signal ? { signal } : {}) })) hash.update(piece as Buffer);
	return hash.digest("hex");
}

function reading<T>(file: string, act: (handle: fsp.FileHandle) => Promise<T>): Promise<T> {
	return inDirectory(file, async (dir, name) => {
		const handle = await fsp.open(dir.at(name), constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOFOLLOW).catch((error: unknown) => {
			throw errno(error) === "ELOOP" ? linkInTheWay(file) : error;
		});
		try {
			if (!(await handle.stat()).isFile()) throw new HoldfastError("INVALID", `${file} is not a file any more; nothing was copied`);
			return await act(handle);
		} finally {
			await handle.close();
		}
	});
}

/** Holds the directory open until the file is at its target. */
async function strictDraft(file: string, content: Content, options: WriteOptions): Promise<Draft> {
	const dir = HeldDirectory.open(path.dirname(file), { make: true });
	const name = path.basename(file);
	try {
		if (!options.replaceLink && dir.stat(name)?.isSymbolicLink()) throw linkInTheWay(file);
		const { sha256, at, commit, drop } = await localDraft(dir.at(name), content, { ...options, replaceLink: true });
		return {
			sha256,
			...(at && { at: { temp: path.join(path.dirname(file), path.basename(at.temp)), target: file, identity: at.identity } }),
			commit: async () => {
				try {
					return { ...(await commit()), path: file, ...(dir.made === undefined ? {} : { made: dir.made }) };
				} catch (error) {
					throw dir.inWords(error, name);
				}
			},
			drop: async () => {
				await drop();
				dir.close();
			},
		};
	} catch (error) {
		dir.close();
		throw dir.inWords(error, name);
	}
}
