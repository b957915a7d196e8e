/** The files of an episode on their way from a worker to the collector: a compressed archive in the object store. */
import { spawn } from "node:child_process";
import { createHash, randomBytes } from "node:crypto";
import { once } from "node:events";
import fs from "node:fs";
import path from "node:path";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { AgentError, ensureDir } from "../base/index.js";
import { attemptLabel } from "../run/index.js";
import type { WorkerResult } from "./job.js";
import type { JobQueue } from "./nats.js";

type Files = WorkerResult["files"];

const STALL_MS = 20_000;

const conversationName = (id: string): string => path.join("talk", "conversations", `${id}.jsonl`);

/** Stores what an attempt has left, and returns where: a name of its own each time, since a reader of the one before may be in the middle of it. */
export async function sendFiles(
	queue: JobQueue,
	dir: string,
	{ index, attempt, conversation, name }: { index: number; attempt: number; conversation: string | null; name: string },
): Promise<Files> {
	const wanted = [path.join("episodes", attemptLabel(index, attempt)), ...(conversation === null ? [] : [conversationName(conversation)])];
	const store = await queue.files();
	const tar = spawn("tar", ["-C", dir, "-czf", "-", "--", ...wanted.filter((file) => fs.existsSync(path.join(dir, file)))], {
		stdio: ["ignore", "pipe", "inherit"],
	});
	const ended = once(tar, "close");
	const hash = createHash("sha256");
	let bytes = 0;
	async function* counted(): AsyncGenerator<Uint8Array> {
		for await (const piece of tar.stdout as AsyncIterable<Buffer>) {
			hash.update(piece);
			bytes += piece.length;
			yield piece;
		}
	}
	const own = `${name}.${randomBytes(4).toString("hex")}`;
	await store.put({ name: own }, Readable.toWeb(Readable.from(counted(), { objectMode: false })) as ReadableStream<Uint8Array>);
	const [code] = await ended;
	if (code !== 0) throw new AgentError("INTERNAL", `tar failed with ${code} for episode ${index}; its folder was kept`);
	return { name: own, sha256: hash.digest("hex"), bytes };
}

/** Puts the files where the run has them, under the collector's own number of the attempt. Returns false if the store does not have them (any more). */
export async function takeFiles(
	queue: JobQueue,
	dir: string,
	files: Files,
	{ index, attempt, from }: { index: number; attempt: number; from: number },
): Promise<boolean> {
	const store = await queue.files();
	const found = await store.get(files.name);
	if (!found) return false;
	const part = path.join(dir, `.part-${randomBytes(6).toString("hex")}`);
	ensureDir(part);
	try {
		const hash = createHash("sha256");
		const tar = spawn("tar", ["-C", part, "-xzf", "-"], { stdio: ["pipe", "ignore", "ignore"] });
		const ended = once(tar, "close");
		const source = Readable.fromWeb(found.data as never);
		// A piece that the server has lost is waited for without end.
		const stalled = setTimeout(() => source.destroy(new Error("the store is silent")), STALL_MS);
		source.on("data", (piece: Uint8Array) => {
			stalled.refresh();
			hash.update(piece);
		});
		await pipeline(source, tar.stdin).catch(() => tar.stdin.destroy()); // what came of it the sum says
		clearTimeout(stalled);
		const [code] = await ended;
		if (code !== 0 || hash.digest("hex") !== files.sha256) return false;
		const target = path.join(dir, "episodes", attemptLabel(index, attempt));
		ensureDir(path.dirname(target));
		fs.rmSync(target, { recursive: true, force: true }); // of a collector that was killed before it had the row
		fs.renameSync(path.join(part, "episodes", attemptLabel(index, from)), target);
		const talks = path.join(part, "talk", "conversations");
		for (const name of fs.existsSync(talks) ? fs.readdirSync(talks) : []) {
			ensureDir(path.join(dir, "talk", "conversations"));
			fs.renameSync(path.join(talks, name), path.join(dir, "talk", "conversations", name));
		}
		return true;
	} finally {
		fs.rmSync(part, { recursive: true, force: true });
	}
}

export async function dropArchive(queue: JobQueue, { name }: Files): Promise<void> {
	await (await queue.files()).delete(name).catch(() => {}); // it is gone already
}

/** The worker's copy goes when the collector has its own. */
export function dropFiles(dir: string, index: number, attempt: number, conversation: string | null): void {
	for (const name of [
		path.join("episodes", attemptLabel(index, attempt)),
		path.join("work", attemptLabel(index, attempt)),
		...(conversation === null ? [] : [conversationName(conversation)]),
	])
		fs.rmSync(path.join(dir, name), { recursive: true, force: true });
}

export const hasFiles = (dir: string, index: number, attempt: number): boolean => fs.existsSync(path.join(dir, "episodes", attemptLabel(index, attempt)));
