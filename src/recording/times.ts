/** The file `times` of a terminal: how much was printed when, and which sizes it had. docs/keeper.md has its lines. */
import fs from "node:fs";
import path from "node:path";
import { createInterface } from "node:readline";
import { errno, readIfThere, until } from "../base/index.js";
import { isOver, type Process } from "../process/index.js";

export type Moment =
	| { readonly kind: "output"; readonly microseconds: number; readonly bytes: number }
	| { readonly kind: "size"; readonly offset: number; readonly cols: number; readonly rows: number };

const OUTPUT = /^(\d+) (\d+)$/;
const SIZE = /^size (\d+) (\d+) (\d+)$/;

const ASK_MS = 2_000; // for a collector to answer; on a busy machine it takes its time

/** Resolves when the times of the first `end` bytes are in the file, or do not come: the last times of a running terminal are with its collector. */
export async function timesUpTo(process: Process, end: number): Promise<void> {
	const noted = () => (readIfThere(path.join(process.dir, "times")) ?? "").split("\n").reduce((sum, line) => sum + Number(OUTPUT.exec(line)?.[2] ?? 0), 0);
	if (isOver(process.status()) || noted() >= end) return;
	await process.askForTimes();
	await until(
		(poke) => process.watch(poke),
		() => noted() >= end || undefined,
		{ deadline: performance.now() + ASK_MS },
	);
}

export async function* readTimes(dir: string): AsyncGenerator<Moment, void> {
	let handle: fs.promises.FileHandle;
	try {
		handle = await fs.promises.open(path.join(dir, "times"));
	} catch (error) {
		if (errno(error) === "ENOENT") return; // nothing has been printed yet
		throw error;
	}
	const lines = createInterface({ input: handle.createReadStream({ encoding: "latin1" }), crlfDelay: Number.POSITIVE_INFINITY });
	try {
		for await (const line of lines) {
			const output = OUTPUT.exec(line);
			const size = output ? null : SIZE.exec(line);
			if (output) yield { kind: "output", microseconds: Number(output[1]), bytes: Number(output[2]) };
			else if (size) yield { kind: "size", offset: Number(size[1]), cols: Number(size[2]), rows: Number(size[3]) };
		}
	} finally {
		lines.close();
		await handle.close().catch(() => {}); // the stream has done so
	}
}
