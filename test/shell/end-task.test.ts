/** The end of a task: what it owned is gone, what others own is not. */
import { expect, test } from "vitest";
import { isAlive, readStat, type Stat } from "../../src/base/proc.js";
import { cli } from "../support/cli.js";
import { tempDir, testRuntime, until } from "../support/home.js";
import { noSandbox } from "../support/sandbox.js";

const running = (runtime: Awaited<ReturnType<typeof testRuntime>>) => runtime.list({ task: null, shells: true, ended: false });

test("processes, terminals, jobs of the shell and a command under way are killed; another task goes on; once", async () => {
	const runtime = await testRuntime();
	const one = { task: "one" };
	const background = await runtime.terminal({ command: "sleep 300", background: true }, one);
	const terminal = await runtime.terminal({ command: "cat", pty: true, background: true }, one);
	const job = await runtime.terminal({ command: "sleep 301 >/dev/null 2>&1 & echo $!" }, one);
	const jobs = readStat(Number(job.output.trim())) as Stat;
	const other = await runtime.terminal({ command: "sleep 302", background: true }, { task: "two" });
	const foreground = runtime.terminal({ command: "sleep 303", timeout: 600 }, one);
	await until("it is under way", () => runtime.list({ task: "one", ended: false }).some(({ spec }) => spec.command === "sleep 303"));
	const [report, same] = await Promise.all([runtime.endTask("one"), runtime.endTask("one")]);
	expect(same).toBe(report);
	expect(report).toMatchObject({ task: "one", gone: true, shells: expect.any(Number), sandboxes: [], notes: [] });
	expect(report.shells).toBeGreaterThan(0);
	expect(report.processes.map(({ command, status }) => `${command} ${status}`).sort()).toEqual(["cat killed", "sleep 300 killed", "sleep 303 killed"]);
	const killed = await foreground;
	expect(killed).toMatchObject({
		status: "killed",
		note: expect.stringContaining("the shell was killed with the command that it ran; its task was ended meanwhile"),
	});
	expect(killed.note).not.toContain("taken over");
	expect(isAlive(jobs)).toBe(false);
	expect(running(runtime).map(({ spec }) => spec.command)).toContain("sleep 302");
	expect(running(runtime).filter(({ spec }) => spec.task === "one")).toEqual([]);
	for (const { session_id } of [background, terminal]) expect(await runtime.process({ action: "poll", session_id }, one)).toMatchObject({ status: "killed" });
	expect(await runtime.process({ action: "poll", session_id: other.session_id }, { task: "two" })).toMatchObject({ status: "running" });
	expect(await runtime.endTask("one")).toMatchObject({ gone: true, processes: [], shells: 0, sandboxes: [], notes: [] });
});

test.each(["this program", "another"])("a task that %s has ended begins anew, without the state, and the first result says so", async (who) => {
	const runtime = await testRuntime();
	await runtime.terminal({ command: "cd /; A=1; export B=2" });
	if (who === "another") await cli(runtime.home.root, ["end", "default"]);
	else await runtime.endTask("default");
	const result = await runtime.terminal({ command: "echo [$A$B]; pwd" });
	expect(result).toMatchObject({ output: `[]\n${process.cwd()}\n`, exit_code: 0 });
	expect(result.note).toContain(`the task was ended after its last command, so this is a new shell, in ${process.cwd()}: the directory, variables`);
	expect((await runtime.terminal({ command: "echo on" })).note).toBeUndefined();
});

test("holdfast end: of a home that another program uses; in words, and as JSON", async () => {
	const runtime = await testRuntime();
	await runtime.terminal({ command: "sleep 300", background: true }, { task: "ci-42" });
	const json = await cli(runtime.home.root, ["end", "ci-42", "--json"]);
	expect(json.code).toBe(0);
	expect(JSON.parse(json.stdout)).toMatchObject({
		task: "ci-42",
		gone: true,
		shells: 1,
		processes: [{ command: "sleep 300", place: "local", status: "killed" }],
	});
	expect(await runtime.terminal({ command: "echo on" }, { task: "ci-42" })).toMatchObject({ output: "on\n" });
	await runtime.terminal({ command: "sleep 300", background: true }, { task: "ci-42" });
	expect(await cli(runtime.home.root, ["end", "ci-42"])).toMatchObject({
		code: 0,
		stdout: expect.stringMatching(/proc_\w+ ended: sleep 300\n.*nothing is left/),
	});
	expect(await cli(runtime.home.root, ["end", "never-heard-of"])).toMatchObject({ code: 0, stdout: expect.stringContaining("nothing of it was there") });
	for (const words of [[], ["a", "b"], ["a", "--task", "a"]]) expect(await cli(runtime.home.root, ["end", ...words])).toMatchObject({ code: 2 });
});

test.skipIf(noSandbox)("holdfast sandboxes: listed, stopped, pruned; with a sandbox ended behind its task's back the next call has another", async () => {
	const work = tempDir("work");
	const runtime = await testRuntime({ place: "local+sandbox", sandbox: { directory: work } });
	const home = runtime.home.root;
	const { session_id } = await runtime.terminal({ command: "sleep 300", background: true }, { task: "boxed" });
	const list = async (...words: string[]) => {
		const { stdout } = await cli(home, ["sandboxes", ...words, "--json"]);
		return (JSON.parse(stdout) as { sandboxes: { id: string; kind: string; home: string }[] }).sandboxes.filter((one) => one.home === home);
	};
	const found = await list();
	expect(found).toMatchObject([{ kind: "bubblewrap", task: "boxed", state: "running", processes: 1, orphan: false, name: work }]);
	expect(await list("--orphans")).toEqual([]);
	expect((await cli(home, ["sandboxes"])).stdout).toMatch(/bubblewrap +boxed +running +1 /);
	const id = found[0]?.id ?? "";
	expect(await cli(home, ["sandboxes", "stop", id.slice(5, 11)])).toMatchObject({ code: 0, stdout: expect.stringContaining("of task boxed has ended") });
	expect(await list()).toEqual([]);
	expect(await runtime.process({ action: "wait", session_id }, { task: "boxed" })).toMatchObject({ exit_code: 137 });
	expect(await runtime.terminal({ command: "echo on" }, { task: "boxed" })).toMatchObject({ output: "on\n" });
	expect(await list()).toHaveLength(1);
	expect(await cli(home, ["sandboxes", "stop", "ffff0000ffff"])).toMatchObject({ code: 3 });
	for (const words of [["stop"], ["fly"], ["prune", "x"], ["prune", "--orphans"]]) expect(await cli(home, ["sandboxes", ...words])).toMatchObject({ code: 2 });
	expect(await cli(home, ["sandboxes", "prune"])).toMatchObject({ code: 0 });
	expect(await list()).toHaveLength(1);
	await runtime.endTask("boxed");
	expect(await list()).toEqual([]);
});
