/** Copies files and folders between places, byte for byte. The sha256 of the copy is compared with that of the source. */
import path from "node:path";
import { HoldfastError, identityOf } from "../../base/index.js";
import { readAhead } from "./content.js";
import { type Draft, type Entry, type Files, type PutItem, stopIf, type Tree, type TreeEntry } from "./interface.js";
import { Lanes, Pace } from "./pace.js";
import { discarded, temporaryName } from "./temporary.js";

/** Files below this size are copied in groups. */
const SMALL = 1024 * 1024;
const TOGETHER = 2_000;
const GROUP = 64 * 1024; // initial value
const TRIES = 3; // for a file that another program writes to

export interface CopySide {
	readonly files: Files;
	/** Absolute. In a source, a trailing `/.` means the content; in a target, a trailing `/` means a directory. */
	readonly path: string;
	/**
	 * Returns why a path must not be read or written at this end; undefined if it may be. In a folder, refused paths are left out. A folder with
	 * such a check is copied only to a new path, and without links that lead out of it.
	 */
	readonly refuse?: (file: string) => string | undefined;
}

export interface CopyProgress {
	readonly files: number;
	readonly totalFiles: number;
	readonly bytes: number;
	readonly totalBytes: number;
}

export interface CopyOptions {
	readonly signal?: AbortSignal;
	readonly progress?: (progress: CopyProgress) => void;
	/** Called just before the result becomes visible; with how a local file or new directory gets there. */
	readonly placing?: (at: Draft["at"] | undefined) => void;
}

export interface Copied {
	readonly kind: "file" | "directory";
	/** The path of the copy. */
	readonly path: string;
	readonly created: boolean;
	readonly files: number;
	readonly directories: number;
	readonly links: number;
	readonly bytes: number;
	/** The sum of a single file. */
	readonly sha256?: string;
	/** Entries that were left out, and why: devices, pipes, sockets, names that are not UTF-8. */
	readonly skipped: readonly string[];
	readonly notes: readonly string[];
}

export async function copy(from: CopySide, to: CopySide, options: CopyOptions = {}): Promise<Copied> {
	const source = trimmed(from.path);
	checkEnd(from, source, "read");
	const entry = await from.files.stat(source);
	if (!entry) throw new HoldfastError("NOT_FOUND", `there is no ${source}; nothing was copied`);
	if (entry.kind === "other") throw new HoldfastError("INVALID", `${source} is a device, a pipe or a socket, which cannot be copied`);
	const target = await targetOf(from.path, entry, to);
	checkEnd(to, target, "written");
	if (entry.kind === "file") await to.files.tidy(path.posix.dirname(target));
	return entry.kind === "file"
		? copyOne({ ...from, path: source }, entry, { ...to, path: target }, options)
		: copyFolder({ ...from, path: source }, entry, { ...to, path: target }, options);
}

/** Throws if the end refuses it. */
export function checkEnd({ refuse }: CopySide, file: string, done: "read" | "written"): void {
	const why = refuse?.(file);
	if (why !== undefined)
		throw new HoldfastError("FORBIDDEN", `${file} cannot be ${done} by this tool: ${why}. Nothing was copied; your user can do it with \`holdfast cp\``);
}

const trimmed = (file: string): string => path.posix.resolve("/", file);

/** Returns the target as cp computes it: inside an existing directory, else that very name. */
export async function targetOf(source: string, entry: Entry, to: CopySide): Promise<string> {
	const wanted = trimmed(to.path);
	const there = await to.files.stat(wanted);
	const contents = entry.kind === "directory" && /\/\.$/.test(source);
	if (there?.kind === "directory") return contents ? wanted : path.posix.join(wanted, path.posix.basename(trimmed(source)));
	if (there && entry.kind === "directory") throw new HoldfastError("INVALID", `${wanted} is there and is no directory; nothing was copied`);
	return /\/$/.test(to.path) && !contents && entry.kind === "file" ? path.posix.join(wanted, path.posix.basename(trimmed(source))) : wanted;
}

async function copyOne(from: CopySide, entry: Entry, to: CopySide, options: CopyOptions): Promise<Copied> {
	const report = (bytes: number) => options.progress?.({ files: 0, totalFiles: 1, bytes, totalBytes: entry.size });
	const { path: target, created, bytes, sha256, notes, made } = await copyFile(from, entry, to, options, report, options.placing);
	options.progress?.({ files: 1, totalFiles: 1, bytes, totalBytes: bytes });
	return { kind: "file", path: target, created, files: 1, directories: made === undefined ? 0 : 1, links: 0, bytes, sha256, skipped: [], notes };
}

/** Compares the copy with the source by sha256. Retries if the source changed meanwhile, which would yield a mixture. */
async function copyFile(
	from: CopySide,
	{ mode }: { mode: number },
	to: CopySide,
	{ signal }: CopyOptions,
	report: (bytes: number) => void,
	placing?: CopyOptions["placing"],
) {
	const existing = await to.files.stat(to.path);
	for (let tries = 1; ; tries++) {
		const before = await from.files.stat(from.path);
		const hash = from.files.near ? undefined : from.files.hash(from.path, signal); // computed during the transfer
		hash?.catch(() => {}); // awaited later, or never
		const draft = await to.files
			.draft(to.path, readAhead(from.files, from.path, before?.size ?? 0, signal), {
				...(existing ? {} : { mode: mode & 0o777 }),
				...(signal ? { signal } : {}),
				progress: report,
			})
			.catch(async (error: unknown) => {
				await hash?.catch(() => {});
				throw error;
			});
		try {
			const same = hash === undefined || draft.sha256 === (await hash);
			if (same && before?.version === (await from.files.stat(from.path))?.version) {
				placing?.(draft.at);
				return await draft.commit();
			}
		} finally {
			await draft.drop();
		}
		if (tries === TRIES)
			throw new HoldfastError(
				"CONFLICT",
				`${from.path} changes all the time while it is being copied, so nothing was written; stop what writes to it, or copy a copy`,
			);
	}
}

/** Assembles the folder beside its target first: a new folder appears whole or not at all, and an existing one receives only complete files. */
async function copyFolder(from: CopySide, entry: Entry, to: CopySide, options: CopyOptions): Promise<Copied> {
	if (from.files === to.files && `${to.path}/`.startsWith(`${from.path}/`)) throw new HoldfastError("INVALID", "a directory cannot be copied into itself");
	const { signal } = options;
	const found = permitted(await from.files.tree(from.path, signal), from, to);
	const created = (await to.files.stat(to.path)) === undefined;
	if (!created && to.refuse)
		throw new HoldfastError(
			"FORBIDDEN",
			`${to.path} is there already; a directory is downloaded only to where nothing is yet, so that it cannot replace anything. Give another target; nothing was copied`,
		);
	const above = created ? path.posix.dirname(to.path) : to.path;
	await to.files.mkdir(above);
	await to.files.tidy(above);
	const stage = path.posix.join(above, temporaryName());
	try {
		await to.files.mkdir(stage, { mode: 0o700 });
		const filled = await fill(from, found, { files: to.files, path: stage }, options);
		const locked = found.directories.filter(({ mode }) => (mode & 0o700) !== 0o700).reverse(); // deepest first: they could not have been filled otherwise
		const lock = async (dir: string) => {
			for (const { name, mode } of locked) await to.files.mkdir(path.posix.join(dir, name), { mode: mode & 0o777 });
		};
		stopIf(signal, to.path);
		if (created) {
			await lock(stage);
			const identity = to.files.near ? identityOf(stage) : undefined;
			options.placing?.(identity === undefined ? undefined : { temp: stage, target: to.path, identity });
			await to.files.install(stage, to.path, entry.mode & 0o777);
			discarded(path.posix.basename(stage));
		} else {
			options.placing?.(undefined); // its files reach their targets one after the other
			await to.files.merge(stage, to.path);
			discarded(path.posix.basename(stage));
			await lock(to.path);
		}
		const skipped = found.skipped.map(({ name, why }) => `${name} (${why})`);
		return { kind: "directory", path: to.path, created, ...filled, directories: found.directories.length, links: found.links.length, skipped };
	} catch (error) {
		await to.files.discard(stage);
		if (!(error instanceof HoldfastError) || !error.message.includes(stage)) throw error;
		throw new HoldfastError(error.code, error.message.replaceAll(stage, to.path), { cause: error }); // the caller does not know the temporary name
	}
}

/** Returns the tree without the paths that either end refuses. */
function permitted(found: Tree, from: CopySide, to: CopySide): Tree {
	const skipped = [...found.skipped];
	const left: string[] = [];
	const may = ({ name }: { readonly name: string }): boolean => {
		if (left.some((above) => name.startsWith(above))) return false;
		const why = from.refuse?.(path.posix.join(from.path, name));
		if (why === undefined) return true;
		skipped.push({ name, why });
		left.push(`${name}/`);
		return false;
	};
	const leads = ({ name, target }: Tree["links"][number]): boolean => {
		if (!to.refuse || staysWithin(name, target)) return true;
		skipped.push({ name, why: "a link that leads out of the folder, or may" });
		return false;
	};
	return { directories: found.directories.filter(may), files: found.files.filter(may), links: found.links.filter(may).filter(leads), skipped };
}

/** Returns whether a link stays inside its folder, whatever exists there: up first and then only down, since a name on the way may itself be a link. */
function staysWithin(name: string, target: string): boolean {
	const parts = target.split("/").filter((part) => part !== "" && part !== ".");
	const down = parts.findIndex((part) => part !== "..");
	const up = down < 0 ? parts.length : down;
	return !target.startsWith("/") && up < name.split("/").length && !parts.slice(up).includes("..");
}

async function fill(from: CopySide, found: Tree, to: CopySide, options: CopyOptions): Promise<{ files: number; bytes: number; notes: string[] }> {
	const { signal } = options;
	const totalBytes = found.files.reduce((sum, { size }) => sum + size, 0);
	let [files, bytes] = [0, 0];
	const notes: string[] = [];
	const report = (more = 0) => options.progress?.({ files, totalFiles: found.files.length, bytes: bytes + more, totalBytes });
	const alone = async (item: TreeEntry) => {
		const written = await copyFile(
			{ files: from.files, path: path.posix.join(from.path, item.name) },
			item,
			{ files: to.files, path: path.posix.join(to.path, item.name) },
			options,
			report,
		);
		notes.push(...written.notes.map((note) => `${item.name}: ${note}`));
		files++;
		bytes += written.bytes;
		report();
	};
	const changed: TreeEntry[] = [];
	const [pace, lanes] = [new Pace(GROUP), new Lanes()];
	const put = (items: PutItem[]) => lanes.add(() => to.files.putAll(to.path, items, options));
	for (const some of inParts(found.directories)) await put(some.map(({ name, mode }) => ({ kind: "directory", name, mode: (mode & 0o777) | 0o700 })));
	await lanes.end();
	for (const group of together(found.files, pace)) {
		stopIf(signal, from.path);
		const size = group.reduce((sum, item) => sum + item.size, 0);
		await lanes.add(() =>
			pace.timed(size, async () => {
				const contents = await from.files.readAll(from.path, group, signal).catch((error: unknown) => {
					if (error instanceof HoldfastError && error.code === "CONFLICT") return undefined;
					throw error;
				});
				if (!contents) {
					changed.push(...group);
					return;
				}
				const items = group.map(({ name, mode }, at): PutItem => ({ kind: "file", name, mode: mode & 0o777, content: contents[at] as Buffer }));
				await to.files.putAll(to.path, items, options);
				files += group.length;
				bytes += size;
				report();
			}),
		);
	}
	for (const some of inParts(found.links)) await put(some.map(({ name, target }) => ({ kind: "link", name, mode: 0o777, target })));
	await lanes.end();
	for (const item of [...changed, ...found.files.filter(({ size }) => size > SMALL)]) await alone(item);
	return { files, bytes, notes };
}

function* inParts<T>(all: readonly T[]): Generator<T[]> {
	for (let at = 0; at < all.length; at += TOGETHER) yield all.slice(at, at + TOGETHER);
}

/** Yields the small files in groups. */
function* together(files: readonly TreeEntry[], pace: Pace): Generator<TreeEntry[]> {
	let group: TreeEntry[] = [];
	let bytes = 0;
	for (const file of files) {
		if (file.size > SMALL) continue;
		if (group.length > 0 && (group.length >= TOGETHER || bytes + file.size > pace.size)) {
			yield group;
			[group, bytes] = [[], 0];
		}
		group.push(file);
		bytes += file.size;
	}
	if (group.length > 0) yield group;
}
