/** `write_file`: replaces a whole file atomically. */
import { counted } from "../../base/index.js";
import type { Files } from "../../places/files/index.js";
import type { Ask } from "../ask.js";
import type { WriteFileArgs } from "./input.js";
import { refuseMask } from "./mask.js";
import { permitted, writes } from "./permit.js";
import type { WriteFileResult } from "./result.js";
import { decode, encode, encodingOf, isBinary, lineEndingsOf } from "./text.js";
import { type FilesAt, pathIn } from "./where.js";

const LOOKED_AT = 4 * 1024 * 1024;

export async function writeFile(ask: Ask, { path: given, content }: WriteFileArgs, where: FilesAt): Promise<WriteFileResult> {
	const file = pathIn(where, given);
	return permitted(ask, { tool: "write_file", command: writes(file), cwd: where.cwd }, async (record) => {
		const bytes = await likeBefore(ask, where.files, file, content);
		const draft = await where.files.draft(file, bytes, ask.signal ? { signal: ask.signal } : {});
		try {
			record(bytes.length, [draft.at ?? null]);
			const { path, created, sha256, made, notes } = await draft.commit();
			ask.notes.push(...notes);
			if (made !== undefined) ask.notes.push(`The directory ${made} was not there and was made.`);
			if (path !== file) ask.notes.push(`${file} is a symbolic link; what it leads to was written: ${path}.`);
			return {
				status: "ok",
				output: "",
				error: null,
				path,
				created,
				bytes: bytes.length,
				sha256,
				...(made === undefined ? {} : { made_directory: made }),
				showing: `${created ? "created" : "replaced"} ${path}, ${counted(bytes.length, "byte")}`,
			};
		} finally {
			await draft.drop();
		}
	});
}

/** Returns the content with the encoding and line endings of the file that it replaces. */
async function likeBefore(ask: Ask, files: Files, file: string, content: string): Promise<Buffer> {
	const entry = await files.stat(file);
	if (entry?.kind !== "file") return Buffer.from(content);
	const start = await files.read(file, 0, Math.min(entry.size, LOOKED_AT));
	if (isBinary(start)) {
		ask.notes.push("What was there before was not text.");
		return Buffer.from(content);
	}
	const old = decode(start);
	refuseMask(content, old, file);
	const { encoding } = encodingOf(start);
	let text = content.startsWith("\ufeff") ? content.slice(1) : content;
	if (lineEndingsOf(old) === "crlf" && lineEndingsOf(text) === "lf") {
		text = text.replaceAll("\n", "\r\n");
		ask.notes.push("The file had CRLF line endings, and has them still.");
	}
	if (encoding !== "utf-8") ask.notes.push(`The file was ${encoding}, and is so still.`);
	return encoding === "utf-8" ? Buffer.from(content.startsWith("\ufeff") ? `\ufeff${text}` : text) : encode(text, encoding);
}
