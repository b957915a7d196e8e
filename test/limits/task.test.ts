import fs from "node:fs";
import path from "node:path";
import { expect, test } from "vitest";
import { writeLimits } from "../../src/keeper/controllers.js";
import { cli } from "../support/cli.js";
import { tempDir, testRuntime } from "../support/home.js";
import { HOG, hasGroups, limited } from "./support.js";

test("a foreground command that meets a limit is ended, the result names it, and the shell goes on with its state", async () => {
	const process = { output: "1M", file_size: "2M", ...(hasGroups ? { memory: "64M" } : {}) };
	const runtime = await testRuntime({ resourceLimits: { process } });
	const file = path.join(tempDir(), "file");
	const run = (command: string) => runtime.terminal({ command });
	await run(`x=kept; cd '${path.dirname(file)}'`);
	if (hasGroups)
		expect(await run(HOG)).toMatchObject({ status: "killed", exit_code: 137, ...limited("memory"), note: expect.stringMatching(/64 MiB of memory/) });
	expect(await run("yes; echo never")).toMatchObject({ status: "killed", ...limited("output"), output: expect.not.stringContaining("never") });
	expect(await run(`head -c 100M /dev/zero >'${file}'`)).toMatchObject({ status: "killed", exit_code: 153, ...limited("file_size") });
	if (hasGroups)
		expect(await run("v=$(head -c 100M /dev/zero | tr '\\0' x); echo $v")).toMatchObject({
			status: "killed",
			...limited("memory"),
			note: expect.stringMatching(/a new one has taken over/),
		});
	const last = await run("echo $x $PWD");
	expect(last).toMatchObject({ status: "exited", output: `kept ${path.dirname(file)}\n` });
	expect(last.limit).toBeUndefined();
});

test("a foreground command is ended when its time is over, also in the background, where its keeper does it", async () => {
	const runtime = await testRuntime({ resourceLimits: { process: { time: 4 } } });
	await runtime.terminal({ command: "x=kept" });
	expect(await runtime.terminal({ command: "sleep 1000; echo never" })).toMatchObject({ status: "killed", output: "", ...limited("time") });
	expect(await runtime.terminal({ command: "echo $x" })).toMatchObject({ output: "kept\n" });
	const moved = await runtime.terminal({ command: "sleep 1000; echo never", timeout: 1 });
	expect(moved.status).toBe("running");
	expect(await runtime.process({ action: "wait", session_id: moved.session_id })).toMatchObject({ status: "killed", output: "", ...limited("time") });
});

test.skipIf(!hasGroups)("all that a task runs shares its limits; other tasks have their own (needs control groups for memory and pids)", async () => {
	const runtime = await testRuntime({ resourceLimits: { task: { memory: "64M", pids: 40, processes: 3 } } });
	const hog = await runtime.spawn({ command: ["perl", "-e", '$x .= "x" x 1e6 while 1'] });
	expect((await hog.wait({ timeout: 100_000 })).status).toMatchObject({ status: "killed", limit: { name: "memory", of: "task", value: 64 * 1024 ** 2 } });
	// Two of them have fewer than the limit each, and more together: the larger one is ended, the other goes on.
	const small = await runtime.spawn({ command: "for i in $(seq 14); do sleep 1000 & done; wait" });
	const large = await runtime.spawn({ command: "for i in $(seq 100); do sleep 1000 & done; wait" });
	expect((await large.wait({ timeout: 100_000 })).status).toMatchObject({ status: "killed", ...limited("pids", "task") });
	expect(small.status()).toMatchObject({ status: "running" });
	// In the shell of the task: what fills it is ended, the shell is not. Until then commands that start something may fail, and say why.
	await runtime.terminal({ command: "x=kept" });
	expect(await runtime.terminal({ command: "sh -c 'for i in $(seq 100); do sleep 1000 & done; wait'" })).toMatchObject(limited("pids", "task"));
	let last = await runtime.terminal({ command: "true" });
	for (let tries = 0; tries < 10 && last.output !== "2\nkept\n"; tries++) {
		last = await runtime.terminal({ command: "seq 2 | wc -l; echo $x" });
		if (last.exit_code !== 0) expect(last).toMatchObject(limited("pids", "task"));
	}
	expect(last).toMatchObject({ output: "2\nkept\n", exit_code: 0 });
	await runtime.spawn({ command: "sleep 1000" });
	await runtime.spawn({ command: "sleep 1000" });
	await expect(runtime.spawn({ command: "sleep 1000" })).rejects.toMatchObject({ code: "LIMIT" });
	const other = await runtime.spawn({ command: "seq 3 | wc -l", task: "other" });
	expect((await other.wait()).status).toMatchObject({ status: "exited", exitCode: 0 });
});

test("the command line: options, settings, and what it says of them", async () => {
	const home = tempDir("home");
	const config = tempDir("config");
	const env = { XDG_CONFIG_HOME: config };
	const set = (limits: object) => {
		fs.mkdirSync(path.join(config, "holdfast"), { recursive: true });
		fs.writeFileSync(path.join(config, "holdfast", "config.json"), JSON.stringify({ limits }));
	};
	expect(await cli(home, ["run", "--time", "1s", "--", "sleep", "1000"])).toMatchObject({
		code: 143,
		stderr: expect.stringMatching(/limit for one process, 1 s \(keeper\)/),
	});
	expect((await cli(home, ["ps"])).stdout).toMatch(/killed time/);
	expect(await cli(home, ["run", "--memory", "10x", "--", "true"])).toMatchObject({
		code: 2,
		stderr: expect.stringMatching(/--memory is "10x", but takes for example/),
	});
	set({ process: { output: "64K" } });
	expect(JSON.parse((await cli(home, ["run", "--json", "--", "yes"], { env })).stdout)).toMatchObject({ status: "killed", ...limited("output") });
	set({ process: { output: "64K", colour: "red" } });
	expect(await cli(home, ["run", "--", "true"], { env })).toMatchObject({ stderr: expect.stringMatching(/config.json cannot be used: .*colour/) });
	expect((await cli(home, ["ps"], { env })).code).toBe(0);
	const doctor = JSON.parse((await cli(home, ["doctor", "--json"])).stdout) as { checks: { name: string; found: string }[] };
	expect(doctor.checks.find(({ name }) => name === "limits")?.found).toMatch(/time \(keeper\).*file_size \(ulimit -f\)/);
});

test("limits of version 2 are written as the kernel wants them", () => {
	const group = tempDir("group");
	const tree = { version: 2, base: path.dirname(group), controllers: ["memory", "pids", "cpu"] } as const;
	const files = () => Object.fromEntries(fs.readdirSync(group).map((name) => [name, fs.readFileSync(path.join(group, name), "utf8")]));
	writeLimits(tree, group, { memory: 1024 ** 2, cpu: 0.5 });
	expect(files()).toEqual({ "memory.max": "1048576", "memory.swap.max": "0", "cpu.max": "50000 100000" });
	writeLimits(tree, group, { pids: 7 }, { fresh: false });
	expect(files()).toEqual({ "memory.max": "max", "memory.swap.max": "max", "cpu.max": "max", "pids.max": "7" });
});
