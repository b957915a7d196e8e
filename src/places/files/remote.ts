/** Files behind a stream to a shell. The remote end needs only sh, coreutils and (for long lists) find; busybox has them. */
import { createHash, randomBytes } from "node:crypto";
import path from "node:path";
import { HoldfastError, shellQuote } from "../../base/index.js";
import { codeIn, type Entry, type Files, kindOf, problem, type ScriptOptions, stopIf } from "./interface.js";
import { remoteDraft } from "./remote-draft.js";
import { putAllRemote } from "./remote-put.js";
import * as scripts from "./scripts.js";
import { discarded, isAbandoned, ownTemporary, TEMPORARY_MINUTES } from "./temporary.js";
import { treeOf, walk } from "./walk.js";

/** The part of a link that files need. */
export interface RemoteEnd {
	/** Returns the bytes from `offset` on, at most `max`. */
	read(path: string, offset: number, max: number): Promise<Buffer>;
	/** Writes at an offset of an existing file. */
	write(path: string, offset: number, bytes: Uint8Array): Promise<void>;
	/** Runs a script. `again`: the script is idempotent and may be retried if the outcome is unknown. */
	run(
		script: string,
		options?: { input?: Uint8Array; signal?: AbortSignal; limit?: number; again?: boolean },
	): Promise<{ status: number; output: Buffer; cut?: boolean; words?: string }>;
}

/** Runs a script and returns its output, or throws the error about that file. */
export type RunScript = (script: string, args: readonly string[], file: string, options?: ScriptOptions) => Promise<Buffer>;

const STEP = 1024 * 1024;
const DISCARD_MS = 5_000; // do not wait for an unreachable place
const READ_MOST = 8 * STEP; // per request
const TREE_MOST = 256 * STEP;
const ARGUMENTS = 60_000;

export function remoteFiles(end: RemoteEnd): Files {
	const run = (script: string, args: readonly string[], { cwd, ...options }: ScriptOptions = {}) =>
		end.run(withArguments(`${cwd === undefined ? "" : `cd ${shellQuote(cwd)} || exit\n`}${script}`, args), options);
	/** Temporary files whose removal failed. */
	const left = new Set<string>();
	const discard = async (temp: string) => {
		left.delete(temp);
		const gone = await end.run(withArguments(scripts.REMOVE_ALL, [temp]), { again: true, signal: AbortSignal.timeout(DISCARD_MS) }).then(
			({ status }) => status === 0,
			() => false,
		);
		if (!gone) left.add(temp);
		discarded(path.posix.basename(temp));
	};
	const ask: RunScript = async (script, args, file, options = {}) => {
		const { status, output } = await end.run(withArguments(`LC_ALL=C; export LC_ALL; exec 2>&1\n${script}`, args), { ...options, again: true });
		if (left.size > 0) for (const temp of [...left]) void discard(temp); // reconnected
		if (status === 0) return output;
		stopIf(options.signal, file);
		throw failureOf(output.toString(), file);
	};
	const statWith = async (script: string, file: string): Promise<Entry | undefined> => {
		try {
			return entryFrom((await ask(script, [file], file)).toString(), path.posix.basename(file));
		} catch (error) {
			if (error instanceof HoldfastError && error.code === "NOT_FOUND") return undefined;
			throw error;
		}
	};
	const files: Files = {
		near: false,
		stat: (file, { follow = true } = {}) => statWith(follow ? scripts.STAT : scripts.LSTAT, file),
		read: async (file, offset, max) => {
			const pieces: Buffer[] = [];
			for (let got = 0; got < max; ) {
				const piece = await end.read(file, offset + got, Math.min(READ_MOST, max - got)).catch(async (error: unknown) => {
					await ask(scripts.CHECK, [file], file); // reports what is wrong with it
					// Some files can be opened but not read.
					throw error instanceof HoldfastError && error.code === "NOT_FOUND" ? problem(codeIn(error.message), error.message, file, error) : error;
				});
				if (piece.length === 0) break;
				pieces.push(piece);
				got += piece.length;
			}
			return Buffer.concat(pieces);
		},
		list: async (dir) => listFrom(await ask(scripts.LIST, [dir], dir)),
		readLink: async (file) => (await ask(scripts.READLINK, [file], file)).toString().slice(0, -3),
		write: async (file, content, options = {}) => {
			const draft = await remoteDraft(end, ask, discard, file, content, options);
			try {
				return await draft.commit();
			} finally {
				await draft.drop();
			}
		},
		draft: (file, content, options = {}) => remoteDraft(end, ask, discard, file, content, options),
		mkdir: async (dir, { mode } = {}) =>
			(await ask(scripts.MKDIR, [dir, mode === undefined ? "" : mode.toString(8)], dir)).toString().slice(0, -1) || undefined,
		remove: async (file, { recursive = false } = {}) => void (await ask(recursive ? scripts.REMOVE_ALL : scripts.REMOVE, [file], file)),
		discard,
		rename: async (from, to) => void (await ask(scripts.RENAME, [from, to], from)),
		hash: async (file, signal) => {
			const hash = (await ask(scripts.HASH, [file], file, signal ? { signal } : {})).toString().trim();
			return hash === "none" ? hashByReading(end, file, signal) : hash;
		},
		run: async (script, args, options) => ({ cut: false, ...(await run(script, args, options)) }),
		tree: async (dir, signal) => {
			const { status, output, cut } = await end.run(withArguments(`LC_ALL=C; export LC_ALL\n${scripts.TREE}`, [dir]), {
				limit: TREE_MOST,
				again: true,
				...(signal ? { signal } : {}),
			});
			if (status !== 0 || cut) return walk(files, dir, signal); // which reports what is wrong
			return treeOf(listFrom(output, "//\n"), (names) => readLinks(ask, dir, names));
		},
		tidy: async (dir) => {
			const names = (await ask(scripts.TIDY, [dir, ownTemporary(), String(TEMPORARY_MINUTES)], dir)).toString().split("/").filter(isAbandoned);
			for (const name of names) await files.remove(path.posix.join(dir, name), { recursive: true });
		},
		install: async (stage, dir, mode) => void (await ask(scripts.INSTALL, [stage, dir, mode.toString(8)], dir)),
		merge: async (stage, dir) => void (await ask(scripts.MERGE, [stage, dir], dir)),
		putAll: (dir, items, options) => putAllRemote(end, ask, files, dir, items, options ?? {}),
		readAll: async (dir, names, signal) => {
			const found: Buffer[] = [];
			for (const group of inLines(names)) found.push(...(await readTogether(ask, dir, group, signal)));
			return found;
		},
	};
	return files;
}

/** Splits names into groups: a link limits the text of one request. */
function* inLines<T extends { name: string }>(names: readonly T[]): Generator<T[]> {
	let group: T[] = [];
	let chars = 0;
	for (const one of names) {
		const more = shellQuote(one.name).length * 3; // bytes
		if (group.length > 0 && chars + more > ARGUMENTS) {
			yield group;
			[group, chars] = [[], 0];
		}
		group.push(one);
		chars += more;
	}
	if (group.length > 0) yield group;
}

async function readTogether(ask: RunScript, dir: string, names: readonly { name: string; size: number }[], signal: AbortSignal | undefined): Promise<Buffer[]> {
	const total = names.reduce((sum, { size }) => sum + size, 0);
	const args = [dir, ...names.map(({ name }) => `./${name}`)];
	const all = await ask(scripts.CAT, args, dir, { limit: total + 4096, ...(signal ? { signal } : {}) }).catch(async (error: unknown) => {
		stopIf(signal, dir);
		await ask(scripts.READABLE, args, dir); // reports what is wrong, and prints none of their bytes
		throw error;
	});
	const sha = all.toString("latin1", total).trim();
	if (sha !== "none" && sha !== createHash("sha256").update(all.subarray(0, total)).digest("hex"))
		throw new HoldfastError("CONFLICT", `something in ${dir} was changed while it was read; try again`);
	let at = 0;
	return names.map(({ size }) => {
		at += size;
		return all.subarray(at - size, at);
	});
}

async function readLinks(ask: RunScript, dir: string, names: readonly string[]): Promise<string[]> {
	const targets: string[] = [];
	const mark = randomBytes(16).toString("hex");
	for (const group of inLines(names.map((name) => ({ name })))) {
		const said = (await ask(scripts.READLINKS, [mark, dir, ...group.map(({ name }) => name)], dir)).toString();
		targets.push(...said.split(`\n${mark}`).slice(0, -1));
	}
	return targets;
}

const withArguments = (script: string, args: readonly string[]): string => (args.length === 0 ? script : `set -- ${args.map(shellQuote).join(" ")}\n${script}`);

function failureOf(words: string, file: string): HoldfastError {
	if (words.includes("holdfast: changed"))
		return new HoldfastError("CONFLICT", `${file} was changed by another program meanwhile, so nothing was written; read it again`);
	if (words.includes("holdfast: no sha")) return new HoldfastError("UNSUPPORTED", `there is no program for a sha256 there: ${file}`);
	const [, kind, inTheWay] = /holdfast: (no directory|directory):([\s\S]*)$/.exec(words) ?? [];
	if (kind === "directory") return problem("EISDIR", "", inTheWay as string);
	if (kind !== undefined) return new HoldfastError("INVALID", `${inTheWay} is there and is no directory; nothing was written`);
	if (words.includes("holdfast: not a file")) return new HoldfastError("INVALID", `${file} is a device, a pipe or a socket, not a file`);
	return problem(codeIn(words), words, file);
}

/** Parses `MODE SIZE TIME UID GID LINKS`, with the mode in hex. */
export function entryFrom(line: string, name: string): Entry {
	const [mode, size, mtime, uid, gid, links, ...version] = line.trim().split(" ");
	const bits = Number.parseInt(mode ?? "", 16);
	if (!Number.isInteger(bits) || links === undefined)
		throw new HoldfastError("INTERNAL", `the remote end described a file in a way that is not understood: ${line.slice(0, 100)}`);
	return {
		name,
		kind: kindOf(bits),
		size: Number(size),
		mode: bits & 0o7777,
		mtime: Number(mtime),
		uid: Number(uid),
		gid: Number(gid),
		links: Number(links),
		...(version.length > 0 ? { version: version.join(" ") } : {}),
	};
}

/** Parses a list. `mark`: the end of a name. */
function listFrom(output: Buffer, mark = "/\n"): Entry[] {
	const text = output.toString();
	const entries: Entry[] = [];
	for (let at = 0; at < text.length; ) {
		const start = text.indexOf(" ./", at);
		const end = text.indexOf(mark, start + 3);
		if (start < 0 || end < 0) break;
		entries.push(entryFrom(text.slice(at, start), text.slice(start + 3, end)));
		at = end + mark.length;
	}
	return entries;
}

/** Computes the sha256 locally, for a box without any hash program. */
export async function hashByReading(end: Pick<RemoteEnd, "read">, file: string, signal: AbortSignal | undefined): Promise<string> {
	const hash = createHash("sha256");
	for (let offset = 0; ; ) {
		stopIf(signal, file);
		const piece = await end.read(file, offset, STEP);
		hash.update(piece);
		offset += piece.length;
		if (piece.length < STEP) return hash.digest("hex");
	}
}
