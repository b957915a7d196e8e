import { execFileSync, spawn } from "node:child_process";
import fs from "node:fs";
import path from "node:path";
import { expect, test } from "vitest";
import { atEnd, tempDir, testRuntime, textOf, until } from "../support/home.js";
import type { Process, Runtime, SpawnOptions, Status } from "../support/internal.js";
import { HOG, hasGroups, limited } from "./support.js";

async function endOf(runtime: Runtime, options: SpawnOptions): Promise<Status & { process: Process }> {
	const process = await runtime.spawn(options);
	const { status } = await process.wait({ timeout: 100_000 });
	return { ...status, process };
}

/** Ignores TERM, and leaves a child that does too, in a session of its own. */
const STUBBORN = "trap '' TERM; setsid sh -c 'sleep 1000' & sleep 1000; sleep 1000";

test.skipIf(!hasGroups)("each limit ends its process, or names itself where it does not (needs control groups for memory, pids and cpu)", async () => {
	const runtime = await testRuntime();
	const file = path.join(tempDir(), "file");
	const run = (command: SpawnOptions["command"], limits: SpawnOptions["limits"], more: Partial<SpawnOptions> = {}) =>
		endOf(runtime, { command, limits, ...more });
	const [memory, onTerminal, within, pids, cpu, time, output, size, middle, cpuTime, none] = await Promise.all([
		run(["perl", "-e", '$x .= "x" x 1e6 while 1'], { memory: "32M" }),
		run(HOG, { memory: 32 * 1024 ** 2 }, { terminal: true }),
		run(`${HOG}; echo went on`, { memory: "32M" }),
		run("for i in 1 2 3 4 5 6 7 8; do sleep 1 & done; wait", { pids: 5 }), // long enough for all to be there at once
		run("perl -e 'while (times < 0.05) {}'; read x", { cpu: "5%" }, { stdin: true }).catch(() => undefined), // ended below
		run(STUBBORN, { time: "1s" }),
		run("yes", { output: "1M" }),
		run(`cat /dev/zero >'${file}'`, { file_size: "2M" }),
		run(`cat /dev/zero >'${file}.2'; exit 3`, { file_size: "2M" }),
		run("while :; do :; done", { cpu_time: 1 }),
		run("echo fine", { memory: "64M", cpu: "50%", pids: 20, time: 60, output: "1M", output_rate: "1M/s", file_size: "1M", cpu_time: 60 }),
		throttled(runtime),
	]);
	// Not beside the others: on two cores they would have to wait.
	const bomb = await run("ulimit -u 2000; bomb() { bomb | bomb & }; bomb; sleep 1000", { pids: 50 });
	expect(memory).toMatchObject({ status: "killed", exitCode: 137, signal: "SIGKILL", limit: { name: "memory", of: "process", value: 32 * 1024 ** 2 } });
	expect(memory.process.spec.limits?.by.memory).toMatch(/^cgroup v[12] memory/);
	expect(onTerminal).toMatchObject({ status: "killed", ...limited("memory") });
	expect([within, textOf(within.process)]).toMatchObject([{ status: "exited", exitCode: 0, ...limited("memory") }, expect.stringContaining("went on")]);
	expect(pids).toMatchObject({ status: expect.stringMatching(/^(exited|killed)$/), ...limited("pids") }); // where its shell is at the limit for long it is ended, as a bomb is
	expect(bomb).toMatchObject({ status: "killed", ...limited("pids") });
	expect(cpu).toMatchObject({ status: "exited" });
	expect(time).toMatchObject({ status: "killed", limit: { name: "time", value: 1, by: "keeper" } });
	expect(await time.process.leftovers()).toEqual([]);
	expect(output).toMatchObject({ status: "killed", ...limited("output") });
	expect(output.process.log.bounds().end).toBeLessThan(1024 ** 2 + 256 * 1024);
	expect(size).toMatchObject({ status: "killed", limit: { name: "file_size", by: "ulimit -f" } });
	expect(fs.statSync(file).size).toBe(2 * 1024 ** 2);
	expect([middle.status, "limit" in middle, textOf(middle.process)]).toEqual(["exited", false, expect.stringContaining("File size limit exceeded")]);
	expect((await runtime.process({ action: "poll", session_id: middle.process.id })).note).toMatch(/2 MiB \(ulimit -f\); .*may be why/);
	expect(cpuTime).toMatchObject({ status: "killed", signal: "SIGXCPU", ...limited("cpu_time") });
	expect(none).toEqual(expect.not.objectContaining({ limit: expect.anything() }));
	expect(none).toMatchObject({ status: "exited", exitCode: 0 });
	await until("their groups are gone", () => !fs.existsSync(bomb.process.spec.cgroup as string) && !fs.existsSync(memory.process.spec.cgroup as string));
});

test.skipIf(!hasGroups)("what a bomb leaves behind is ended and named too, when its first process had ended before (needs control groups)", async () => {
	const runtime = await testRuntime();
	const go = path.join(tempDir(), "go");
	execFileSync("mkfifo", [go]);
	const bomb = `ulimit -u 2000; bomb() { bomb | bomb & }; { read x <'${go}'; bomb; } &`;
	const { process, ...end } = await endOf(runtime, { command: bomb, limits: { pids: 50 } });
	expect(end).toMatchObject({ status: "exited", exitCode: 0 });
	expect(end).not.toHaveProperty("limit");
	expect(await process.leftovers()).toHaveLength(1); // it waits for us
	fs.writeFileSync(go, "go\n");
	await until("the bomb is named", () => limitOf(process) === "pids");
	await until("its group is empty, and goes with the last process", () => !fs.existsSync(process.spec.cgroup as string));
	expect(await process.leftovers()).toEqual([]);
	expect(process.status()).toMatchObject({ status: "exited", exitCode: 0, ...limited("pids") });
});

test.skipIf(!hasGroups)("a process near its limit of pids that was never refused one is left alone (needs control groups)", async () => {
	const runtime = await testRuntime();
	const busy = await runtime.spawn({ command: "for i in $(seq 17); do sleep 1000 & done; echo ready; wait", limits: { pids: 18 } });
	await busy.wait({ until: { pattern: "ready" }, timeout: 100_000 });
	// A bomb beside it is ended by the same looks.
	const bomb = await endOf(runtime, { command: "ulimit -u 2000; bomb() { bomb | bomb & }; bomb; sleep 1000", limits: { pids: 50 } });
	expect(bomb).toMatchObject({ status: "killed", ...limited("pids") });
	expect(busy.status()).toMatchObject({ status: "running" });
});

const limitOf = (process: Process): string | undefined => {
	const status = process.status();
	return "limit" in status ? status.limit?.name : undefined;
};

/** The kernel says how often it has held a group back. Then the process is let go on. */
async function throttled(runtime: Runtime): Promise<void> {
	const found = () => runtime.list().find(({ spec }) => spec.limits?.process.cpu === 0.05);
	await until("it runs", () => found() !== undefined);
	const process = found() as Process;
	const tree = runtime.cgroups?.treeOf("cpu");
	const stat = path.join(tree?.base as string, process.spec.limits?.group as string, "cpu.stat");
	await until("it was throttled", () => /^nr_throttled [1-9]/m.test(fs.readFileSync(stat, "utf8")));
	await process.write("\n");
}

test("without control groups: ulimit and the keeper, or a refusal", async () => {
	const runtime = await testRuntime({ cgroup: "off" });
	const [memory, time, onTerminal, output] = await Promise.all([
		endOf(runtime, { command: HOG, limits: { memory: "64M" } }),
		endOf(runtime, { command: STUBBORN, limits: { time: 1 } }),
		endOf(runtime, { command: "trap '' TERM; sleep 1000", terminal: true, limits: { time: 1 } }),
		endOf(runtime, { command: "yes", terminal: true, limits: { output: "128K" } }),
	]);
	expect(memory).toMatchObject({ status: "exited", exitCode: 1 });
	expect(textOf(memory.process)).toMatch(/out of memory/i);
	expect((await runtime.process({ action: "poll", session_id: memory.process.id })).note).toMatch(/64 MiB of memory \(ulimit -d\); .*may be why/);
	for (const status of [time, onTerminal]) expect(status).toMatchObject({ status: "killed", ...limited("time") });
	expect(await time.process.leftovers()).toEqual([]);
	expect(output).toMatchObject({ status: "killed", ...limited("output") });
	await expect(runtime.spawn({ command: "true", limits: { cpu: "50%" } })).rejects.toMatchObject({ code: "UNSUPPORTED" });
	if (process.getuid?.() === 0) await expect(runtime.spawn({ command: "true", limits: { pids: 5 } })).rejects.toMatchObject({ code: "UNSUPPORTED" });
	const strict = await testRuntime({ cgroup: "off", resourceLimits: { task: { memory: "1G" } } });
	await expect(strict.spawn({ command: "true" })).rejects.toThrow(/cannot enforce the limit "memory" of a task/);
});

test("time is kept with no runtime alive, and the next one tells the truth", async () => {
	const home = tempDir("home");
	const script = `const { openRuntime } = await import(${JSON.stringify(path.resolve("dist/lib/index.js"))});
		const runtime = await openRuntime({ home: ${JSON.stringify(home)}, warm: 0, resourceLimits: { process: { time: 2 } } });
		await runtime.terminal({ command: "true" });
		const kept = await runtime.spawn({ command: ${JSON.stringify(STUBBORN)} });
		void runtime.terminal({ command: "sleep 1000; echo never" });
		while (!runtime.list().some(({ spec }) => spec.within)) await new Promise((resolve) => setTimeout(resolve, 5));
		console.log(kept.id, runtime.list().find(({ spec }) => spec.within).id); setInterval(() => {}, 1000);`;
	const child = spawn(process.execPath, ["--input-type=module", "-e", script], { stdio: ["ignore", "pipe", "inherit"] });
	atEnd(() => child.kill("SIGKILL"));
	const ids = (await new Promise<Buffer>((resolve) => child.stdout.once("data", resolve))).toString().trim().split(" ");
	child.kill("SIGKILL");
	await new Promise((resolve) => child.once("exit", resolve));
	const runtime = await testRuntime({ home });
	for (const id of ids) {
		const { status } = await runtime.get(id).wait({ timeout: 100_000 });
		expect(status).toMatchObject({ status: "killed", ...limited("time") });
		expect(await runtime.get(id).leftovers()).toEqual([]);
		expect(textOf(runtime.get(id))).toBe("");
	}
});

test("a process that prints faster than it may is held back, and loses nothing", async () => {
	const runtime = await testRuntime();
	const process = await runtime.spawn({ command: "seq 1 50000", limits: { output_rate: "128K/s" } });
	await until("it is paused", () => {
		const status = process.status();
		return status.status === "running" && status.paused === "rate";
	});
	const note = async () => (await runtime.process({ action: "list" })).processes?.[0]?.note;
	let said = await note();
	while (said === undefined && process.status().status === "running") said = await note(); // it goes on now and then
	expect(said).toMatch(/output_rate/);
	expect((await process.wait({ timeout: 100_000 })).status).toMatchObject({ status: "exited", exitCode: 0 });
	expect(textOf(process)).toBe(Array.from({ length: 50_000 }, (_, i) => `${i + 1}\n`).join(""));
});

test("values that make no sense are refused, and say what would", async () => {
	const runtime = await testRuntime();
	const bad: [string, unknown, RegExp][] = [
		["memory", 0, /at least 1 MiB/],
		["memory", -1, /at least/],
		["memory", "10x", /"512M"/],
		["memory", "99999999999T", /at most/],
		["memory", Number.NaN, /takes for example/],
		["memory", {}, /takes for example/],
		["cpu", "0%", /at least 1 %/],
		["cpu", "50", /"50%"/],
		["pids", 1.5, /whole number/],
		["pids", "many", /100/],
		["time", "0s", /at least 1 s/],
		["time", Number.POSITIVE_INFINITY, /at most/],
		["output_rate", "1/m", /10M\/s/],
		["speed", 1, /speed/],
	];
	for (const [name, value, words] of bad)
		await expect(runtime.spawn({ command: "true", limits: { [name]: value } }), `${name} ${value}`).rejects.toMatchObject({
			code: "INVALID",
			message: expect.stringMatching(words),
		});
	expect(runtime.list()).toEqual([]);
});
