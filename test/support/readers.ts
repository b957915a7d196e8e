/** Programs that copy the output of a process, one after the other, each from where the last one was killed. */
import fs from "node:fs";
import path from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { expect } from "vitest";
import { type Program, run } from "../fixtures/programs.js";
import { until } from "./home.js";
import type { Runtime } from "./internal.js";
import { seeded } from "./seed.js";

const LINE = "still here: é\n";
const TRUTH = Buffer.from(`${Array.from({ length: 1_000_000 }, (_, i) => i + 1).join("\n")}\ngot: ${LINE}`);

export interface Printing {
	readonly home: string;
	/** It prints the numbers to a million, the rest of them at once when the file `hurry` is there; then what it reads, and exits with 7. */
	readonly id: string;
	readonly hurry: string;
	/** A runtime that can look at it. */
	open(): Promise<Runtime>;
	readonly kills: number;
	/** How many read at the same time. */
	readonly readers?: number;
}

export async function copyWithKills({ home, id, hurry, open, kills, readers = 1 }: Printing): Promise<void> {
	const copies = Array.from({ length: readers }, (_, n) => path.join(home, `copy-${n}`));
	await Promise.all(copies.map((copy) => killReaders(home, id, copy, kills / readers)));
	expect(Math.max(...copies.map(sizeOf))).toBeLessThan(TRUTH.length); // all kills came while it was printing
	fs.writeFileSync(hurry, "");
	const last = copies.map((copy) => run("reader.mjs", home, id, copy));
	for (const reader of last) reader.begin();

	const process = (await open()).get(id);
	expect(process.status()).toMatchObject({ status: "running" });
	await process.write(LINE);
	expect((await process.wait({ timeout: 100_000 })).status).toMatchObject({ status: "exited", exitCode: 7, signal: null });
	expect(await Promise.all(last.map((reader) => reader.ended))).toEqual(last.map(() => 0));

	expect(process.log.bounds()).toEqual({ first: 0, end: TRUTH.length });
	expect(firstDifference(process.read(0, TRUTH.length + 1).bytes)).toBe(-1);
	for (const copy of copies) expect(firstDifference(fs.readFileSync(copy))).toBe(-1);
}

/** One reader after the other, each killed in the middle of its reading. The next ones are loaded meanwhile. */
async function killReaders(home: string, id: string, copy: string, kills: number): Promise<void> {
	const random = seeded("kills of readers");
	const readers: Program[] = [];
	for (let n = 0; n < kills; n++) {
		while (readers.length < Math.min(3, kills - n)) readers.push(run("reader.mjs", home, id, copy));
		const reader = readers.shift() as Program;
		const before = sizeOf(copy);
		reader.begin();
		await until("the reader reads", () => sizeOf(copy) > before);
		await sleep(random() * 40);
		await reader.kill();
		expect(await reader.ended).toBe("SIGKILL");
	}
}

const sizeOf = (file: string): number => fs.statSync(file, { throwIfNoEntry: false })?.size ?? 0;

/** The first byte that is not the truth's; -1 when there is none. A diff of two such texts would be of no use. */
function firstDifference(bytes: Buffer): number {
	if (bytes.equals(TRUTH)) return -1;
	const at = bytes.findIndex((byte, index) => byte !== TRUTH[index]);
	return at < 0 ? Math.min(bytes.length, TRUTH.length) : at;
}
