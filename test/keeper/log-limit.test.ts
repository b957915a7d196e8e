import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import { describe, expect, test } from "vitest";
import { openHome } from "../../src/base/home.js";
import { childrenOf, type Identity, isAlive } from "../../src/base/proc.js";
import { procDir, readExit, readParts, readState } from "../../src/keeper/layout.js";
import type { PtyTool } from "../../src/keeper/tools.js";
import { Log } from "../../src/process/log.js";
import { startAndDie } from "../fixtures/programs.js";
import { PTY_TOOLS, runtimeWith } from "../fixtures/pty-tools.js";
import { ringSettles, tempDir, testRuntime, until } from "../support/home.js";

const KIB = 1024;
const numbers = (count: number): Buffer => Buffer.from(Array.from({ length: count }, (_, n) => `${String(n + 1).padStart(7, "0")}\n`).join(""));

test("a ring log stays below its limit while no runtime is alive, and holds the newest output", async () => {
	const limit = 128 * KIB;
	const home = tempDir("home");
	const command = "for n in 0 1 2 3; do seq -f %07g $((n * 50000 + 1)) $((n * 50000 + 50000)); read -r; done";
	const dir = procDir(openHome(home), await startAndDie(home, { command, log: { limit } }));
	const log = new Log(dir);
	const truth = numbers(200_000);
	for (let n = 1; n <= 4; n++) {
		const printed = truth.length * (n / 4);
		await until("all of it is in the log", () => log.bounds().end === printed);
		await until("what was dropped has been removed", () => bytesOnDisk(dir, /^out\./) <= limit); // nobody waits for rm(1)
		expect(bytesOnDisk(dir, /./)).toBeLessThanOrEqual(limit + 48 * KIB); // the records are a block each
		expect(printed - log.bounds().first).toBeGreaterThan(limit / 2);
		fs.writeFileSync(path.join(dir, "in"), "\n");
	}
	await until("it has exited", () => readExit(dir)?.kind === "exit");
	await expectTail(home, truth);
});

test("a reader from the beginning is told where what is left of the log starts", async () => {
	const runtime = await testRuntime();
	const process = await runtime.spawn({ command: "seq -f %07g 100000", log: { limit: 64 * KIB } });
	await process.wait({ timeout: 100_000 });
	await ringSettles(process, 64 * KIB);
	const truth = numbers(100_000);
	const { first, end } = process.log.bounds();
	expect(end).toBe(truth.length);
	const slice = process.read(0, 1000);
	expect(slice).toMatchObject({ offset: first, next: first + 1000 });
	expect(slice.bytes.equals(truth.subarray(first, first + 1000))).toBe(true);
	let next = 0;
	for await (const piece of process.follow({ from: 8 })) {
		if (next === 0) expect(piece.offset).toBe(first);
		expect(piece.bytes.equals(truth.subarray(piece.offset, piece.next))).toBe(true);
		next = piece.next;
	}
	expect(next).toBe(truth.length);
});

test("many tiny writes, fast and slow, do not break the limit", async () => {
	const limit = 64 * KIB;
	const home = tempDir("home");
	const slowly = "select undef, undef, undef, 0.002 if $_ % 8 == 0 and ($_ < 1600 or $_ > 28400)";
	const id = await startAndDie(home, { command: ["perl", "-e", `for (1 .. 30000) { syswrite STDOUT, sprintf("%07d\\n", $_); ${slowly} }`], log: { limit } });
	const dir = procDir(openHome(home), id);
	await until("it has exited", () => readExit(dir)?.kind === "exit");
	const log = new Log(dir);
	await until("all of it is in the log", () => log.bounds().end === 240_000);
	await until("what was dropped has been removed", () => 240_000 - log.bounds().first <= limit);
	const segments = fs.readdirSync(dir).filter((name) => name.startsWith("out.")).length;
	expect(bytesOnDisk(dir, /^out\./)).toBeLessThanOrEqual(limit + segments * 4 * KIB); // the last block of each is not full
	await expectTail(home, numbers(30_000));
});

for (const limit of [64 * KIB, 256 * KIB]) {
	test(`a blocking log of ${limit / KIB} KiB pauses its writer until the log is discarded, and nothing is lost`, async () => {
		const runtime = await testRuntime();
		const process = await runtime.spawn({ command: "seq -f %07g 100000; exit 5", log: { limit, full: "block" } });
		const truth = numbers(100_000);
		await until("it pauses", () => readState(process.dir).kind === "paused");
		expect(process.status()).toMatchObject({ status: "running", paused: "limit" });

		const pieces: Buffer[] = [];
		let offset = 0;
		while (offset < truth.length) {
			await until("there is more, up to the limit or the end", () => {
				const { end } = process.log.bounds();
				return end > offset && (readState(process.dir).kind === "paused" || end === truth.length);
			});
			expect(bytesOnDisk(process.dir, /^out\./)).toBeLessThanOrEqual(limit + LAST_RUN);
			const slice = process.read(offset, limit);
			expect(slice.offset).toBe(offset);
			pieces.push(slice.bytes);
			offset = slice.next;
			await process.discard(offset);
		}
		const { status } = await process.wait({ timeout: 100_000 });
		expect(status).toMatchObject({ status: "exited", exitCode: 5 });
		expect(Buffer.concat(pieces).equals(truth)).toBe(true);
	});
}

test("nothing is left of a process that is killed while it is paused at its limit", async () => {
	const runtime = await testRuntime();
	const process = await runtime.spawn({ command: "seq -f %07g 100000", log: { limit: 256 * KIB, full: "block" } });
	await until("it pauses", () => readState(process.dir).kind === "paused");
	const { keeper, collector } = readParts(process.dir);
	expect(await process.kill()).toMatchObject({ status: "killed", survivors: [] });
	await until("its keeper is gone", () => !isAlive(keeper as Identity) && !isAlive(collector as Identity));
});

test("the tail of a command that ends while its log is full is kept", async () => {
	const runtime = await testRuntime();
	for (let round = 0; round < 8; round++) {
		const process = await runtime.spawn({ command: "head -c 70000 /dev/zero", log: { limit: 64 * KIB, full: "block" } });
		await process.wait({ timeout: 100_000 });
		await until("the log is closed", () => readState(process.dir).kind === "closed");
		expect(process.log.bounds()).toEqual({ first: 0, end: 70_000 });
	}
});

describe.each(PTY_TOOLS)("on a terminal made by $name", (pty) => {
	test("a ring log stays below its limit, and holds the newest output", async (context) => {
		const limit = 128 * KIB;
		const runtime = await runtimeWith(pty, context);
		const process = await runtime.spawn({ command: "stty -onlcr; seq -f %07g 200000", terminal: true, log: { limit } });
		await process.wait({ timeout: 100_000 });
		const truth = numbers(200_000);
		await ringSettles(process, limit);
		const { first, end } = process.log.bounds();
		expect(end).toBe(truth.length);
		expect(process.read(first, limit).bytes.equals(truth.subarray(first))).toBe(true);
	});

	test("what the ring has dropped is not kept on the disk by a program that has it open", async (context) => {
		const runtime = await runtimeWith(pty, context);
		const process = await runtime.spawn({ command: "stty -onlcr; seq -f %07g 200000; echo end; read -r", terminal: true, log: { limit: 512 * KIB } });
		expect((await process.wait({ until: { pattern: "end" }, timeout: 110_000 })).matched).toBe("pattern");
		const { collector, child } = readParts(process.dir);
		const copiers = childrenOf(collector?.pid ?? 0).flatMap(childrenOf);
		const held = [...copiers, child?.pid].flatMap((pid) => openFiles(`/proc/${pid}/fd`));
		const dropped = held.filter((file) => fs.readlinkSync(file).includes("/out.") && fs.statSync(file).nlink === 0);
		for (const file of dropped) expect(fs.statSync(file).size).toBeLessThanOrEqual(64 * KIB);
	});

	test("the last output of a command that ends while its log is full is kept", async (context) => {
		const runtime = await runtimeWith(pty, context);
		const command = "stty -echo; printf up; while read -r x; do head -c 1000 /dev/zero; done";
		const process = await runtime.spawn({ command, terminal: true, log: { limit: 64 * KIB, full: "block" } });
		const isFull = () => readState(process.dir).kind === "paused";
		let printed = "up".length;
		await until("it reads", () => process.log.bounds().end === printed);
		const ask = () => process.write("\n").then(() => (printed += 1_000));
		while (!isFull()) {
			await ask();
			await until("it has answered", () => process.log.bounds().end >= printed || isFull());
		}
		await ask(); // into what is between the program and the log
		await process.write("\x04");
		await process.wait({ timeout: 100_000 });
		await until("the log is closed", () => readState(process.dir).kind === "closed");
		expect(process.log.bounds()).toEqual({ first: 0, end: printed });
	});
});

test("what an ended command has left running, and is ended in the middle of a full log, leaves the log closed", async () => {
	const runtime = await testRuntime();
	const process = await runtime.spawn({ command: "yes & exit 3", log: { limit: 256 * KIB, full: "block" } });
	await process.wait({ timeout: 100_000 });
	await until("it pauses beyond its limit", () => readState(process.dir).kind === "paused" && process.log.bounds().end >= 384 * KIB);
	expect(await process.kill()).toMatchObject({ survivors: [] });
	await until("the log is closed", () => readState(process.dir).kind === "closed");
	expect(process.log.bounds().end).toBeLessThanOrEqual(512 * KIB);
	expect(await process.leftovers()).toEqual([]);
});

test("on a terminal, what it has left running does not hold a full log open for ever, however fast it prints", async (context) => {
	const runtime = await runtimeWith(PTY_TOOLS.find(({ name }) => name === "perl") as PtyTool, context);
	const leave = `(trap "" HUP; exec setsid sh -c ': >up.'$n'; exec cat /dev/zero') &`;
	const dir = tempDir();
	const kept = await runtime.spawn({
		command: `stty -opost; read -r; for n in 1 2 3 4; do ${leave} done; for n in 1 2 3 4; do until [ -e up.$n ]; do sleep 0.01; done; done; exit 3`,
		cwd: dir,
		terminal: true,
		log: { limit: 64 * KIB, full: "block" },
	});
	await until("its relay is there", () => readParts(kept.dir).terminal !== undefined);
	const { child } = readParts(kept.dir);
	os.setPriority(child?.pid as number, 19); // whoever prints is faster
	await kept.write("\n");
	expect((await kept.wait({ timeout: 100_000 })).status).toMatchObject({ status: "exited", exitCode: 3 });
	await until("the log is closed", () => readState(kept.dir).kind === "closed");
	expect(kept.log.bounds().end).toBeLessThanOrEqual(64 * KIB + LAST_RUN);
});

test("a limit larger than the disk does not make it take the disk", async () => {
	const runtime = await testRuntime();
	const process = await runtime.spawn({ command: "seq -f %07g 100000; cat", log: { limit: 2 ** 50 } });
	await process.wait({ until: { pattern: "0100000" }, timeout: 100_000 });
	expect(process.status()).toMatchObject({ status: "running" });
	expect(process.status()).not.toHaveProperty("paused");
	expect(bytesOnDisk(process.dir, /^out\./)).toBeLessThan(64 * 1024 * KIB);
});

test.each([false, true])("a process that prints little has little of the disk set aside (terminal: %s)", async (terminal) => {
	const runtime = await testRuntime();
	const process = await runtime.spawn({ command: "for ((i = 0; i < 300; i++)); do echo $i; sleep 0.001; done; cat", terminal });
	await process.wait({ until: { pattern: "299" }, timeout: 100_000 });
	expect(bytesOnDisk(process.dir, /^out\./)).toBeLessThanOrEqual(256 * KIB);
	expect(process.status()).toMatchObject({ status: "running" });
});

/** What the only process of a home has in its log is the end of the truth, and not all of it. */
async function expectTail(home: string, truth: Buffer): Promise<void> {
	const runtime = await testRuntime({ home });
	const [process] = runtime.list();
	await process?.wait({ timeout: 100_000 });
	const slice = process?.read(0, truth.length);
	expect(slice?.offset).toBeGreaterThan(0);
	expect(slice?.next).toBe(truth.length);
	expect(slice?.bytes.equals(truth.subarray(slice.offset))).toBe(true);
}

/** Once the command has ended, what is left in the pipe may go over the limit. */
const LAST_RUN = 32 * 4096;

/** What files take up on the disk, reserved room included. */
function bytesOnDisk(dir: string, names: RegExp): number {
	const files = fs.readdirSync(dir).filter((name) => names.test(name));
	return files.reduce((sum, name) => sum + (fs.statSync(path.join(dir, name), { throwIfNoEntry: false })?.blocks ?? 0) * 512, 0);
}

const openFiles = (dir: string): string[] => fs.readdirSync(dir).map((name) => path.join(dir, name));
