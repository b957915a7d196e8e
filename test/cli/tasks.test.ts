/** `holdfast tasks`, and `holdfast end --gone` for what clients have left. */
import fs from "node:fs";
import path from "node:path";
import { expect, test } from "vitest";
import { taskKey } from "../../src/base/index.js";
import { clientFields, clientOf, present } from "../../src/doors/mcp/presence.js";
import { untilWaiting } from "../../src/screen/index.js";
import { cli } from "../support/cli.js";
import { atEnd, tempDir, testRuntime, until } from "../support/home.js";
import { overStdio } from "../support/mcp.js";

test("tasks are listed with their client, what runs and what waits; end --gone ends those whose client is gone", async () => {
	const runtime = await testRuntime();
	const home = runtime.home.root;
	const list = async () => JSON.parse((await cli(home, ["tasks", "--json"])).stdout).tasks;
	expect(await cli(home, ["tasks"])).toMatchObject({ code: 0, stdout: "", stderr: "no task has anything that runs or waits\n" });
	const asks = await runtime.spawn({ command: "read -p 'Go? ' answer", terminal: true, task: "mine" });
	await untilWaiting(asks, { timeout: 100_000 });
	const client = await overStdio(home, [], { name: "some-client", version: "2.7.1" });
	const { session_id } = await client.call("terminal", { command: "sleep 1000", background: true });
	const [{ task: theirs }] = (await list()).filter(({ task }: { task: string }) => task !== "mine");
	expect(theirs).toContain("some-client in ");
	const found = await list();
	const theirClient = { client: "connected", client_name: "some-client", client_version: "2.7.1", silent_since: null, gone_since: null };
	const noClient = { client: null, client_name: null, client_version: null, silent_since: null, gone_since: null };
	expect(found).toHaveLength(2);
	expect(found).toEqual(
		expect.arrayContaining([
			{ ...theirClient, task: theirs, running: 1, waiting: 0, shells: expect.any(Number), last_activity: expect.any(String) },
			{ ...noClient, task: "mine", running: 1, waiting: 1, shells: 0, last_activity: expect.any(String) },
		]),
	);
	const { stdout } = await cli(home, ["tasks"]);
	expect(stdout).toMatch(/^CLIENT +WHO +RUNNING +WAITING +SHELLS +LAST +TASK\n/);
	expect(stdout).toMatch(/^connected +some-client 2\.7\.1 +1 +0 +\d +\d+s +some-client in /m);
	expect(stdout).toMatch(/^- +- +1 +1 +0 +\d+s +mine$/m);
	expect(JSON.parse((await cli(home, ["end", "--gone", "--json"])).stdout)).toEqual({ ended: [] }); // it is there

	await client.client.close();
	await until("its server has gone", () => clientOf(runtime.home, theirs)?.state === "gone");
	const left = await cli(home, ["tasks"]);
	expect(left.stdout).toMatch(/^gone \d+s +some-client 2\.7\.1 +1 +/m);
	expect(left.stderr).toBe("`holdfast end --gone` ends those whose client is gone (--older-than 1d: for a day)\n");
	const { checks } = JSON.parse((await cli(home, ["doctor", "--json"])).stdout);
	const check = { name: "clients", state: "ok", found: expect.stringMatching(/^1 task is left by a client that is gone, 0 of them .*some-client in/) };
	expect(checks).toContainEqual({ ...check, advice: expect.stringContaining("--older-than 1d") });
	expect(await cli(home, ["end", "--gone", "--older-than", "1d"])).toMatchObject({ code: 0, stderr: "no task is left by a client that is gone for so long\n" });
	for (const [words, said] of [
		[["mine", "--older-than", "1d"], "goes with --gone"],
		[["--gone", "--older-than", "5"], "a time with its unit"],
	] as const)
		expect(await cli(home, ["end", ...words])).toMatchObject({ code: 2, stderr: expect.stringContaining(said) });
	const { ended } = JSON.parse((await cli(home, ["end", "--gone", "--older-than", "1ms", "--json"])).stdout);
	expect(ended).toMatchObject([{ task: theirs, gone: true, processes: [{ session_id }] }]);
	expect((await list()).map(({ task }: { task: string }) => task)).toEqual(["mine"]);
	expect(asks.status().status).toBe("running");
	expect(await cli(home, ["end", "mine", "--gone"])).toMatchObject({ code: 2, stderr: expect.stringContaining("not both") });
});

test("a server that is stopped, and gives no sign of life, is not gone; when it is killed it is", async () => {
	const runtime = await testRuntime();
	const home = runtime.home.root;
	const { call, transport } = await overStdio(home, [], { name: "stopped-client" });
	await call("terminal", { command: "sleep 1000", background: true });
	const [{ task }] = JSON.parse((await cli(home, ["tasks", "--json"])).stdout).tasks;
	const pid = transport.pid as number;
	process.kill(pid, "SIGSTOP");
	const long = new Date(Date.now() - 3_600_000);
	for (const name of fs.readdirSync(path.join(home, "mcp"))) if (name.startsWith(taskKey(task))) fs.utimesSync(path.join(home, "mcp", name), long, long);
	expect(clientFields(runtime.home, task)).toMatchObject({ client: "connected", gone_since: null });
	expect(JSON.parse((await cli(home, ["end", "--gone", "--json"])).stdout)).toEqual({ ended: [] });
	process.kill(pid, "SIGKILL");
	await until("it is gone", () => clientFields(runtime.home, task).client === "gone");
});

test("end --gone looks again before each task: a client that has come back while another was ended keeps its own", async () => {
	const runtime = await testRuntime();
	const { home } = runtime;
	const file = path.join(tempDir(), "ending");
	const [slow, back] = ["slow client in /a", "other client in /b"];
	const kept = await runtime.spawn({ command: "sleep 1000", task: back });
	const first = await runtime.spawn({ command: `trap 'echo x >${file}' TERM; echo up; while :; do sleep 0.05; done`, task: slow });
	await first.wait({ until: { pattern: "up" }, timeout: 100_000 });
	for (const task of [slow, back]) present(home, task, { name: "a client" })?.release();
	const ended = cli(home.root, ["end", "--gone", "--json"]);
	const lease = new Promise<ReturnType<typeof present>>((resolve) => {
		const look = setInterval(() => {
			if (!fs.existsSync(file) || runtime.list({ task: back, ended: false }).length === 0) return;
			clearInterval(look);
			resolve(present(home, back, { name: "a client" }));
		}, 5);
		atEnd(() => clearInterval(look));
	});
	// The one that was active last is ended first.
	const { ended: tasks } = JSON.parse((await ended).stdout) as { ended: { task: string }[] };
	expect(tasks.map(({ task }) => task)).toEqual([slow]);
	expect(kept.status().status).toBe("running");
	(await lease)?.release();
});
