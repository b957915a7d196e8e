/** `read_file`: numbered lines of a file of any size. */
import path from "node:path";
import { counted, HoldfastError } from "../../base/index.js";
import { CONTEXT_BYTES, reveal } from "../../base/secrets/index.js";
import type { Files } from "../../places/files/index.js";
import type { Ask } from "../ask.js";
import { Missing } from "./answer.js";
import { MOST_CHARS, MOST_LINES, type ReadFileArgs } from "./input.js";
import { looksLike } from "./kinds.js";
import { permitted, reads } from "./permit.js";
import type { ReadFileResult } from "./result.js";
import { decode, encodingOf, isBinary, isValid, lineEndingsOf } from "./text.js";
import { type FilesAt, pathIn } from "./where.js";

const LOOK = 64 * 1024;
const WHOLE = 4 * 1024 * 1024; // smaller files are read whole
const WIDE_MOST = 32 * 1024 * 1024; // UTF-16 lines cannot be counted remotely
const COUNTED = 1024 * 1024 * 1024;
const LISTED = 50;

export async function readFile(ask: Ask, { path: given, offset = 1, limit = MOST_LINES }: ReadFileArgs, where: FilesAt): Promise<ReadFileResult> {
	const file = pathIn(where, given);
	return permitted(ask, { tool: "read_file", command: reads(file), cwd: where.cwd }, async () => {
		const { files } = where;
		const entry = await files.stat(file);
		if (!entry) throw new Missing(file);
		const about = { status: "ok" as const, error: null, path: file };
		if (entry.kind === "directory") return { ...about, ...(await directory(ask, files, file)) };
		if (entry.kind !== "file") throw new HoldfastError("INVALID", `${file} is a device, a pipe or a socket; it cannot be read as a file`);
		const start = await files.read(file, 0, LOOK);
		const size = Math.max(entry.size, start.length); // files in /proc report no size
		const looks = looksLike(start);
		if (looks && (looks.kind === "image" || isBinary(start))) {
			const { kind, type, width, height } = looks;
			const pixels = width === undefined ? "" : `, ${width} × ${height} pixels`;
			ask.notes.push(`It is ${kind === "image" ? "an image" : "not text"}, so nothing of it is shown.`);
			return {
				...about,
				output: "",
				kind,
				type,
				size,
				...(width === undefined ? {} : { width, height: height as number }),
				showing: `${type}${kind === "image" ? " image" : ""}${pixels}, ${counted(size, "byte")}`,
			};
		}
		if (isBinary(start)) {
			ask.notes.push("It is not text, so nothing of it is shown; a command such as `xxd` or `strings` can look into it.");
			return { ...about, output: "", kind: "binary", type: "binary data", size, showing: `binary data, ${counted(size, "byte")}` };
		}
		return { ...about, ...(await text(ask, files, { file, start, size, offset, limit })) };
	});
}

async function directory(ask: Ask, files: Files, dir: string): Promise<Omit<ReadFileResult, "status" | "error">> {
	const entries = await files.list(dir);
	const names = entries.map(({ name, kind }) => `${name}${kind === "directory" ? "/" : kind === "link" ? "@" : ""}`).sort();
	ask.notes.push(
		`It is a directory; ${names.length > LISTED ? `these are ${LISTED} of its ${names.length} entries` : "these are its entries"}. Read one of them, or use search_files.`,
	);
	return { output: names.slice(0, LISTED).join("\n"), kind: "directory", showing: `directory, ${counted(names.length, "entry", "entries")}` };
}

interface Wanted {
	readonly file: string;
	readonly start: Buffer;
	readonly size: number;
	readonly offset: number;
	readonly limit: number;
}

async function text(ask: Ask, files: Files, wanted: Wanted): Promise<Omit<ReadFileResult, "status" | "error">> {
	const { file, start, size, offset, limit } = wanted;
	const { encoding } = encodingOf(start);
	const wide = encoding.startsWith("utf-16");
	if (wide && size > WIDE_MOST)
		throw new HoldfastError("INVALID", `${file} has ${size} bytes of ${encoding}, too many to find lines in; convert it first, e.g. with iconv`);
	const part = wide || size <= WHOLE ? await whole(files, wanted) : await somewhere(ask, files, wanted);
	const { total } = part;
	if (total !== null && offset > Math.max(1, total))
		throw new HoldfastError("INVALID", `offset ${offset} is behind the end: ${file} has ${counted(total, "line")}`);
	const hidden = ask.runtime.home.secrets.hide(part.text, { before: part.before, after: part.after });
	const lines = hidden.split("\n");
	if (lines.at(-1) === "" && part.text.endsWith("\n")) lines.pop();
	if (part.text === "" && part.before === "") {
		ask.notes.push("The file is empty.");
		return { output: "", kind: "text", size, total_lines: 0, showing: "empty file" };
	}
	const most = ask.limits.recentChars;
	const shown: string[] = [];
	let [cut, chars] = [0, 0];
	for (const line of lines.slice(0, limit)) {
		const bare = line.endsWith("\r") ? line.slice(0, -1) : line;
		const over = bare.length > MOST_CHARS;
		const numbered = `${String(offset + shown.length).padStart(6)}\t${reveal(over ? bare.slice(0, MOST_CHARS) : bare)}${over ? `… (${counted(bare.length - MOST_CHARS, "more character")})` : ""}`;
		if (chars + numbered.length > most && shown.length > 0) break;
		if (over) cut++;
		chars += numbered.length + 1;
		shown.push(numbered);
	}
	const next = offset + shown.length;
	const more = shown.length < lines.length || part.more;
	if (cut > 0) ask.notes.push(`${counted(cut, "line was", "lines were")} cut after ${MOST_CHARS} characters.`);
	if (more) ask.notes.push(`There is more: go on with offset=${next}.`);
	if (encoding === "utf-8" && !isValid(part.bytes)) ask.notes.push("Some bytes are not UTF-8 and are shown as \ufffd; the file itself has them still.");
	const endings = lineEndingsOf(part.text);
	if (endings === "crlf") ask.notes.push("Its lines end with CRLF; patch and write_file keep that.");
	return {
		output: shown.join("\n"),
		kind: "text",
		size,
		total_lines: total,
		encoding,
		...(endings === undefined ? {} : { line_endings: endings }),
		...(more ? { next_offset: next } : {}),
		showing: `${path.posix.basename(file)}, lines ${offset}-${next - 1} of ${total ?? "many"}, ${counted(size, "byte")}`,
	};
}

interface Part {
	/** Starts at the first wanted line; may extend past the last. */
	readonly text: string;
	readonly bytes: Buffer;
	readonly before: string;
	readonly after: string;
	readonly total: number | null;
	readonly more: boolean;
}

async function whole(files: Files, { file, start, size, offset, limit }: Wanted): Promise<Part> {
	const bytes = size <= start.length && start.length < LOOK ? start : await files.read(file, 0, Math.max(WIDE_MOST, size));
	const all = decode(bytes);
	let from = 0;
	for (let line = 1; line < offset && from >= 0; line++) from = all.indexOf("\n", from) + 1 || -1;
	const total = (all.match(/\n/g)?.length ?? 0) + (all === "" || all.endsWith("\n") ? 0 : 1);
	if (from < 0) return { text: "", bytes, before: all.slice(-1), after: "", total, more: false };
	let to = from;
	for (let line = 0; line < limit && to < all.length; line++) to = all.indexOf("\n", to) + 1 || all.length;
	return {
		text: all.slice(from, to),
		bytes,
		before: all.slice(Math.max(0, from - CONTEXT_BYTES), from),
		after: all.slice(to, to + CONTEXT_BYTES),
		total,
		more: to < all.length,
	};
}

/** Reads a large file: counts its lines where the file is, and transfers only the wanted ones. */
async function somewhere(ask: Ask, files: Files, { file, size, offset, limit }: Wanted): Promise<Part> {
	const signal = ask.signal ? { signal: ask.signal } : {};
	const number = async (script: string) => Number((await files.run(script, [file, String(offset - 1)], signal)).output.toString().trim());
	const from = offset === 1 ? 0 : await number('head -n "$2" <"$1" | wc -c');
	const newlines = size <= COUNTED ? await number('wc -l <"$1"') : null;
	const unfinished = newlines !== null && (await files.read(file, size - 1, 1))[0] !== 10;
	const total = newlines === null ? null : newlines + (unfinished ? 1 : 0);
	const most = ask.limits.recentChars * 4 + LOOK;
	const bytes = from >= size ? Buffer.alloc(0) : await files.read(file, from, most);
	let to = 0;
	for (let line = 0; line < limit && to < bytes.length; line++) to = bytes.indexOf(10, to) + 1 || bytes.length;
	const before = await files.read(file, Math.max(0, from - CONTEXT_BYTES), Math.min(from, CONTEXT_BYTES));
	const one = bytes.subarray(0, to);
	return { text: decode(one), bytes: one, before: decode(before), after: decode(bytes.subarray(to, to + CONTEXT_BYTES)), total, more: from + to < size };
}
