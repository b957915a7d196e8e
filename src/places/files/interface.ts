/**
 * Files of a place: one interface for local files (local.ts) and files behind a stream to a shell (remote.ts). Paths are absolute, as the place sees
 * them.
 */
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
	/** Modification time, in seconds. */
	readonly mtime: number;
	readonly uid: number;
	readonly gid: number;
	/** Number of hard links. */
	readonly links: number;
	/** Changes when the file is changed or replaced, at the resolution of the place's clock. Missing in lists. */
	readonly version?: string;
}

export interface TreeEntry {
	/** Relative to the folder, with slashes. */
	readonly name: string;
	readonly size: number;
	readonly mode: number;
}

/** The content of a folder. Links are not followed. */
export interface Tree {
	/** A directory precedes its content. */
	readonly directories: TreeEntry[];
	readonly files: TreeEntry[];
	readonly links: { readonly name: string; readonly target: string }[];
	/** Entries that cannot be copied. */
	readonly skipped: { readonly name: string; readonly why: string }[];
}

export type Content = Uint8Array | AsyncIterable<Uint8Array>;

export interface WriteOptions {
	/** Permissions. Default: those of the replaced file, else what the umask leaves. */
	readonly mode?: number;
	/** The expected sha256 of the current file, null for none: if it has changed at the last moment, nothing is written. */
	readonly expect?: string | null;
	/** Replaces a symbolic link instead of writing through it. */
	readonly replaceLink?: boolean;
	readonly signal?: AbortSignal;
	/** Called after each piece. */
	readonly progress?: (bytes: number) => void;
}

export interface Written {
	/** The real path: the target of a link. */
	readonly path: string;
	readonly created: boolean;
	readonly bytes: number;
	readonly sha256: string;
	/** The topmost directory that was created. */
	readonly made?: string;
	/** Differences from the old file, a sentence each. */
	readonly notes: readonly string[];
}

/** A complete and checked file beside its target, not visible yet. */
export interface Draft {
	readonly sha256: string;
	/** For a local file: its current path, its target, and what stays the same through the move (`identityOf`). */
	readonly at?: { readonly temp: string; readonly target: string; readonly identity: string };
	/** Moves it to its target atomically. */
	commit(): Promise<Written>;
	/** Discards it. No effect after a commit. */
	drop(): Promise<void>;
}

export interface ScriptOptions {
	readonly cwd?: string;
	readonly input?: Uint8Array;
	readonly signal?: AbortSignal;
	/** Limit on output bytes; the rest is dropped and `cut` is true. */
	readonly limit?: number;
}

export interface ScriptResult {
	readonly status: number;
	readonly output: Buffer;
	readonly cut: boolean;
	/** stderr of a local shell, or the signal that killed it. */
	readonly words?: string;
}

export interface Files {
	/** The files are local: what is read needs no comparison. */
	readonly near: boolean;
	/** Returns undefined if the path does not exist. `follow` (default): through symbolic links. */
	stat(path: string, options?: { follow?: boolean }): Promise<Entry | undefined>;
	/** Returns the bytes from `offset` on, at most `max`; fewer only at the end. */
	read(path: string, offset: number, max: number): Promise<Buffer>;
	list(dir: string): Promise<Entry[]>;
	readLink(path: string): Promise<string>;
	/** Writes atomically: readers see the old file or the new one. Creates missing parents. */
	write(path: string, content: Content, options?: WriteOptions): Promise<Written>;
	/** Does the first half of a write. */
	draft(path: string, content: Content, options?: WriteOptions): Promise<Draft>;
	/** Creates a directory with its parents. Returns the topmost one that was created. */
	mkdir(path: string, options?: { mode?: number }): Promise<string | undefined>;
	/** Removes a link, not its target. */
	remove(path: string, options?: { recursive?: boolean }): Promise<void>;
	/** Removes a temporary file that is unwanted or was moved. If the place is unreachable now, removes it on reconnect or in the next `tidy`. */
	discard(path: string): Promise<void>;
	rename(from: string, to: string): Promise<void>;
	/** Returns the sha256 in hex. */
	hash(path: string, signal?: AbortSignal): Promise<string>;
	/** Runs a POSIX sh script; arguments are `$1`, `$2`, … and never parsed by the shell. Output is stdout; errors are separate. */
	run(script: string, args: readonly string[], options?: ScriptOptions): Promise<ScriptResult>;
	tree(dir: string, signal?: AbortSignal): Promise<Tree>;
	/** Removes the temporary files in a directory that killed programs of this machine have left, and expired ones of any program. */
	tidy(dir: string): Promise<void>;
	/** Gives a complete directory its name atomically; fails if the name exists. */
	install(stage: string, dir: string, mode: number): Promise<void>;
	/** Moves the content of a directory into an existing one: files replace files, no link is followed, and nothing is moved if something is in the way. */
	merge(stage: string, dir: string): Promise<void>;
	/** Writes many items below a directory that no other program uses yet, each with its parents. */
	putAll(dir: string, items: readonly PutItem[], options?: TransferOptions): Promise<void>;
	/** Returns the whole of several files, in order. All of them are held in memory, so they should be small. */
	readAll(dir: string, names: readonly { name: string; size: number }[], signal?: AbortSignal): Promise<Buffer[]>;
}

/** `name` is relative to the directory, with slashes. */
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
	["ENOSPC", /No space left on device|Wrote only \d+ of \d+ bytes/i], // tar prints the latter
	["EDQUOT", /quota exceeded/i],
	["ENAMETOOLONG", /File name too long/i],
	["ENOTEMPTY", /Directory not empty/i],
	["EBUSY", /resource busy/i],
	["EEXIST", /File exists/i],
	["EAGAIN", /temporarily unavailable/i],
];

/** Returns the system's error code for a remote program's error text. */
export const codeIn = (words: string): string | undefined => WORDS.find(([, pattern]) => pattern.test(words))?.[0];

/** Returns an error about a file in words for the caller. */
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
