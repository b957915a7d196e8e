/** Processes that are started again when they end. */
import fs from "node:fs";
import path from "node:path";
import { expect, test } from "vitest";
import { isAlive, readStat } from "../../src/base/proc.js";
import { summary } from "../../src/process/index.js";
import { cli } from "../support/cli.js";
import { tempDir, testRuntime, textOf, until } from "../support/home.js";
import type { Runtime } from "../support/internal.js";

/** A runtime whose sleep writes down how long it was to be, and comes back at once. */
async function quickRuntime(): Promise<{ runtime: Runtime; delays: () => string[] }> {
	const dir = tempDir("bin");
	const sleep = path.join(dir, "sleep");
	fs.writeFileSync(sleep, `#!/bin/sh\necho "$1" >>${dir}/delays\n`, { mode: 0o755 });
	const { tools } = await testRuntime();
	const runtime = await testRuntime({ tools: { ...tools, sleep } });
	return { runtime, delays: () => fs.readFileSync(path.join(dir, "delays"), "utf8").trim().split("\n") };
}

/** The PATH is the command's own, and may lead nowhere. */
const env = { PATH: "/nonexistent" };

test("what ends at once is started again ever later, then given up, and ps, status and logs say so", async () => {
	const { runtime, delays } = await quickRuntime();
	const failing = await runtime.spawn({ command: 'echo "run $((++n))"; exit 3', name: "failing", restart: "on-failure", env });
	const { status } = await failing.wait({ timeout: 100_000 });
	expect(status).toMatchObject({ status: "exited", exitCode: 3 });
	expect(delays()).toEqual(["1", "2", "4", "8", "16"]);
	const words = "given up after 5 restarts: it ended soon after its start each time, the last time with code 3";
	expect(summary(failing)).toMatchObject({ restart: "on-failure", restarts: 5, note: words });
	expect(textOf(failing).match(/^run 1$/gm)).toHaveLength(6);
	expect(textOf(failing)).toMatch(/holdfast: given up: it ended within 10 s of its start 6 times in a row, the last time with code 3\n$/);
	const ps = await cli(runtime.home.root, ["ps"]);
	expect(ps.stdout).toMatch(/ exited 3 \(5 restarts\) .* failing: echo/);
	expect(ps.stderr).toContain(`${failing.id}: ${words}`);
	expect((await cli(runtime.home.root, ["status"])).stdout).toContain(`failing: ${words}`);
});

test("on-failure leaves what succeeds alone, always does not; a program that is killed is started again, with the same id and log", async () => {
	const { runtime } = await quickRuntime();
	const once = await runtime.spawn({ command: ["true"], restart: "on-failure" });
	expect((await once.wait({ timeout: 100_000 })).status).toMatchObject({ status: "exited", exitCode: 0 });
	expect(summary(once)).toMatchObject({ restarts: 0 });
	const file = path.join(tempDir(), "runs");
	const command = `echo $$ >>${file}; exec tail -f /dev/null`;
	const kept = await runtime.spawn({ command, restart: "always", terminal: true });
	const pids = () => (fs.existsSync(file) ? fs.readFileSync(file, "utf8").trim().split("\n").map(Number) : []);
	await until("it runs", () => pids().length === 1);
	await until("it has become tail", () => fs.readFileSync(`/proc/${pids()[0]}/comm`, "utf8") === "tail\n");
	process.kill(pids()[0] as number, "SIGKILL");
	await until("it runs again", () => pids().length === 2 && summary(kept).restarts === 1);
	expect(summary(kept)).toMatchObject({ status: "running", restarts: 1 });
	expect(textOf(kept)).toContain("holdfast: it ended with code 137; it is started again in 1 s");
	const second = { pid: pids()[1] as number, start: readStat(pids()[1] as number)?.start as string };
	expect((await kept.kill({ graceMs: 500 })).survivors).toEqual([]);
	expect([isAlive(second), pids().length]).toEqual([false, 2]);
	expect(summary(kept)).toMatchObject({ status: "killed", restarts: 1 });
});

test("TERM ends the restarting; the command closes in order, and its code counts", async () => {
	const runtime = await testRuntime();
	const command = `trap 'echo closing; exit 7' TERM; echo up; while :; do sleep 0.05; done`;
	const kept = await runtime.spawn({ command, restart: "always" });
	await until("it runs", () => textOf(kept) === "up\n");
	await kept.signal("SIGTERM");
	expect((await kept.wait({ timeout: 100_000 })).status).toMatchObject({ status: "exited", exitCode: 7 });
	expect(textOf(kept)).toMatch(/^up\n.*closing\n$/s);
	expect(summary(kept)).toMatchObject({ restarts: 0 });
});

test("a restart that cannot be is refused in words", async () => {
	const { home } = await testRuntime();
	const refused = async (...args: string[]) => (await cli(home.root, ["run", ...args, "--", "true"])).stderr;
	expect(await refused("--restart", "always")).toContain("--restart is for a process in the background that has a name");
	expect(await refused("--restart", "never", "-b", "--name", "x")).toContain('--restart takes always or on-failure, not "never"');
});
