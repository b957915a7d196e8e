/** A full disk stops the writer; it kills nothing and loses nothing. The disk is a small tmpfs, so this needs root. */
import { spawnSync } from "node:child_process";
import fs from "node:fs";
import path from "node:path";
import { describe, expect, test } from "vitest";
import { childrenOf, isAlive } from "../../src/base/proc.js";
import { readParts } from "../../src/keeper/layout.js";
import { findTools, type PtyTool } from "../../src/keeper/tools.js";
import { diagnose } from "../../src/process/doctor.js";
import { PTY_TOOLS, runtimeWith } from "../fixtures/pty-tools.js";
import { tempDir, testRuntime, textOf, until } from "../support/home.js";
import { HoldfastError, type Process, type Runtime } from "../support/internal.js";
import { smallDisk } from "../support/small-disk.js";

const MIB = 1024 * 1024;
const PAGE = 4096;

test("a full disk pauses the command, and it goes on without loss once there is room", async (context) => {
	const disk = smallDisk(context, 32 * MIB);
	const runtime = await testRuntime({ home: disk.home });
	disk.fill({ leaving: 2 * MIB });
	const process = await runtime.spawn({ command: "seq 1500000; exit 6", log: { limit: 64 * MIB } });
	await until("it is paused", () => pausedBy(process) === "disk");
	expect(process.status()).toMatchObject({ status: "running", paused: "disk" });
	disk.empty();
	const { status } = await process.wait({ timeout: 100_000 });
	expect(status).toMatchObject({ status: "exited", exitCode: 6 });
	expect(allOf(process).equals(Buffer.from(numbers(1_500_000)))).toBe(true);
	expect(fs.existsSync(path.join(process.dir, "gaps"))).toBe(false);
});

test("a small disk has room for many processes that print little, and for one that prints until nearly nothing is left", async (context) => {
	const disk = smallDisk(context, 6 * MIB);
	const runtime = await testRuntime({ home: disk.home });
	const spawn = (command: string) => runtime.spawn({ command });
	const many = await Promise.all(Array.from({ length: 10 }, () => spawn("for ((i = 0; i < 100; i++)); do echo $i; sleep 0.001; done; echo last; cat")));
	await Promise.all(many.map((process) => process.wait({ until: { pattern: "last" }, timeout: 100_000 })));
	for (const process of many) expect(pausedBy(process)).toBeUndefined();
	const chatty = await spawn("for ((i = 0; ; i++)); do echo $i; done");
	await until("it is paused", () => pausedBy(chatty) === "disk");
	const { bavail, bsize } = fs.statfsSync(disk.home);
	expect(bavail * bsize).toBeLessThan(MIB / 4);
	for (const process of [...many, chatty]) await process.kill();
});

test("doctor says that there is hardly any room", async (context) => {
	const disk = smallDisk(context, 128 * MIB);
	const home = async () => (await diagnose(await testRuntime({ home: disk.home }))).checks.find(({ name }) => name === "home");
	expect(await home()).toEqual({ name: "home", state: "ok", found: expect.stringMatching(/\(12\d(\.\d)? MiB free\)$/) });
	disk.fill({ leaving: 1 * MIB });
	expect(await home()).toMatchObject({ state: "warn", found: expect.stringContaining("MiB free"), advice: expect.stringContaining("make room") });
});

test("where nothing tells in advance that the disk is full, the command still goes on, and the hole is recorded", async (context) => {
	const disk = smallDisk(context, 8 * MIB);
	const runtime = await testRuntime({ home: disk.home, tools: { ...findTools(), fallocate: undefined, df: undefined } });
	const process = await runtime.spawn({ command: "read -r; seq 300000; read -r; echo end; exit 6", log: { limit: 64 * MIB } });
	disk.fill({ leaving: 1 * MIB });
	await process.write("\n");
	await until("a hole is recorded", () => fs.existsSync(path.join(process.dir, "gaps")));
	expect(process.status()).toMatchObject({ status: "running" });
	disk.empty();
	await process.write("\n");
	const { status } = await process.wait({ timeout: 100_000 });
	expect(status).toMatchObject({ status: "exited", exitCode: 6 });
	expect(allOf(process).subarray(-4).toString()).toBe("end\n");
});

describe.each([
	["where room is reserved in advance", {}],
	["where nothing tells in advance", { fallocate: undefined, df: undefined }],
] as const)("on a terminal whose relay writes the log itself, %s", (_, lacking) => {
	const relay = PTY_TOOLS.find(({ name }) => name === "perl") as PtyTool;

	test("a full disk pauses the command, and it goes on without loss once there is room", async (context) => {
		const disk = smallDisk(context, 32 * MIB);
		const runtime = await testRuntime({ home: disk.home, tools: { ...findTools(), pty: relay, ...lacking } });
		const process = await runtime.spawn({ command: "stty -onlcr -echo; read -r; seq 400000; exit 6", terminal: true });
		disk.fill({ leaving: 1 * MIB });
		await process.write("\n");
		await until("it is paused", () => pausedBy(process) === "disk");
		disk.empty();
		const { status } = await process.wait({ timeout: 100_000 });
		expect(status).toMatchObject({ status: "exited", exitCode: 6 });
		expect(allOf(process).equals(Buffer.from(numbers(400_000)))).toBe(true);
		expect(fs.existsSync(path.join(process.dir, "gaps"))).toBe(false);
	});

	test("one that is killed while the disk is full, and forgotten, leaves nothing running", async (context) => {
		const disk = smallDisk(context, 8 * MIB);
		const runtime = await testRuntime({ home: disk.home, tools: { ...findTools(), pty: relay, ...lacking } });
		const process = await runtime.spawn({ command: "seq 1500000", terminal: true });
		await until("it is paused", () => pausedBy(process) === "disk");
		const parts = Object.values(readParts(process.dir));
		expect(await process.kill()).toMatchObject({ status: "killed", survivors: [] });
		runtime.prune({ olderThanMs: -1 });
		expect(fs.existsSync(process.dir)).toBe(false);
		await until("its keeper has understood", () => !parts.some(isAlive));
	});
});

test("a terminal whose log may not become longer is paused, and goes on without loss once it may", async (context) => {
	const relay = PTY_TOOLS.find(({ name }) => name === "perl") as PtyTool;
	const process = await (await runtimeWith(relay, context)).spawn({ command: "stty -onlcr -echo; echo ready; read -r; seq 100000; exit 6", terminal: true });
	await process.wait({ until: { pattern: "ready\\r?\\n" } });
	const allow = (bytes: string) => spawnSync("/usr/bin/prlimit", [`--fsize=${bytes}:unlimited`, "--pid", String(readParts(process.dir).child?.pid)]).status;
	context.skip(allow("100000") !== 0, "there is no prlimit(1) here");
	await process.write("\n");
	await until("it is paused", () => pausedBy(process) === "disk");
	expect(allow("unlimited")).toBe(0);
	expect((await process.wait({ timeout: 100_000 })).status).toMatchObject({ status: "exited", exitCode: 6 });
	expect(textOf(process)).toBe(`ready\n${numbers(100_000)}`);
});

test("repeated requests for room on a full disk do not make the collector do anything twice", async (context) => {
	const disk = smallDisk(context, 8 * MIB);
	const dir = tempDir();
	const noted = (name: string) => (fs.existsSync(path.join(dir, name)) ? fs.readFileSync(path.join(dir, name), "utf8").trim().split("\n") : []);
	const noting = (name: string, program: string) => {
		fs.writeFileSync(path.join(dir, `${name}.sh`), `#!/bin/sh\necho "$2" >>'${dir}/${name}'\nexec ${program} "$@"\n`, { mode: 0o700 });
		return path.join(dir, `${name}.sh`);
	};
	const tools = findTools();
	context.skip(!tools.fallocate, "there is no fallocate(1) that can do this here");
	const pty = PTY_TOOLS.find(({ name }) => name === "perl") as PtyTool;
	const runtime = await testRuntime({
		home: disk.home,
		tools: { ...tools, pty, rm: noting("removed", tools.rm), fallocate: noting("reserved", tools.fallocate as string) },
	});
	const process = await runtime.spawn({ command: "stty -onlcr -echo; read -r; seq 100000", terminal: true, log: { limit: 128 * 1024 } });
	disk.fill({ leaving: 0 });
	await process.write("\n");
	await until("it is paused", () => pausedBy(process) === "disk");
	for (let n = 0; n < 20; n++) fs.writeFileSync(path.join(process.dir, "ctl"), "\nagain\n");
	await until("each was heard", () => noted("reserved").length > 20);
	expect(childrenOf(readParts(process.dir).collector?.pid ?? 0).length).toBeLessThanOrEqual(3); // dd, the look at the moment, one for the next
	disk.empty();
	await process.wait({ timeout: 100_000 });
	expect(noted("removed").length).toBeGreaterThan(1);
	expect(noted("removed").toSorted()).toEqual([...new Set(noted("removed"))].sort());
});

test("an end on a full disk is still recorded, and the output follows when there is room", async (context) => {
	const disk = smallDisk(context, 32 * MIB);
	const runtime = await testRuntime({ home: disk.home });
	// 60 KB more than what is reserved in advance: less than a pipe holds, so that it can end while its output waits
	const process = await runtime.spawn({ command: "read -r; head -c 125000 /dev/zero | tr '\\0' x; exit 4" });
	disk.fill({ leaving: 0 });
	await process.write("\n");
	await until("it has ended", () => process.status().status === "exited");
	expect(process.status()).toMatchObject({ status: "exited", exitCode: 4, signal: null });
	expect(process.log.bounds().end).toBeLessThan(125_000);
	disk.empty();
	await until("the rest has come", () => process.log.bounds().end === 125_000);
	expect(textOf(process)).toBe("x".repeat(125_000));
});

test("a process that is killed while the disk is full leaves nothing running", async (context) => {
	const disk = smallDisk(context, 8 * MIB);
	const runtime = await testRuntime({ home: disk.home });
	const process = await runtime.spawn({ command: "seq 1500000" });
	await until("it is paused", () => pausedBy(process) === "disk");
	expect(await process.kill()).toMatchObject({ status: "killed", survivors: [], final: { status: "killed", exitCode: 143, signal: "SIGTERM" } });
	runtime.prune({ olderThanMs: -1 });
	expect(fs.existsSync(process.dir)).toBe(false); // the check for leaks sees whether its keeper has understood
});

test("starting on a full disk says that there is no space, and nothing runs", async (context) => {
	const disk = smallDisk(context, 3 * MIB);
	const ran = path.join(tempDir(), "ran");
	const runtime = await testRuntime({ home: disk.home });
	disk.fill({ leaving: 0 });
	await expect(runtime.spawn({ command: `touch '${ran}'` })).rejects.toMatchObject({ name: "HoldfastError", code: "NO_SPACE" });
	expect(runtime.list({ task: null })).toEqual([]);
	disk.empty();
	const process = await runtime.spawn({ command: "echo works" });
	await process.wait({ timeout: 100_000 });
	expect(textOf(process)).toBe("works\n");
	expect(fs.existsSync(ran)).toBe(false);
});

test("with next to no room a start fails and says why, or all of it works", async (context) => {
	const disk = smallDisk(context, 3 * MIB);
	const ran = path.join(tempDir(), "ran");
	const runtime = await testRuntime({ home: disk.home });
	const outcomes: string[] = [];
	for (let pages = 0; pages <= 24; pages++) {
		await (await runtime.spawn({ command: "true" })).wait(); // so that prepared directories are there
		disk.fill({ leaving: pages * PAGE });
		outcomes.push(await startOn(runtime, `: >'${ran}'; seq 3000; exit 2`));
		expect(fs.existsSync(ran), `with ${pages} pages`).toBe(outcomes.at(-1) === "ran");
		fs.rmSync(ran, { force: true });
		disk.empty();
		await finish(runtime);
	}
	expect(outcomes).toContain("ran");
	expect(new Set(outcomes)).toEqual(new Set(["NO_SPACE", "ran"]));
});

async function startOn(runtime: Runtime, command: string): Promise<string> {
	try {
		const process = await runtime.spawn({ command, name: "last" });
		await until("it has ended or is paused", () => process.status().status === "exited" || pausedBy(process) === "disk");
		return "ran";
	} catch (error) {
		return error instanceof HoldfastError ? error.code : String(error);
	}
}

/** With room again, whatever ran has its whole output and its exit code. */
async function finish(runtime: Runtime): Promise<void> {
	for (const process of runtime.list().filter(({ spec }) => spec.name === "last")) {
		const { status } = await process.wait({ timeout: 100_000 });
		expect(status).toMatchObject({ status: "exited", exitCode: 2 });
		await until("its output is there", () => process.log.bounds().end === numbers(3000).length);
		expect(textOf(process)).toBe(numbers(3000));
	}
	runtime.prune({ olderThanMs: -1 });
}

const numbers = (count: number): string => `${Array.from({ length: count }, (_, n) => n + 1).join("\n")}\n`;

const allOf = (process: Process): Buffer => process.read(0, process.log.bounds().end).bytes;

function pausedBy(process: Process): string | undefined {
	const status = process.status();
	return status.status === "running" ? status.paused : undefined;
}
