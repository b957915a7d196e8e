/** `holdfast/testing`: a runtime that leaves nothing behind, and doubles that run nothing. */
import fs from "node:fs";
import { expect, test } from "vitest";
import { FakeClock, recordTask, runtimeDouble, taskDouble, testRuntime } from "../../src/api/testing.js";
import { isAlive, readStat } from "../../src/base/proc.js";

test("a runtime on a temporary home ends all that runs in it, and its home is gone", async () => {
	let home = "";
	let pid = 0;
	{
		await using runtime = await testRuntime({ task: "t" });
		home = runtime.home.root;
		expect((await runtime.terminal({ command: "echo x" })).output).toBe("x\n");
		const one = await runtime.task("other").spawn({ command: "trap '' TERM; echo ready; sleep 300" });
		await one.wait({ until: { pattern: "ready" } });
		pid = one.pid as number;
		expect(readStat(pid)).toBeDefined();
	}
	expect(fs.existsSync(home)).toBe(false);
	expect(isAlive({ pid, start: readStat(pid)?.start ?? "" })).toBe(false);
	await expect(testRuntime({ place: "mars://x" })).rejects.toMatchObject({ code: "INVALID" });
});

test("what a task has answered is recorded, and a double of it answers the same, each once", async () => {
	await using runtime = await testRuntime();
	const real = recordTask(runtime.task("t"));
	const first = await real.terminal({ command: "echo one" });
	const second = await real.terminal({ command: "exit 3" });
	expect(await real.call("read_file", { path: "/nowhere" })).toMatchObject({ status: "not_found" });
	expect(real.name).toBe("t");
	expect(real.calls.map(({ tool, args }) => [tool, args])).toEqual([
		["terminal", { command: "echo one" }],
		["terminal", { command: "exit 3" }],
		["read_file", { path: "/nowhere" }],
	]);
	const double = taskDouble(JSON.parse(JSON.stringify(real.calls)), { name: "t" });
	expect(await double.terminal({ command: "exit 3" })).toEqual(second);
	expect(await double.call("terminal", { command: "echo one" })).toEqual(first);
	expect(double.unused()).toMatchObject([{ tool: "read_file" }]);
	await expect(double.terminal({ command: "echo one" })).rejects.toMatchObject({
		code: "INVALID",
		message: 'taskDouble: no recorded result is left for terminal {"command":"echo one"}. Left are: read_file {"path":"/nowhere"}',
	});
	await double.close();
});

test("a double says what it does not have, and has files in memory", async () => {
	const double = taskDouble([], { files: { "a/b": "one", c: "two" } });
	expect(() => double.spawn).toThrow("taskDouble: this double has no spawn; test that with testRuntime()");
	expect(() => double.files.copyIn).toThrow("taskDouble.files: this double has no copyIn");
	expect((await double.files.read("./a/b")).toString()).toBe("one");
	expect(await double.files.write("a/d", "three")).toMatchObject({ created: true, bytes: 5 });
	expect((await double.files.list(".")).map(({ name, kind }) => [name, kind])).toEqual([
		["a", "directory"],
		["c", "file"],
	]);
	expect((await double.files.list("a", { recursive: true })).map(({ name }) => name)).toEqual(["b", "d"]);
	await expect(double.files.read("x")).rejects.toMatchObject({ code: "NOT_FOUND" });
	const runtime = runtimeDouble({ t: double });
	expect(runtime.task("t")).toBe(double);
	expect(() => runtime.task("other")).toThrow('runtimeDouble: there is no task "other"; there are t');
	expect(() => runtime.list()).toThrow("runtimeDouble: this double has no list");
	expect(await runtime).toBe(runtime);
});

test("a fake clock makes a progress report due without real waiting", async () => {
	const clock = new FakeClock();
	await using runtime = await testRuntime({ task: "t", clock });
	const task = runtime.task("t");
	const { session_id } = await task.terminal({ command: "echo begun; sleep 300", background: true, check_interval: 3_600 });
	const notices = task.notices();
	const first = notices.next();
	let told = false;
	void first.then(() => (told = true));
	await task.terminal({ command: "true" });
	expect(told).toBe(false);
	const passing = setInterval(() => clock.pass(3_600_000), 50); // the stream may not have begun to look
	expect((await first).value).toMatchObject({ session_id });
	clearInterval(passing);
	await notices.return();
});
