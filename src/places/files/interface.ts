/** Files of a place: one interface, whether they are on this machine (local.ts) or behind a stream to a shell (remote.ts). Paths are absolute, and as the place sees them. */
import type { Stats } from "node:fs";
import { errno, HoldfastError } from "../../base/index.js";

export type FileKind = "file" | "directory" | "link" | "other";

export interface Entry {
	/** The last part of its path. */
	readonly name: string;
	readonly kind: FileKind;
	readonly size: number;
	/** Permissions: the last twelve bits. */
	readonly mode: number;
	/** When it was changed, in seconds. */
	readonly mtime: number;
	readonly uid: number;
	readonly gid: number;
	/** How many names it has. */
	readonly links: number;
	/** Another one when the file was changed or replaced, as finely as the place tells times. Not of what is in a list. */
	readonly version?: string;
}

export interface TreeEntry {
	/** Below the folder, with slashes. */
	readonly name: string;
	readonly size: number;
	readonly mode: number;
}

/** All that is in a folder. Links are not followed. */
export interface Tree {
	/** A directory before what is in it. */
	readonly directories: TreeEntry[];
	readonly files: TreeEntry[];
	readonly links: { readonly name: string; readonly target: string }[];
	/** What cannot be copied. */
	readonly skipped: { readonly name: string; readonly why: string }[];
}

export type Content = Uint8Array | AsyncIterable<Uint8Array>;

export interface WriteOptions {
	/** Permissions. Default: those of what is replaced, else what the umask leaves. */
	readonly mode?: number;
	/** The sha256 of what is there now, null for nothing: if that has changed at the last moment, nothing is written. */
	readonly expect?: string | null;
	/** Do not write through a symbolic link: replace it. */
	readonly replaceLink?: boolean;
	readonly signal?: AbortSignal;
	/** Told after each piece. */
	readonly progress?: (bytes: number) => void;
}

export interface Written {
	/** Where it really is: the end of a link. */
	readonly path: string;
	readonly created: boolean;
	readonly bytes: number;
	readonly sha256: string;
	/** The topmost directory that had to be made. */
	readonly made?: string;
	/** What is not as it was, a sentence each. */
	readonly notes: readonly string[];
}

/** Complete and checked beside its place, and not seen by anybody yet. */
export interface Draft {
	readonly sha256: string;
	/** On this machine: where it is, where it belongs, and what stays the same when it is moved there (`identityOf`). */
	readonly at?: { readonly temp: string; readonly target: string; readonly identity: string };
	/** Puts it in place, at once and whole. */
	commit(): Promise<Written>;
	/** Leaves things as they are. After a commit it does nothing. */
	drop(): Promise<void>;
}

export interface ScriptOptions {
	readonly cwd?: string;
	readonly input?: Uint8Array;
	readonly signal?: AbortSignal;
	/** The most bytes of output; what comes after is dropped and `cut` is true. */
	readonly limit?: number;
}

export interface ScriptResult {
	readonly status: number;
	readonly output: Buffer;
	readonly cut: boolean;
	/** What a shell of this machine said besides; or which signal has ended it. */
	readonly words?: string;
}

export interface Files {
	/** On this machine: what is read is what is there. */
	readonly near: boolean;
	/** Undefined: there is nothing. `follow` (default): through symbolic links. */
	stat(path: string, options?: { follow?: boolean }): Promise<Entry | undefined>;
	/** The bytes there are from `offset` on, at most so many; fewer only at the end. */
	read(path: string, offset: number, max: number): Promise<Buffer>;
	list(dir: string): Promise<Entry[]>;
	readLink(path: string): Promise<string>;
	/** Whole or not at all: others see the old file or the new one. Directories above it are made. */
	write(path: string, content: Content, options?: WriteOptions): Promise<Written>;
	/** The first half of a write. */
	draft(path: string, content: Content, options?: WriteOptions): Promise<Draft>;
	/** With those above it. The topmost that had to be made. */
	mkdir(path: string, options?: { mode?: number }): Promise<string | undefined>;
	/** A link, not what it leads to. */
	remove(path: string, options?: { recursive?: boolean }): Promise<void>;
	/** Something under a temporary name that is not wanted, or was moved. If it cannot be reached now, it goes when it is, or with the next `tidy`. */
	discard(path: string): Promise<void>;
	rename(from: string, to: string): Promise<void>;
	/** The sha256, in hex. */
	hash(path: string, signal?: AbortSignal): Promise<string>;
	/** A POSIX sh script; arguments are `$1`, `$2`, … and never looked at by the shell. Output is what it prints, its errors apart. */
	run(script: string, args: readonly string[], options?: ScriptOptions): Promise<ScriptResult>;
	tree(dir: string, signal?: AbortSignal): Promise<Tree>;
	/** What programs of this machine that were killed have left in a directory, and what is too old to be anybody's. */
	tidy(dir: string): Promise<void>;
	/** A directory that is complete gets its name: whole, and only where nothing is. */
	install(stage: string, dir: string, mode: number): Promise<void>;
	/** All that is in a directory is moved to another that is there: files replace files, nothing goes through a link, and nothing is moved if something is in the way. */
	merge(stage: string, dir: string): Promise<void>;
	/** Put many things below a directory that nobody else looks at yet, each with the directories above it. */
	putAll(dir: string, items: readonly PutItem[], options?: TransferOptions): Promise<void>;
	/** The whole of several files, in their order; all of them in memory, so they should be small. */
	readAll(dir: string, names: readonly { name: string; size: number }[], signal?: AbortSignal): Promise<Buffer[]>;
}

/** `name` is below the directory, with slashes. */
export type PutItem = { readonly name: string; readonly mode: number } & (
	| { readonly kind: "file"; readonly content: Uint8Array }
	| { readonly kind: "directory" }
	| { readonly kind: "link"; readonly target: string }
);

export interface TransferOptions {
	readonly signal?: AbortSignal;
}

export const kindOf = (mode: number): FileKind => KINDS.get(mode & 0o170000) ?? "other";
const KINDS: ReadonlyMap<number, FileKind> = new Map([
	[0o100000, "file"],
	[0o040000, "directory"],
	[0o120000, "link"],
]);

export function entryOf(name: string, stat: Stats): Entry {
	const { size, mode, mtimeMs, ctimeMs, uid, gid, nlink, ino } = stat;
	const version = `${ino} ${mtimeMs} ${ctimeMs}`;
	return { name, kind: kindOf(mode), size, mode: mode & 0o7777, mtime: Math.floor(mtimeMs / 1000), uid, gid, links: nlink, version };
}

const WORDS: readonly (readonly [code: string, words: RegExp])[] = [
	["ENOENT", /No such file/i],
	["ENOTDIR", /Not a directory/i],
	["EISDIR", /Is a directory/i],
	["ELOOP", /Too many levels of symbolic links|Too many symbolic links/i],
	["EACCES", /Permission denied/i],
	["EPERM", /Operation not permitted/i],
	["EROFS", /Read-only file system/i],
	["ENOSPC", /No space left on device|Wrote only \d+ of \d+ bytes/i], // the latter is what tar says
	["EDQUOT", /quota exceeded/i],
	["ENAMETOOLONG", /File name too long/i],
	["ENOTEMPTY", /Directory not empty/i],
	["EBUSY", /resource busy/i],
	["EEXIST", /File exists/i],
	["EAGAIN", /temporarily unavailable/i],
];

/** What a program there has said, as the system's own code for it. */
export const codeIn = (words: string): string | undefined => WORDS.find(([, pattern]) => pattern.test(words))?.[0];

/** What went wrong with a file, in words for whoever asked. */
export function fileError(error: unknown, file: string): HoldfastError {
	if (error instanceof HoldfastError) return error;
	return problem(errno(error), error instanceof Error ? error.message : String(error), file, error);
}

export function problem(code: string | undefined, words: string, file: string, cause?: unknown): HoldfastError {
	const options = cause === undefined ? undefined : { cause };
	switch (code) {
		case "ENOENT":
			return new HoldfastError("NOT_FOUND", `there is no ${file}`, options);
		case "ENOTDIR":
			return new HoldfastError("NOT_FOUND", `there is no ${file}: something above it is a file, not a directory`, options);
		case "EISDIR":
			return new HoldfastError("INVALID", `${file} is a directory`, options);
		case "ELOOP":
			return new HoldfastError("INVALID", `${file} is a symbolic link that leads back to itself`, options);
		case "EACCES":
		case "EPERM":
			return new HoldfastError("FORBIDDEN", `not allowed: ${file} (${code}); the user that commands run as there has no right to it`, options);
		case "EROFS":
			return new HoldfastError("FORBIDDEN", `${file} is on a file system that is read-only there`, options);
		case "ENOSPC":
		case "EDQUOT":
			return new HoldfastError("NO_SPACE", `the disk is full there; ${file} is as it was. Free some space, then try again`, options);
		case "ENAMETOOLONG":
			return new HoldfastError("INVALID", "the path, or a name in it, is longer than the file system takes", options);
		case "EEXIST":
			return new HoldfastError("INVALID", `${file} cannot be made: something else of that name, or of one above it, is there`, options);
		case "EBUSY":
			return new HoldfastError("INVALID", `${file} cannot be replaced (it is a mount point of its own); write to it with a command instead`, options);
		case "EAGAIN":
			return new HoldfastError("INVALID", `there is nothing to read in ${file} now, and a reader would wait for more; use a command with a timeout`, options);
		case "ABORT_ERR":
			return new HoldfastError("ABORTED", `interrupted; ${file} is as it was`, options);
		default:
			return new HoldfastError("INTERNAL", `${file}: ${words.trim().split("\n")[0] || "it did not work, and nothing was said about why"}`, options);
	}
}

export const changedMeanwhile = (file: string): HoldfastError =>
	new HoldfastError("CONFLICT", `${file} was changed by another program meanwhile, so nothing was written; read it again`);

export function notAFile(file: string, kind: FileKind): HoldfastError {
	return new HoldfastError("INVALID", kind === "directory" ? `${file} is a directory, not a file` : `${file} is a device, a pipe or a socket, not a file`);
}

export function stopIf(signal: AbortSignal | undefined, file: string): void {
	if (signal?.aborted) throw problem("ABORT_ERR", "", file);
}

export async function* piecesOf(content: Content): AsyncGenerator<Uint8Array> {
	if (content instanceof Uint8Array) yield content;
	else yield* content;
}
