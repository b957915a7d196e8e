/** The message of a run: from the command line, a file or stdin. Only text, and not without end. */
import fs from "node:fs";
import { AgentError, errno } from "../base/index.js";

export const MOST_BYTES = 10 * 1024 * 1024;
const PIECE = 64 * 1024;

export interface PromptSource {
	readonly text?: string | undefined;
	/** `-` is stdin. */
	readonly file?: string | undefined;
}

/** Both together: the text, then the file. */
export function readPrompt({ text, file }: PromptSource): string {
	const parts = [...(text === undefined ? [] : [text]), ...(file === undefined ? [] : [readText(file)])];
	return parts.join("\n\n");
}

function readText(file: string): string {
	const name = file === "-" ? "stdin" : file;
	const bytes = readBytes(file, name);
	const nul = bytes.indexOf(0);
	if (nul >= 0)
		throw new AgentError(
			"INVALID",
			`${name} is no text (byte ${nul} is zero), so nothing was sent; name the file in the message instead, and the agent can look at it`,
		);
	try {
		return new TextDecoder("utf-8", { fatal: true }).decode(bytes).trimEnd();
	} catch (cause) {
		throw new AgentError("INVALID", `${name} is no UTF-8 text, so nothing was sent; convert it (iconv -t UTF-8), or name the file in the message instead`, {
			cause,
		});
	}
}

function readBytes(file: string, name: string): Buffer {
	let fd: number | undefined;
	try {
		fd = file === "-" ? 0 : fs.openSync(file, "r");
		const pieces: Buffer[] = [];
		for (let size = 0; ; ) {
			const piece = Buffer.alloc(PIECE);
			const read = readSome(fd, piece);
			if (read === 0) return Buffer.concat(pieces);
			size += read;
			if (size > MOST_BYTES)
				throw new AgentError(
					"INVALID",
					`${name} has more than ${MOST_BYTES / 1024 / 1024} MB, so nothing was sent; name the file in the message instead, and the agent can read it`,
				);
			pieces.push(piece.subarray(0, read));
		}
	} catch (error) {
		if (error instanceof AgentError) throw error;
		const why = { ENOENT: "there is no such file", EISDIR: "it is a directory", EACCES: "it may not be read" }[errno(error) ?? ""] ?? (error as Error).message;
		throw new AgentError("INVALID", `cannot read ${name}: ${why}; give a text file, or - for stdin`, { cause: error });
	} finally {
		if (fd !== undefined && fd !== 0) fs.closeSync(fd);
	}
}

/** A terminal or pipe that another program has set to non-blocking has nothing yet: it is asked again. */
function readSome(fd: number, into: Buffer): number {
	for (;;) {
		try {
			return fs.readSync(fd, into, 0, into.length, null);
		} catch (error) {
			if (errno(error) === "EOF") return 0;
			if (errno(error) !== "EAGAIN") throw error;
			Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 20);
		}
	}
}
