/** `holdfast log --export`: a transcript as a file, whole or not at all. */
import fs from "node:fs";
import path from "node:path";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { counted, errno, HoldfastError, sizeText, unlinkIfThere } from "../../base/index.js";
import type { Runtime } from "../../process/index.js";
import { type ExportFormat, exportOf, FORMATS, mustBeKnown, TaskTranscript } from "../../transcript/index.js";
import { type CliCall, EXIT } from "./command.js";
import { interruptible } from "./interruptible.js";
import { writeOut } from "./stream.js";

const ENDING: Readonly<Record<string, ExportFormat>> = { ".md": "md", ".markdown": "md", ".json": "json", ".html": "html", ".htm": "html" };
const SIGNALS = ["SIGINT", "SIGTERM", "SIGHUP"] as const;

export async function exportTranscript(call: CliCall, runtime: Runtime, { task, since }: { task: string; since: number | undefined }): Promise<number> {
	const file = typeof call.values.export === "string" ? call.values.export : "-";
	const format = formatOf(call, file);
	if (file !== "-" && fs.existsSync(file)) throw exists(file);
	const transcript = await TaskTranscript.of(runtime, task, { since });
	if (transcript.length === 0) mustBeKnown(runtime, task);
	const pieces = exportOf({ task, at: new Date(), entries: transcript.read() }, format);
	if (file === "-") {
		for (const piece of pieces) await writeOut(Buffer.from(piece));
		return EXIT.ok;
	}
	const bytes = await interruptible((signal) => save(file, pieces, signal), SIGNALS);
	if (call.out.json) call.out.data({ task, file, format, entries: transcript.length, bytes });
	else call.out.note(`${counted(transcript.length, "entry", "entries")}, ${sizeText(bytes)}, written to ${file}`);
	return EXIT.ok;
}

function formatOf({ values }: CliCall, file: string): ExportFormat {
	const given = values.format;
	const found = given === undefined ? ENDING[path.extname(file).toLowerCase()] : FORMATS.find((format) => format === given);
	if (found === undefined && given !== undefined) throw new HoldfastError("INVALID", `--format takes ${FORMATS.join(", ")}, not "${String(given)}"`);
	if (found === undefined)
		throw new HoldfastError("INVALID", `the form of the export is not known: give a name that ends in .md, .json or .html, or --format ${FORMATS.join("|")}`);
	return found;
}

/** Written beside its name first, so a program that is killed meanwhile leaves nothing under that name. */
async function save(file: string, pieces: Iterable<string>, signal: AbortSignal): Promise<number> {
	const temp = path.join(path.dirname(file), `.${path.basename(file).slice(0, 200)}.${process.pid}.part`);
	try {
		const stream = fs.createWriteStream(temp, { flags: "wx", mode: 0o600 });
		await pipeline(Readable.from(pieces), stream, { signal });
		place(temp, file);
		return stream.bytesWritten;
	} catch (error) {
		if (signal.aborted) throw new HoldfastError("ABORTED", `interrupted; ${file} was not written`, { cause: error });
		if (error instanceof HoldfastError) throw error;
		throw new HoldfastError("INVALID", `cannot write ${file}: ${reasonOf(error, file)}`, { cause: error });
	} finally {
		unlinkIfThere(temp);
	}
}

/** Moves the file to its name, unless another file has taken that. */
function place(temp: string, file: string): void {
	try {
		fs.linkSync(temp, file);
	} catch (error) {
		if (errno(error) === "EEXIST" || fs.existsSync(file)) throw exists(file);
		fs.renameSync(temp, file); // a file system without links
	}
}

const exists = (file: string): HoldfastError =>
	new HoldfastError("INVALID", `cannot write ${file}: there is such a file already; choose another name, or remove it`);

function reasonOf(error: unknown, file: string): string {
	switch (errno(error)) {
		case "ENOENT":
			if (fs.existsSync(path.dirname(path.resolve(file)))) return `no file can be made in ${path.dirname(path.resolve(file))}; choose another directory`; // such as /proc
			return `there is no directory ${path.dirname(path.resolve(file))}; make it first`;
		case "EACCES":
		case "EPERM":
		case "EROFS":
			return `not allowed in ${path.dirname(path.resolve(file))}; choose another directory`;
		case "ENOSPC":
		case "EDQUOT":
			return "the disk is full; make room, or choose another directory";
		default:
			return (error as Error).message;
	}
}
