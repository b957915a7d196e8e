/** `task.files`: bytes into and out of a task's place, for the program that runs the task. Nothing is masked, cut or asked about. */
import { constants } from "node:buffer";
import path from "node:path";
import * as z from "zod";
import { aSignal, HoldfastError, parseOptions, realPath, shellQuote } from "../base/index.js";
import { type Copied as CopiedFiles, type CopySide, contentOf, copy, type Files, isTemporary, strictFiles, wholeContent } from "../places/files/index.js";
import { type AgentRuntime, type FilesOfTask, filesOfTask } from "../tools/index.js";

export type { CopiedFiles };

export interface FileReadOptions {
	/** Interrupts it: what was to be written is as it was. */
	readonly signal?: AbortSignal | undefined;
}

export interface FileWriteOptions extends FileReadOptions {
	/** Permissions, as in `0o644`. Default: those of the file that is replaced, else what the umask leaves. */
	readonly mode?: number | undefined;
}

export interface FileCopyOptions extends FileReadOptions {
	/** Told now and then how far it is. */
	readonly progress?: ((progress: { files: number; totalFiles: number; bytes: number; totalBytes: number }) => void) | undefined;
}

/** An entry of a directory. */
export interface FileEntry {
	/** Below the directory that was listed, with slashes. */
	readonly name: string;
	/** `other`: a device, a pipe, a socket, or a name that is not UTF-8. */
	readonly kind: "file" | "directory" | "link" | "other";
	/** Bytes; 0 for what is not a file. */
	readonly size: number;
	/** Permissions: the last twelve bits. Null where they mean nothing: of links, and of `other`. */
	readonly mode: number | null;
	/** The target of a link, as the link has it. */
	readonly target?: string;
}

export interface WrittenFile {
	/** The absolute path, with links resolved. */
	readonly path: string;
	/** False: an existing file was replaced. */
	readonly created: boolean;
	readonly bytes: number;
	/** The sum of the written content, compared with that of the file. */
	readonly sha256: string;
	/** Differences from the old file (owner, hard links), a sentence each. */
	readonly notes: readonly string[];
}

/**
 * Files of a task's place, of any size, as they are: not masked, not cut, and no rule decides about them. Relative paths start in the directory of the
 * task's shell; `~` is the home at the place. Throws a HoldfastError if it does not work: NOT_FOUND, INVALID (a directory where a file is meant, a path
 * that cannot be one), FORBIDDEN, NO_SPACE, CONFLICT (changed meanwhile), ABORTED.
 */
export interface TaskFiles {
	/** Returns the whole of a file. */
	read(path: string, options?: FileReadOptions): Promise<Buffer>;
	/** Yields a file in pieces, whatever its size. Throws CONFLICT behind the last of them if it was changed meanwhile. */
	stream(path: string, options?: FileReadOptions): AsyncGenerator<Buffer, void>;
	/** Writes a file whole or not at all: others see the old one or the new one. Directories above it are made. A link is written through. */
	write(path: string, content: string | Uint8Array | AsyncIterable<Uint8Array>, options?: FileWriteOptions): Promise<WrittenFile>;
	/** Returns what is in a directory, hidden names and links included, by name; `recursive`: also what is below. No link is followed. */
	list(path: string, options?: FileReadOptions & { recursive?: boolean }): Promise<FileEntry[]>;
	/** Copies a file or folder of this machine to the place, as `holdfast cp` does: into an existing directory, else under that name. */
	copyIn(hostPath: string, path: string, options?: FileCopyOptions): Promise<CopiedFiles>;
	/** Copies a file or folder of the place to this machine. Links stay links and are not followed, wherever they lead. */
	copyOut(path: string, hostPath: string, options?: FileCopyOptions): Promise<CopiedFiles>;
}

const fileOptions = z.strictObject({ signal: aSignal });
const writeOptions = z.strictObject({ signal: aSignal, mode: z.number().int().min(0).max(0o7777).optional() });
const listOptions = z.strictObject({ signal: aSignal, recursive: z.boolean().optional() });
const aFunction = z.custom<NonNullable<FileCopyOptions["progress"]>>((value) => typeof value === "function", "must be a function");
const copyOptions = z.strictObject({ signal: aSignal, progress: aFunction.optional() });

export interface FilesOwner {
	readonly name: string;
	/** Returns the runtime of the task's place. Throws if the task is not open. */
	runtime(): AgentRuntime;
	/** Ends all that is under way. */
	readonly signal?: AbortSignal;
	/** The door, for the audit. Default: library. */
	readonly door?: string;
}

export function filesFor(owner: FilesOwner): TaskFiles {
	return {
		read: (file, options = {}) =>
			within(owner, "read", options, fileOptions, ({ files, resolve }, { signal }) =>
				wholeContent(files, resolve(aPath("read", file)), constants.MAX_LENGTH, signal),
			),
		stream: (file, options = {}) => streamed(owner, file, options),
		write: (file, content, options = {}) =>
			within(owner, "write", options, writeOptions, async ({ files, resolve, notes }, { signal, mode }, runtime) => {
				const target = resolve(aPath("write", file));
				if (target === "/" || /\/\.?$/.test(file)) throw new HoldfastError("INVALID", `${file} is a directory, not a file; nothing was written`);
				const source = sourceOf(content, target, signal);
				const written = await files.write(target, source, { signal, ...(mode === undefined ? {} : { mode }) });
				note(runtime, owner, "files.write", `cat > ${shellQuote(target)}`, written.bytes);
				return { path: written.path, created: written.created, bytes: written.bytes, sha256: written.sha256, notes: [...notes, ...written.notes] };
			}),
		list: (dir, options = {}) =>
			within(owner, "list", options, listOptions, async ({ files, resolve }, { signal, recursive }) => {
				const at = resolve(aPath("list", dir));
				const entry = await files.stat(at);
				if (!entry) throw new HoldfastError("NOT_FOUND", `there is no ${at}`);
				if (entry.kind !== "directory") throw new HoldfastError("INVALID", `${at} is not a directory`);
				return recursive ? below(files, at, signal) : namesAt(files, at);
			}),
		copyIn: (host, file, options = {}) => copied(owner, "copyIn", { host, file }, options),
		copyOut: (file, host, options = {}) => copied(owner, "copyOut", { host, file }, options),
	};
}

/** Runs one operation, which is counted among the task's calls and interrupted with them. */
async function within<T, S extends z.ZodType<{ signal?: AbortSignal | undefined }>>(
	owner: FilesOwner,
	what: string,
	given: unknown,
	schema: S,
	act: (where: FilesOfTask, options: Omit<z.output<S>, "signal"> & { signal: AbortSignal }, runtime: AgentRuntime) => Promise<T>,
): Promise<T> {
	const options = optionsOf(what, given, schema);
	const runtime = owner.runtime();
	const call = runtime.underWay.begin(owner.name, { signal: either(owner.signal, options.signal) }, { moves: false });
	try {
		return await act(await filesOfTask(runtime, owner.name, call.signal), { ...options, signal: call.signal }, runtime);
	} finally {
		call.end();
	}
}

const either = (one: AbortSignal | undefined, other: AbortSignal | undefined): AbortSignal | undefined =>
	one && other ? AbortSignal.any([one, other]) : (one ?? other);

async function* streamed(owner: FilesOwner, file: string, given: unknown): AsyncGenerator<Buffer, void> {
	const options = optionsOf("stream", given, fileOptions);
	const runtime = owner.runtime();
	const call = runtime.underWay.begin(owner.name, { signal: either(owner.signal, options.signal) }, { moves: false });
	call.signal.addEventListener("abort", () => call.end(), { once: true }); // its reader may never come back for the next piece
	try {
		const { files, resolve } = await filesOfTask(runtime, owner.name, call.signal);
		yield* contentOf(files, resolve(aPath("stream", file)), call.signal);
	} finally {
		call.end();
	}
}

function copied(owner: FilesOwner, what: "copyIn" | "copyOut", { host, file }: { host: string; file: string }, options: unknown): Promise<CopiedFiles> {
	return within(owner, what, options, copyOptions, async ({ files, resolve, notes }, { signal, progress }, runtime) => {
		const [here, there] = [aPath(what, host), aPath(what, file)];
		const near = files.near ? strictFiles() : files; // then both ends are of one file system, and a folder is not copied into itself
		const inPlace: CopySide = { files: near, path: ends(there, files.near ? realPath(resolve(there)) : resolve(there)) };
		const onHost: CopySide = { files: strictFiles(), path: ends(here, realPath(path.resolve(here))) };
		const [from, to] = what === "copyIn" ? [onHost, inPlace] : [inPlace, onHost];
		const result = await copy(from, to, { signal, ...(progress ? { progress } : {}) });
		note(runtime, owner, `files.${what}`, `cp -r ${shellQuote(from.path)} ${shellQuote(to.path)}`, result.bytes);
		return { ...result, notes: [...notes, ...result.notes] };
	});
}

/** Slashes and dots at the end mean something to a copy, and resolving takes them away. */
const ends = (given: string, file: string): string =>
	/(?:^|\/)\.$/.test(given) && given !== "." ? `${file}/.` : given.endsWith("/") && file !== "/" ? `${file}/` : file;

function note({ audit, placeName }: AgentRuntime, { name, door = "library" }: FilesOwner, tool: string, command: string, bytes: number): void {
	audit.note(name, { event: "file", tool, command, place: placeName, by: door, bytes });
}

async function namesAt(files: Files, dir: string): Promise<FileEntry[]> {
	const found: FileEntry[] = [];
	for (const { name, kind, size, mode } of await files.list(dir)) {
		if (isTemporary(name)) continue;
		if (name.includes("\ufffd") || kind === "other") found.push({ name, kind: "other", size: 0, mode: null });
		else if (kind === "link") found.push({ name, kind, size: 0, mode: null, target: await files.readLink(path.posix.join(dir, name)) });
		else found.push({ name, kind, size: kind === "file" ? size : 0, mode });
	}
	return byName(found);
}

async function below(files: Files, dir: string, signal: AbortSignal): Promise<FileEntry[]> {
	const tree = await files.tree(dir, signal);
	return byName([
		...tree.directories.map(({ name, mode }): FileEntry => ({ name, kind: "directory", size: 0, mode })),
		...tree.files.map(({ name, size, mode }): FileEntry => ({ name, kind: "file", size, mode })),
		...tree.links.map(({ name, target }): FileEntry => ({ name, kind: "link", size: 0, mode: null, target })),
		...tree.skipped.map(({ name }): FileEntry => ({ name, kind: "other", size: 0, mode: null })),
	]);
}

const byName = (entries: FileEntry[]): FileEntry[] => entries.sort((a, b) => (a.name < b.name ? -1 : 1));

/** Throws if it is nothing that can be written. A source that fails, or that never comes to its end, leaves the file as it was. */
function sourceOf(content: unknown, file: string, signal: AbortSignal): Uint8Array | AsyncGenerator<Uint8Array, void> {
	if (typeof content === "string") return Buffer.from(content);
	if (content instanceof Uint8Array) return content;
	if (typeof (content as AsyncIterable<unknown> | null)?.[Symbol.asyncIterator] !== "function")
		throw new HoldfastError("INVALID", "task.files.write: the content must be a string, bytes, or an async iterable of bytes; nothing was written");
	return piecesOf(content as AsyncIterable<unknown>, file, signal);
}

async function* piecesOf(content: AsyncIterable<unknown>, file: string, signal: AbortSignal): AsyncGenerator<Uint8Array, void> {
	const pieces = content[Symbol.asyncIterator]();
	let stop: (() => void) | undefined;
	const stopped = new Promise<never>((_, reject) => {
		stop = () => reject(new HoldfastError("ABORTED", `interrupted; ${file} is as it was`));
		signal.addEventListener("abort", stop, { once: true });
		if (signal.aborted) stop();
	});
	stopped.catch(() => {});
	let over = false;
	try {
		for (;;) {
			const { done, value } = await Promise.race([nextOf(pieces, file), stopped]);
			over = done === true;
			if (over) return;
			if (!(value instanceof Uint8Array)) throw new HoldfastError("INVALID", `task.files.write: a piece of the content is not bytes; ${file} is as it was`);
			yield value;
		}
	} finally {
		signal.removeEventListener("abort", stop as () => void);
		if (!over) void pieces.return?.().catch(() => {}); // its owner is told by the error; one that hangs is not waited for
	}
}

async function nextOf(pieces: AsyncIterator<unknown>, file: string): Promise<IteratorResult<unknown>> {
	try {
		return await pieces.next();
	} catch (error) {
		const why = error instanceof Error ? error.message : String(error);
		throw new HoldfastError("INVALID", `task.files.write: the content could not be read to its end (${why}); ${file} is as it was`, { cause: error });
	}
}

const optionsOf = <S extends z.ZodType>(what: string, given: unknown, schema: S): z.output<S> => parseOptions(`task.files.${what}`, schema, given);

function aPath(what: string, file: unknown): string {
	if (typeof file === "string" && file !== "" && !/\0|\p{Cs}/u.test(file)) return file;
	throw new HoldfastError(
		"INVALID",
		`task.files.${what}: a path must be a string that is not empty and has no NUL byte and no half of a character in it; nothing was done`,
	);
}
