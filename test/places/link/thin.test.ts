/** A line that carries little, but carries it: what stands behind much else comes late, and nothing is wrong. */
import { randomBytes } from "node:crypto";
import fs from "node:fs";
import path from "node:path";
import { PassThrough, Readable } from "node:stream";
import { setTimeout as sleep } from "node:timers/promises";
import { expect, test } from "vitest";
import { linkEnd, remoteFiles } from "../../../src/places/files/index.js";
import type { Stream } from "../../../src/places/host.js";
import { Connection } from "../../../src/places/link/connection.js";
import { atEnd, tempDir } from "../../support/home.js";
import { ShellHost } from "../../support/shell-host.js";

const PIECE = 4_096;
const PIECE_MS = 10;

async function* thin(from: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
	for await (const chunk of from) {
		for (let at = 0; at < chunk.length; at += PIECE) {
			await sleep(PIECE_MS);
			yield chunk.subarray(at, at + PIECE);
		}
	}
}

/** 400 KB/s at most, one way. */
class ThinHost extends ShellHost {
	opened = 0;

	constructor(readonly way: "there" | "back") {
		super();
	}

	override async open(command: string): Promise<Awaited<ReturnType<ShellHost["open"]>>> {
		this.opened++;
		const stream = await super.open(command);
		const ways: Partial<Stream> = {};
		if (this.way === "back") Object.assign(ways, { output: Readable.from(thin(stream.output as AsyncIterable<Buffer>)) });
		else {
			const input = new PassThrough({ highWaterMark: 64 * 1024 * 1024 }); // as the buffers on the way
			Readable.from(thin(input)).pipe(stream.input);
			Object.assign(ways, { input });
		}
		return { ...stream, ...ways };
	}
}

function over(way: "there" | "back"): { host: ThinHost; connection: Connection } {
	const host = new ThinHost(way);
	const connection = new Connection(host, { dir: "", name: "box", beatMs: 100, answerMs: 1_500 });
	atEnd(() => connection.close());
	return { host, connection };
}

const content = randomBytes(1_500_000);

test("an answer that takes its time to come through is waited for, and so is the ping behind it", async () => {
	const { host, connection } = over("back");
	const file = path.join(tempDir(), "file");
	fs.writeFileSync(file, content);
	const { bytes } = await connection.use((link) => link.read(file, 0, content.length), { again: true });
	expect(bytes.equals(content)).toBe(true);
	expect(host.opened).toBe(1);
});

test("what is written leaves room for a ping", async () => {
	const { host, connection } = over("there");
	const file = path.join(tempDir(), "file");
	await remoteFiles(linkEnd(connection)).write(file, content);
	expect(fs.readFileSync(file).equals(content)).toBe(true);
	expect(host.opened).toBe(1);
});
