/** Files and folders from one place to another, byte for byte. What arrives is compared with what was there by its sha256. */
import path from "node:path";
import { HoldfastError } from "../../base/errors.js";
import { type Entry, type Files, type PutItem, stopIf } from "./files.js";
import { type Found, walk } from "./walk.js";

const PIECE = 1024 * 1024;
const AHEAD = 4; // pieces asked for before they are needed
/** What is smaller goes together with others. */
const SMALL = 256 * 1024;
const TOGETHER_BYTES = 4 * 1024 * 1024;
const TOGETHER = 400;
const TRIES = 3; // for a file that others write to

export interface End {
	readonly files: Files;
	/** Absolute. Of a source `/.` at its end means what is in it; of a target `/` means a directory. */
	readonly path: string;
}

export interface Progress {
	readonly files: number;
	readonly totalFiles: number;
	readonly bytes: number;
	readonly totalBytes: number;
}

export interface CopyOptions {
	readonly signal?: AbortSignal;
	readonly progress?: (progress: Progress) => void;
}

export interface Copied {
	readonly kind: "file" | "directory";
	/** Where it is now. */
	readonly path: string;
	readonly created: boolean;
	readonly files: number;
	readonly directories: number;
	readonly links: number;
	readonly bytes: number;
	/** Of a single file. */
	readonly sha256?: string;
	/** What was left out, and why. */
	readonly skipped: readonly string[];
	readonly notes: readonly string[];
}

export async function copy(from: End, to: End, options: CopyOptions = {}): Promise<Copied> {
	const source = trimmed(from.path);
	const entry = await from.files.stat(source);
	if (!entry) throw new HoldfastError("NOT_FOUND", `there is no ${source}; nothing was copied`);
	if (entry.kind === "other") throw new HoldfastError("INVALID", `${source} is a device, a pipe or a socket, which cannot be copied`);
	const target = await targetOf(from.path, entry, to);
	return entry.kind === "file"
		? copyOne({ ...from, path: source }, entry, { ...to, path: target }, options)
		: copyFolder({ ...from, path: source }, entry, { ...to, path: target }, options);
}

const trimmed = (file: string): string => path.posix.resolve("/", file);

/** As cp has it: into a directory that is there, else under that very name. */
export async function targetOf(source: string, entry: Entry, to: End): Promise<string> {
	const wanted = trimmed(to.path);
	const there = await to.files.stat(wanted);
	const contents = entry.kind === "directory" && /\/\.$/.test(source);
	if (there?.kind === "directory") return contents ? wanted : path.posix.join(wanted, path.posix.basename(trimmed(source)));
	if (there && entry.kind === "directory") throw new HoldfastError("INVALID", `${wanted} is there and is no directory; nothing was copied`);
	return /\/$/.test(to.path) && !contents && entry.kind === "file" ? path.posix.join(wanted, path.posix.basename(trimmed(source))) : wanted;
}

async function copyOne(from: End, entry: Entry, to: End, options: CopyOptions): Promise<Copied> {
	const report = (bytes: number) => options.progress?.({ files: 0, totalFiles: 1, bytes, totalBytes: entry.size });
	const { path: target, created, bytes, sha256, notes, made } = await copyFile(from, entry, to, options, report);
	options.progress?.({ files: 1, totalFiles: 1, bytes, totalBytes: bytes });
	return { kind: "file", path: target, created, files: 1, directories: made === undefined ? 0 : 1, links: 0, bytes, sha256, skipped: [], notes };
}

/** The source is looked at again at the end: what others changed meanwhile would be a mixture. */
async function copyFile(from: End, { mode }: { mode: number }, to: End, { signal }: CopyOptions, report: (bytes: number) => void) {
	const existing = await to.files.stat(to.path);
	for (let tries = 1; ; tries++) {
		const draft = await to.files.draft(to.path, readAhead(from, signal), {
			...(existing ? {} : { mode: mode & 0o777 }),
			...(signal ? { signal } : {}),
			progress: report,
		});
		try {
			if (draft.sha256 === (await from.files.hash(from.path, signal))) return await draft.commit();
		} finally {
			await draft.drop();
		}
		if (tries === TRIES)
			throw new HoldfastError(
				"ANSWERED",
				`${from.path} changes all the time while it is being copied, so nothing was written; stop what writes to it, or copy a copy`,
			);
	}
}

async function* readAhead({ files, path: file }: End, signal: AbortSignal | undefined): AsyncGenerator<Buffer> {
	const asked: Promise<Buffer>[] = [];
	try {
		for (let next = 0; ; ) {
			while (asked.length < AHEAD) {
				const piece = files.read(file, next, PIECE);
				piece.catch(() => {}); // it is looked at in its turn, or not at all
				asked.push(piece);
				next += PIECE;
			}
			stopIf(signal, file);
			const piece = (await asked.shift()) as Buffer;
			if (piece.length > 0) yield piece;
			if (piece.length < PIECE) return;
		}
	} finally {
		await Promise.allSettled(asked);
	}
}

async function copyFolder(from: End, entry: Entry, to: End, options: CopyOptions): Promise<Copied> {
	if (from.files === to.files && `${to.path}/`.startsWith(`${from.path}/`)) throw new HoldfastError("INVALID", "a directory cannot be copied into itself");
	const { signal } = options;
	const found = await walk(from.files, from.path, signal);
	const created = (await to.files.stat(to.path)) === undefined;
	await to.files.mkdir(to.path, created ? { mode: entry.mode | 0o700 } : {});
	const folders = found.directories.map(({ name, mode }): PutItem => ({ kind: "directory", name, mode: (mode & 0o777) | 0o700 }));
	for (let at = 0; at < folders.length; at += TOGETHER) await to.files.putAll(to.path, folders.slice(at, at + TOGETHER), options);
	const totalBytes = found.files.reduce((sum, { size }) => sum + size, 0);
	let [files, bytes] = [0, 0];
	const notes: string[] = [];
	const report = (more = 0) => options.progress?.({ files, totalFiles: found.files.length, bytes: bytes + more, totalBytes });
	const alone = async (item: Found) => {
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
	for (const group of together(found.files)) {
		stopIf(signal, from.path);
		const [first] = group;
		if (group.length === 1 && first && first.size > SMALL) {
			await alone(first);
			continue;
		}
		const contents = await from.files.readAll(from.path, group, signal).catch((error: unknown) => {
			if (error instanceof HoldfastError && error.code === "ANSWERED") return undefined;
			throw error;
		});
		if (!contents) {
			for (const item of group) await alone(item);
			continue;
		}
		const items = group.map(({ name, mode }, at): PutItem => ({ kind: "file", name, mode: mode & 0o777, content: contents[at] as Buffer }));
		await to.files.putAll(to.path, items, options);
		files += group.length;
		bytes += contents.reduce((sum, { length }) => sum + length, 0);
		report();
	}
	const links = found.links.map(({ name, target }): PutItem => ({ kind: "link", name, mode: 0o777, target }));
	for (let at = 0; at < links.length; at += TOGETHER) await to.files.putAll(to.path, links.slice(at, at + TOGETHER), options);
	const locked = found.directories.filter(({ mode }) => (mode & 0o700) !== 0o700).reverse(); // the deepest first: they could not have been filled
	for (const { name, mode } of locked) await to.files.putAll(to.path, [{ kind: "directory", name, mode: mode & 0o777 }], options);
	return { kind: "directory", path: to.path, created, files, directories: found.directories.length, links: links.length, bytes, skipped: found.skipped, notes };
}

/** Small ones in groups, large ones by themselves. */
function* together(files: readonly Found[]): Generator<Found[]> {
	let group: Found[] = [];
	let bytes = 0;
	for (const file of files) {
		if (file.size > SMALL) {
			yield [file];
			continue;
		}
		if (group.length >= TOGETHER || bytes + file.size > TOGETHER_BYTES) {
			yield group;
			[group, bytes] = [[], 0];
		}
		group.push(file);
		bytes += file.size;
	}
	if (group.length > 0) yield group;
}
