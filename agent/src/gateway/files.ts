/** Files that people send: stored before their message is acknowledged, and put into the place of the conversation before it is told of them. */
import { randomBytes } from "node:crypto";
import fs from "node:fs";
import path from "node:path";
import { ensureDir, fileKey, fromSystem } from "../base/index.js";
import { oneLine } from "../chat/index.js";
import type { FileRef } from "../talk/index.js";
import type { Conversation } from "../turn/index.js";
import type { GatewayPaths } from "./paths.js";
import type { IncomingFile } from "./platforms/platform.js";

const READ_MS = 60_000;
const NAME_CHARS = 100;
/** In the place of the conversation. */
const RECEIVED = "/tmp/holdfast-received";

export interface Taken {
	readonly files: readonly FileRef[];
	/** Files that could not be taken, in words. */
	readonly problems: readonly string[];
}

/** The last part of a name, which cannot leave a directory, hide itself, or be read as an option. */
export function safeName(name: string): string {
	const last = oneLine(name, 1_000).split(/[/\\]/).at(-1) ?? "";
	const kept = last.replace(/[^\p{L}\p{N}._ -]/gu, "_").replace(/^[.\- ]+/, "");
	const end = path.extname(kept).slice(0, 20);
	return (kept.length <= NAME_CHARS ? kept : `${kept.slice(0, NAME_CHARS - end.length)}${end}`) || "file";
}

/** Reads and stores them. Rejects only if the disk does not take them: then the message is not acknowledged. */
export async function takeFiles(paths: GatewayPaths, key: string, files: readonly IncomingFile[], limit: number): Promise<Taken> {
	const taken: FileRef[] = [];
	const problems: string[] = [];
	for (const file of files) {
		const name = safeName(file.name);
		let bytes: Uint8Array;
		try {
			if ((file.size ?? 0) > limit) throw new Error(`it has ${file.size} bytes, and ${limit} are allowed`);
			bytes = await file.read(limit, AbortSignal.timeout(READ_MS));
			if (bytes.length > limit) throw new Error(`it has ${bytes.length} bytes, and ${limit} are allowed`);
		} catch (error) {
			problems.push(`The file ${name} was not taken: ${error instanceof Error ? error.message : error}`);
			continue;
		}
		const dir = path.join(paths.files, fileKey(key), randomBytes(6).toString("hex"));
		try {
			ensureDir(dir);
			fs.writeFileSync(path.join(dir, name), bytes, { mode: 0o600, flush: true } as fs.WriteFileOptions);
		} catch (error) {
			throw fromSystem(error, `cannot store ${name}`);
		}
		taken.push({ name, path: path.join(dir, name), bytes: bytes.length });
	}
	return { files: taken, problems };
}

/** Puts files into the place of the conversation and returns their paths. A failure becomes a problem. */
export async function putFiles(conversation: Conversation, files: readonly FileRef[]): Promise<Taken> {
	const put: FileRef[] = [];
	const problems: string[] = [];
	for (const { name, path: source, bytes } of files) {
		const target = `${RECEIVED}/${path.basename(path.dirname(source))}/${name}`;
		const { error } = await conversation.task.call("upload", { source, target }, { place: conversation.place });
		if (error === undefined || error === null) put.push({ name, path: target, bytes });
		else problems.push(`The file ${name} could not be put into the place: ${error}`);
	}
	return { files: put, problems };
}
