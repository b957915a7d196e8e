/** Promise 2: `kill -9` of any Holdfast program, at any moment, loses nothing. Here the programs are readers. */
import fs from "node:fs";
import path from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { expect, test } from "vitest";
import { fixture, type Program, run, startAndDie } from "../fixtures/programs.js";
import { tempDir, testRuntime, until } from "../support/home.js";

const PATIENCE = 180_000; // every reader is a program of its own
const LINE = "still here: é\n";
const TRUTH = Buffer.from(`${Array.from({ length: 1_000_000 }, (_, i) => i + 1).join("\n")}\ngot: ${LINE}`);

test("a reader killed forty times while a million lines are printed misses nothing and repeats nothing", { timeout: PATIENCE }, async () => {
	await crash({ kills: 40, readers: 1, setup: "", terminal: false });
});

test("twenty times, on a terminal", { timeout: PATIENCE }, async () => {
	await crash({ kills: 20, readers: 1, setup: "stty raw -echo; ", terminal: true });
});

test("two readers at once, both being killed, each get everything", { timeout: PATIENCE }, async () => {
	await crash({ kills: 20, readers: 2, setup: "", terminal: false });
});

async function crash(options: { kills: number; readers: number; setup: string; terminal: boolean }): Promise<void> {
	const home = tempDir("home");
	const hurry = path.join(home, "hurry");
	const command = `${options.setup}exec perl '${fixture("numbers.pl")}' '${hurry}'`;
	const id = await startAndDie(home, { command, terminal: options.terminal });
	const copies = Array.from({ length: options.readers }, (_, n) => path.join(home, `copy-${n}`));

	await Promise.all(copies.map((copy) => killReaders(home, id, copy, options.kills / options.readers)));
	expect(Math.max(...copies.map(sizeOf))).toBeLessThan(TRUTH.length); // all kills came while it was printing
	fs.writeFileSync(hurry, "");
	const last = copies.map((copy) => run("reader.mjs", home, id, copy));
	for (const reader of last) reader.begin();

	const runtime = await testRuntime({ home });
	const process = runtime.get(id);
	expect(process.status()).toMatchObject({ status: "running" });
	await process.write(LINE);
	const { status } = await process.wait({ timeout: 30_000 });
	expect(status).toMatchObject({ status: "exited", exitCode: 7, signal: null });
	expect(await Promise.all(last.map((reader) => reader.ended))).toEqual(last.map(() => 0));

	const bounds = process.log.bounds();
	expect(bounds).toEqual({ first: 0, end: TRUTH.length });
	expect(firstDifference(process.read(0, TRUTH.length + 1).bytes)).toBe(-1);
	for (const copy of copies) expect(firstDifference(fs.readFileSync(copy))).toBe(-1);
}

/** One reader after the other, each killed in the middle of its reading. The next ones are loaded meanwhile. */
async function killReaders(home: string, id: string, copy: string, kills: number): Promise<void> {
	const readers: Program[] = [];
	for (let n = 0; n < kills; n++) {
		while (readers.length < Math.min(3, kills - n)) readers.push(run("reader.mjs", home, id, copy));
		const reader = readers.shift() as Program;
		const before = sizeOf(copy);
		reader.begin();
		await until("the reader reads", () => sizeOf(copy) > before);
		await sleep(Math.random() * 40);
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
