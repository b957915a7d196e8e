import { spawn } from "node:child_process";
import fs from "node:fs";
import path from "node:path";
import { expect, test } from "vitest";
import { taskKey } from "../../src/base/ids.js";
import { HOUR_MS } from "../../src/keeper/ranges.js";
import { atEnd, tempDir, testRuntime, textOf, until } from "../support/home.js";
import { openRuntime, type Process } from "../support/internal.js";
import { rounds } from "../support/seed.js";

const ids = (processes: readonly Process[]): string[] => processes.map((process) => process.id);
const MINUTE = 60_000;

test("the list has a task's own processes, newest first, and those of every task when asked", async () => {
	const runtime = await testRuntime({ task: "a" });
	const first = await runtime.spawn({ command: "cat" });
	const second = await runtime.spawn({ command: "true", name: "second" });
	const foreign = await runtime.spawn({ command: "cat", task: "b/../c" });
	await second.wait({ timeout: 100_000 });
	expect(ids(runtime.list())).toEqual([second.id, first.id]);
	expect(ids(runtime.list({ ended: false }))).toEqual([first.id]);
	expect(ids(runtime.list({ task: "b/../c" }))).toEqual([foreign.id]);
	expect(ids(runtime.list({ task: null }))).toEqual([foreign.id, second.id, first.id]);
	expect(runtime.list({ task: "nobody" })).toEqual([]);
});

test("two runtimes on one home agree, and an end is settled by exactly one", async () => {
	const runtime = await testRuntime();
	const other = await testRuntime({ home: runtime.home.root });
	const process = await runtime.spawn({ command: "read x; exit 6" });
	const same = other.get(process.id);
	await same.write("\n");
	const [mine, theirs] = await Promise.all([process.wait({ timeout: 100_000 }), same.wait({ timeout: 100_000 })]);
	expect(mine.status).toEqual(theirs.status);
	expect(ids(runtime.list())).toEqual(ids(other.list()));
	expect(runtime.registry.settle(process, process.status())).toBe(false);
	expect(fs.readdirSync(runtime.home.live)).toEqual([]);
	const hours = fs.readdirSync(runtime.home.ended);
	expect(hours.flatMap((hour) => fs.readdirSync(path.join(runtime.home.ended, hour)))).toHaveLength(1);
});

test("a runtime that was not there when it ended finds the end, with its true code", async () => {
	const home = tempDir("home");
	const first = await openRuntime({ home, warm: 0 });
	const process = await first.spawn({ command: "read x; echo done; exit 42" });
	await first.close();
	fs.writeFileSync(path.join(process.dir, "in"), "\n"); // no runtime of ours takes part
	await until("the keeper wrote the end", () => fs.readFileSync(path.join(process.dir, "exit"), "utf8").startsWith("exit"));
	expect(fs.readdirSync(first.home.live)).toEqual([process.id]);
	const later = await testRuntime({ home });
	expect(later.list().map((found) => [found.id, found.status()])).toEqual([[process.id, expect.objectContaining({ status: "exited", exitCode: 42 })]]);
	await until("all that it printed is in the log", () => textOf(later.get(process.id)) === "done\n"); // the end is written when it exits
	expect(fs.readdirSync(first.home.live)).toEqual([]);
});

test("an ended process stays in the list for half an hour from its end, however long it ran", async () => {
	const runtime = await testRuntime();
	const process = await runtime.spawn({ command: "true" });
	await process.wait({ timeout: 100_000 });
	const now = Date.now();
	expect(ids(runtime.registry.recent(undefined, now + 29 * MINUTE))).toEqual([process.id]);
	expect(ids(runtime.registry.recent(undefined, now + 31 * MINUTE))).toEqual([]);
	expect(runtime.get(process.id).status()).toMatchObject({ status: "exited" });
});

test("pruning forgets what ended long ago and never what runs", async () => {
	const runtime = await testRuntime();
	const old = await runtime.spawn({ command: "true" });
	const running = await runtime.spawn({ command: "cat" });
	await old.wait({ timeout: 100_000 });
	const later = Date.now() + 8 * 24 * HOUR_MS;
	expect(runtime.prune({ now: later, dryRun: true }).removed).toEqual([old.id]);
	expect(fs.existsSync(old.dir)).toBe(true);
	expect(runtime.prune({ now: later })).toMatchObject({ removed: [old.id], kept: 1 });
	expect(fs.existsSync(old.dir)).toBe(false);
	expect(() => runtime.get(old.id)).toThrow(/was removed at 20/);
	expect(running.status().status).toBe("running");
});

test("over the quota the oldest ended ones go first, running ones never", async () => {
	const runtime = await testRuntime();
	const processes: Process[] = [];
	for (let i = 0; i < 3; i++) {
		const process = await runtime.spawn({ command: "head -c 300000 /dev/zero" });
		await process.wait({ timeout: 100_000 });
		processes.push(process);
	}
	const running = await runtime.spawn({ command: "head -c 300000 /dev/zero; cat" });
	await until("it has printed all of it", () => running.log.bounds().end === 300_000);
	const result = runtime.prune({ quotaBytes: 700_000 });
	expect(result.removed).toEqual([processes[0]?.id, processes[1]?.id]);
	expect(runtime.prune({ quotaBytes: 0 }).removed).toEqual([processes[2]?.id]);
	expect(running.status().status).toBe("running");
});

test("what is old is not looked at: a hundred thousand old entries do not take part in a list", async () => {
	const runtime = await testRuntime();
	const process = await runtime.spawn({ command: "cat" });
	// Tickets without directories: a list that opened one of them would fail or return it.
	const longAgo = Date.now() - 3 * HOUR_MS;
	const hour = path.join(runtime.home.ended, String(Math.floor(longAgo / HOUR_MS)));
	fs.mkdirSync(hour);
	for (let i = 0; i < 1000; i++) fs.writeFileSync(path.join(hour, `${longAgo}.proc_${i.toString(16).padStart(12, "0")}.${taskKey("default")}.0`), "");
	const read: string[] = [];
	const readdir = fs.readdirSync;
	fs.readdirSync = ((dir: string, ...rest: []) => {
		read.push(String(dir));
		return readdir(dir, ...rest);
	}) as typeof fs.readdirSync;
	try {
		expect(ids(runtime.list())).toEqual([process.id]);
	} finally {
		fs.readdirSync = readdir;
	}
	expect(read).not.toContain(hour);
	expect(read).not.toContain(runtime.home.procs);
});

test("instantly exiting commands never lose their end", async () => {
	const runtime = await testRuntime({ warm: 2 });
	const codes = Array.from({ length: rounds(200, 500) }, (_, index) => index % 2);
	const left = codes.entries();
	const ends: unknown[] = [];
	const one = async () => {
		for (const [index, code] of left) {
			const { status } = await (await runtime.spawn({ command: [code ? "false" : "true"] })).wait({ timeout: 100_000 });
			ends[index] = "exitCode" in status && status.exitCode;
		}
	};
	await Promise.all([one(), one(), one(), one()]);
	expect(ends).toEqual(codes);
}, 180_000);

test("finished processes keep no file descriptor open", async () => {
	const runtime = await testRuntime();
	const open = () => fs.readdirSync("/proc/self/fd").length;
	const once = async () => {
		const process = await runtime.spawn({ command: "echo x" });
		for await (const _ of process.follow());
		await process.wait({ timeout: 100_000 });
	};
	await once();
	const before = open();
	for (let i = 0; i < 50; i++) await once();
	expect(open()).toBeLessThanOrEqual(before);
});

test("closing a runtime leaves its processes running and nothing else", async () => {
	const home = tempDir("home");
	const runtime = await openRuntime({ home, warm: 2 });
	const process = await runtime.spawn({ command: "cat" });
	await until("a keeper is warm", () => fs.readdirSync(runtime.home.blank).some((name) => name.includes(".")));
	await runtime.close();
	expect(fs.readdirSync(runtime.home.blank).filter((name) => name.includes("."))).toEqual([]);
	const later = await testRuntime({ home });
	expect(later.get(process.id).status().status).toBe("running");
});

test("what a killed program had prepared is cleared away by the next", async () => {
	const home = tempDir("home");
	const script = `const { openRuntime } = await import(${JSON.stringify(`${process.cwd()}/dist/lib/index.js`)});
		await openRuntime({ home: ${JSON.stringify(home)}, warm: 2 }); setInterval(() => {}, 1000);`;
	const child = spawn(process.execPath, ["--input-type=module", "-e", script], { stdio: ["ignore", "inherit", "inherit"] });
	atEnd(() => child.kill("SIGKILL"));
	const claimed = () => fs.readdirSync(path.join(home, "blank")).filter((name) => name.includes("."));
	await until("two keepers are warm", () => fs.existsSync(path.join(home, "blank")) && claimed().length === 2);
	child.kill("SIGKILL");
	await new Promise((resolve) => child.once("exit", resolve));
	// A keeper that is just ending is left to the next runtime, and that to the next.
	for (const deadline = Date.now() + 30_000; claimed().length > 0 && Date.now() < deadline; ) await (await openRuntime({ home, warm: 0 })).close();
	expect(claimed()).toEqual([]);
});

test("many runtimes that start at once share the prepared directories without a clash", async () => {
	const home = tempDir("home");
	const runtimes = await Promise.all(Array.from({ length: 5 }, () => testRuntime({ home, warm: 1 })));
	const processes = await Promise.all(runtimes.flatMap((runtime) => Array.from({ length: 6 }, () => runtime.spawn({ command: "cat" }))));
	expect(new Set(ids(processes)).size).toBe(30);
	expect(ids((runtimes[0] as (typeof runtimes)[number]).list()).sort()).toEqual(ids(processes).sort());
});
