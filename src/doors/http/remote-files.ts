/** Files of another machine or container, over the link that its processes have, with the rights of the remote login. */
import path from "node:path";
import { HoldfastError } from "../../base/index.js";
import type { Entry, Files } from "../../places/files/index.js";
import type { Machine } from "../../places/index.js";
import { ENTRIES, LOOKED_AT, modeText, nameOf, order, UPLOAD_BYTES } from "./local-files.js";
import { Refusal } from "./refusal.js";
import type { FileEntry, FileView } from "./schemas.js";

const PIECE = 1024 * 1024;

/** Prints the target of each link: its kind and its name. */
const TARGETS = `cd "$1" || exit; shift
for f; do
	f=./$f
	if [ -d "$f" ]; then t=directory; elif [ -f "$f" ]; then t=file; elif [ -e "$f" ]; then t=other; else t=missing; fi
	to=$(readlink "$f")
	printf '%s %s\\n' "$t" "$(printf %s "$to" | tr '\\n' ' ')"
done`;

export class RemoteFiles {
	readonly #files: Files;
	readonly #place: string;

	constructor({ name, fileSystem }: Machine) {
		this.#place = name;
		this.#files = fileSystem;
	}

	/** Returns the real path, with links and dots resolved. */
	async resolve(base: string, wanted: string | undefined): Promise<string> {
		const { status, output } = await this.#files.run('readlink -f "$1" && printf .', [path.posix.resolve(base, wanted ?? ".")]);
		if (status !== 0) throw new HoldfastError("NOT_FOUND", "there is no such file or directory");
		return output.toString().slice(0, -2);
	}

	async view(file: string): Promise<FileView> {
		const entry = await this.#stat(file);
		const type = entry.kind === "directory" || entry.kind === "file" ? entry.kind : "other";
		const listed = type === "directory" ? await this.#entries(file) : undefined;
		return {
			place: this.#place,
			path: file,
			type,
			parent: file === "/" ? null : path.posix.dirname(file),
			entries: listed?.entries ?? null,
			omitted: listed?.omitted ?? 0,
			size: type === "file" ? entry.size : 0,
			modified_at: new Date(entry.mtime * 1000).toISOString(),
			text: type === "file" ? await this.#looksLikeText(file) : null,
		};
	}

	async size(file: string): Promise<number> {
		const { kind, size } = await this.#stat(file);
		if (kind !== "file") throw new HoldfastError("INVALID", `${file} is not a file`);
		return size;
	}

	/** From `start` up to and with `end`. One that became shorter ends early, and so does the answer, which says how long it was to be. */
	stream(file: string, start: number, end: number): ReadableStream<Uint8Array> {
		let at = start;
		return new ReadableStream<Uint8Array>({
			pull: async (controller) => {
				const bytes = at > end ? Buffer.alloc(0) : await this.#files.read(file, at, Math.min(PIECE, end + 1 - at));
				at += bytes.length;
				if (bytes.length === 0) controller.close();
				else controller.enqueue(new Uint8Array(bytes));
			},
		});
	}

	/** Writes whole or not at all: other programs see the old file or the new one. The directory must exist. */
	async write(base: string, wanted: string, body: AsyncIterable<Uint8Array>, replace: boolean): Promise<{ path: string; size: number; replaced: boolean }> {
		const full = path.posix.resolve(base, wanted);
		const file = path.posix.join(await this.resolve("/", path.posix.dirname(full)), nameOf(wanted, full));
		const before = await this.#files.stat(file, { follow: false });
		if (before && before.kind !== "file") throw new Refusal(409, "INVALID", `${file} is there and is no file; choose another name`);
		if (before && !replace) throw new Refusal(409, "INVALID", `${file} is there already; say replace=true to replace it`);
		const { bytes, created } = await this.#files.write(file, limited(body), replace ? {} : { expect: null });
		return { path: file, size: bytes, replaced: !created };
	}

	async #stat(file: string): Promise<Entry> {
		const entry = await this.#files.stat(file);
		if (!entry) throw new HoldfastError("NOT_FOUND", "there is no such file or directory");
		return entry;
	}

	async #entries(dir: string): Promise<{ entries: FileEntry[]; omitted: number }> {
		const all = await this.#files.list(dir);
		const shown = all.slice(0, ENTRIES);
		const links = shown.filter(({ kind }) => kind === "link").map(({ name }) => name);
		const targets = await this.#targets(dir, links);
		const entries = shown.map(({ name, kind, size, mode, mtime }) => ({
			name,
			type: kind,
			size,
			modified_at: new Date(mtime * 1000).toISOString(),
			mode: modeText(kind, mode),
			...targets.get(name),
		}));
		return { entries: entries.sort(order), omitted: all.length - shown.length };
	}

	async #targets(dir: string, names: readonly string[]): Promise<Map<string, Pick<FileEntry, "target" | "target_type">>> {
		if (names.length === 0) return new Map();
		const { output } = await this.#files.run(TARGETS, [dir, ...names]);
		const lines = output.toString().split("\n");
		return new Map(
			names.map((name, at) => {
				const [, type, target] = /^(directory|file|other|missing) (.*)$/.exec(lines[at] ?? "") ?? [];
				return [name, type ? { target: target ?? "", target_type: type as NonNullable<FileEntry["target_type"]> } : {}];
			}),
		);
	}

	async #looksLikeText(file: string): Promise<boolean | null> {
		try {
			return !(await this.#files.read(file, 0, LOOKED_AT)).includes(0);
		} catch {
			return null; // not ours to read
		}
	}
}

async function* limited(body: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
	let size = 0;
	for await (const part of body) {
		size += part.length;
		if (size > UPLOAD_BYTES) throw new Refusal(413, "TOO_BIG", `a file may have ${UPLOAD_BYTES} bytes at most; nothing was written`);
		yield part;
	}
}
