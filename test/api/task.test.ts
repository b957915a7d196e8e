/** `runtime.task`: a handle that owns what a task uses, and gives it back. */
import fs from "node:fs";
import path from "node:path";
import { beforeAll, describe, expect, test } from "vitest";
import { agentOf } from "../../src/api/index.js";
import { HoldfastError, openRuntime, type Runtime, type Task, type TaskOptions } from "../../src/index.js";
import { heldNow, isFlat } from "../support/held.js";
import { atEnd, endAll, tempDir, until } from "../support/home.js";
import { noSandbox } from "../support/sandbox.js";

async function library(home = tempDir("home"), options: Parameters<typeof openRuntime>[0] = {}): Promise<Runtime> {
	const runtime = await openRuntime({ warm: 0, home, ...options });
	atEnd(() => endAll(agentOf(runtime)));
	return runtime;
}

const codeOf = (act: () => unknown): string => {
	try {
		act();
	} catch (error) {
		return error instanceof HoldfastError ? `${error.code}: ${error.message}` : String(error);
	}
	return "nothing was thrown";
};

test("a task's calls share a shell, and its end reports what is gone", async () => {
	const runtime = await library();
	const task = runtime.task("t", { cwd: "/tmp", env: { GREETING: "hello" } });
	expect(await task.terminal({ command: "pwd; echo $GREETING; X=1" })).toMatchObject({ output: "/tmp\nhello\n", exit_code: 0 });
	expect((await task.call("terminal", { command: "echo $X" })).output).toBe("1\n");
	const file = path.join(tempDir(), "f");
	expect(await task.call("write_file", { path: file, content: "a\n" })).toMatchObject({ status: "ok", created: true });
	expect((await task.readFile({ path: file })).output).toContain("a");
	const { session_id } = await task.terminal({ command: "sleep 300", background: true });
	expect(task.processes().map(({ id }) => id)).toEqual([session_id]);
	const report = await task.end();
	expect(report).toMatchObject({ task: "t", gone: true, shells: 1, processes: [{ session_id, status: "killed" }] });
	expect(await task.end()).toBe(report);
	await expect(task.terminal({ command: "true" })).rejects.toMatchObject({ code: "ENDED" });
	await expect(task.spawn({ command: "true" })).rejects.toMatchObject({ code: "ENDED" });
	expect((await runtime.task("t").terminal({ command: "echo $GREETING" })).output).toBe("\n");
});

test("resolvePlace says what is behind an address or a name of config.json, and starts nothing", async () => {
	const runtime = await library();
	const config = tempDir("config");
	fs.mkdirSync(path.join(config, "holdfast"));
	fs.writeFileSync(
		path.join(config, "holdfast/config.json"),
		JSON.stringify({ places: { big: { kind: "docker", image: "debian", engine: "tcp://127.0.0.1:1" } } }),
	);
	const before = process.env.XDG_CONFIG_HOME;
	process.env.XDG_CONFIG_HOME = config;
	atEnd(() => {
		if (before === undefined) delete process.env.XDG_CONFIG_HOME;
		else process.env.XDG_CONFIG_HOME = before;
	});
	expect(runtime.resolvePlace("big")).toEqual({ kind: "docker", image: "debian", engine: "tcp://127.0.0.1:1" });
	expect(runtime.resolvePlace("ssh://me@box:2222")).toEqual({ kind: "ssh", user: "me", host: "box", port: 2222 });
	expect(runtime.resolvePlace({ kind: "docker", image: "x" })).toEqual({ kind: "docker", image: "x" });
	expect(() => runtime.resolvePlace("bigg")).toThrow(/there is no place "bigg".*of config.json big/);
});

test("what spawn starts has the directory and the environment of the task", async () => {
	const runtime = await library();
	await using task = runtime.task("t", { cwd: "/tmp", env: { A: "1", HOME: undefined }, dispose: "end" });
	const one = await task.spawn({ command: "pwd; echo $A $B ${HOME-none}", env: { B: "2" } });
	await one.wait();
	expect(one.read(0).bytes.toString()).toBe("/tmp\n1 2 none\n");
	expect(one.spec.task).toBe("t");
});

test("interrupt ends the calls under way, their answers say so, and the shell stays", async () => {
	const runtime = await library();
	const task = runtime.task("t");
	await task.terminal({ command: "X=1" });
	expect(task.isBusy).toBe(false);
	const { session_id } = await task.terminal({ command: "sleep 300", background: true });
	const command = task.terminal({ command: "echo begun; sleep 300" });
	const wait = task.process({ action: "wait", session_id: session_id as string });
	await until("it runs", () => task.processes({ ended: false }).length === 2);
	expect(task.isBusy).toBe(true);
	expect(await task.interrupt()).toBe(2);
	expect(await command).toMatchObject({
		status: "interrupted",
		exit_code: 130,
		output: "begun\n",
		note: expect.stringContaining("interrupted all of its calls"),
	});
	expect(await wait).toMatchObject({ status: "interrupted", exit_code: null });
	expect(task.isBusy).toBe(false);
	expect(task.processes({ ended: false }).map(({ id }) => id)).toEqual([session_id]);
	expect((await task.terminal({ command: "echo $X" })).output).toBe("1\n");
	expect(await task.interrupt()).toBe(0);
	expect(Date.now() - task.lastActivity.getTime()).toBeLessThan(60_000);
});

test("yield moves a command in the foreground to the background at once: the answer is running, and its output and exit code are kept", async () => {
	const runtime = await library();
	const task = runtime.task("t");
	const gate = path.join(tempDir(), "gate");
	await task.terminal({ command: `mkfifo ${gate}; X=1` });
	const hurry = new AbortController();
	const running = task.terminal(
		{ command: `echo begun; read -r word <${gate}; echo "$word"; exit 3`, timeout: 600, on_timeout: "kill" },
		{ yield: hurry.signal },
	);
	await until("it runs", () => task.processes({ ended: false }).length === 1);
	hurry.abort();
	const moved = await running;
	expect(moved).toMatchObject({ status: "running", exit_code: null, output: "begun\n", session_id: task.processes()[0]?.id });
	expect((await task.terminal({ command: "echo $X" })).output).toBe("1\n"); // in a shell with the state from before the command
	await task.terminal({ command: `echo late >${gate}` });
	expect(await task.process({ action: "wait", session_id: moved.session_id as string })).toMatchObject({ status: "exited", exit_code: 3 });
	expect((await task.process({ action: "log", session_id: moved.session_id as string })).output).toBe("begun\nlate\n");
});

test("the end of await using leaves a command running in the background, and frees the rest", async () => {
	const runtime = await library();
	let running: Promise<unknown>;
	let id = "";
	{
		await using task = runtime.task("t");
		running = task.terminal({ command: "echo begun; sleep 300" });
		await until("it runs", () => task.processes({ ended: false }).length === 1);
		id = task.processes()[0]?.id ?? "";
	}
	expect(await running).toMatchObject({ status: "running", session_id: id });
	expect(runtime.get(id).status().status).toBe("running");
	expect(runtime.list({ task: "t", shells: true, ended: false }).map((one) => one.id)).toHaveLength(2); // the command, and the shell it runs in
	const again = runtime.task("t");
	expect(await again.process({ action: "poll", session_id: id })).toMatchObject({ status: "running" });
	expect(await again.end()).toMatchObject({ gone: true });
});

test("a task that ends while its calls run answers them, and nothing of it is left", async () => {
	const runtime = await library();
	const task = runtime.task("t");
	await task.terminal({ command: "true" });
	const command = task.terminal({ command: "sleep 300" });
	await until("it runs", () => task.processes({ ended: false }).length === 1);
	const ends = [task.end(), task.end()];
	expect(codeOf(() => runtime.task("t"))).toMatch(/^CONFLICT: .*is being ended/);
	const [report, second] = await Promise.all(ends);
	expect(second).toBe(report);
	expect(report).toMatchObject({ gone: true });
	const killed = await command;
	expect(killed).toMatchObject({ status: "killed" });
	expect(killed.note).not.toContain("memory"); // it is known what killed it
	expect((await runtime.task("t").terminal({ command: "echo anew" })).output).toBe("anew\n");
	await runtime.endTask("t");
	expect(runtime.list({ task: "t", shells: true, ended: false })).toEqual([]);
});

test("two handles of one name are one task: settings are given once, and the last one lets go", async () => {
	const runtime = await library();
	const one = runtime.task("t", { cwd: "/tmp" });
	const two = runtime.task("t");
	expect(runtime.task("t", { cwd: "/tmp" }).name).toBe("t");
	expect(codeOf(() => runtime.task("t", { cwd: "/" }))).toMatch(/^INVALID: .*open with another cwd/);
	expect((await two.terminal({ command: "pwd; X=1" })).output).toBe("/tmp\n");
	await one.close();
	await one.close();
	await expect(one.terminal({ command: "true" })).rejects.toMatchObject({ code: "ENDED", message: expect.stringContaining("let go of") });
	expect((await two.terminal({ command: "echo $X" })).output).toBe("1\n");
	expect((await runtime.terminal({ command: "echo $X" }, { task: "t" })).output).toBe("1\n");
});

describe("bad input", () => {
	let runtime: Runtime;
	beforeAll(async () => {
		const home = fs.mkdtempSync("/tmp/hf-api-");
		runtime = await openRuntime({ warm: 0, home });
		return async () => {
			await runtime.close();
			fs.rmSync(home, { recursive: true });
		};
	});

	test.each<[string, unknown, RegExp]>([
		["an unknown key", { directory: "/" }, /INVALID: runtime.task: there is no key "directory"; there are place, user, cwd/],
		["a wrong type", { env: "A=1" }, /INVALID: runtime.task: env is/],
		["a variable that is no text", { env: { A: 1 } }, /INVALID: runtime.task: env/],
		["a directory that is not there", { cwd: "/nowhere/at/all" }, /NO_DIRECTORY: runtime.task: there is no directory \/nowhere/],
		["an unknown limit", { limits: { timeOut: 1 } }, /INVALID: limits: there is no key "timeOut"/],
		["a resource limit of the wrong type", { resourceLimits: { task: { memory: "much" } } }, /INVALID: runtime.task: resourceLimits.task.memory/],
		["a place that cannot be understood", { place: "mars://x" }, /INVALID: .*mars/],
		["mask: false on a place that is no boundary", { mask: false }, /INVALID: mask: false is for a place/],
		["a way to dispose that there is not", { dispose: "kill" }, /INVALID: runtime.task: dispose is "kill", but must be one of "leave", "end"/],
		["no object", "local", /INVALID: runtime.task/],
	])("%s is refused by its name", (_, options, words) => {
		expect(codeOf(() => runtime.task("t", options as TaskOptions))).toMatch(words);
	});

	test.each(["", 1, "x".repeat(1001), "a\0b", undefined])("a name that cannot be one is refused: %j", (name) => {
		expect(codeOf(() => runtime.task(name as string))).toMatch(/^INVALID: runtime.task: the name/);
	});

	test("an option of a call that is unknown or of the wrong type is an error in its result, and nothing runs", async () => {
		const file = `/tmp/hf-api-${process.pid}`;
		const task = runtime.task("calls");
		const call = (options: object) => task.terminal({ command: `touch ${file}` }, options);
		expect(await call({ signal: 1 })).toMatchObject({ status: "error", error: expect.stringContaining("signal is 1, but must be an AbortSignal") });
		expect(await call({ timeout: 1 })).toMatchObject({ status: "error", error: expect.stringContaining('no key "timeout"; there are') });
		await expect(call({ task: "other" })).rejects.toMatchObject({ code: "INVALID" });
		await expect(task.terminal({ command: "true" }, 5 as never)).rejects.toMatchObject({ code: "INVALID" });
		expect(fs.existsSync(file)).toBe(false);
		expect(await task.call("terminl", {})).toMatchObject({ status: "error", error: expect.stringContaining('no tool "terminl"; there are terminal, process') });
		await task.end();
	});
});

test("limits are a task's own", async () => {
	const runtime = await library();
	const small = runtime.task("small", { limits: { outputChars: 200 }, resourceLimits: { process: { output: "64K" } } });
	const large = runtime.task("large");
	const command = "head -c 5000 /dev/zero | tr '\\0' x";
	expect((await small.terminal({ command })).truncated).toMatchObject({ total_chars: 5000 });
	expect((await large.terminal({ command })).output).toHaveLength(5000);
	const much = "head -c 300000 /dev/zero";
	expect(await small.terminal({ command: much })).toMatchObject({ status: "killed", limit: { name: "output", of: "process" } });
	expect((await large.terminal({ command: much })).limit).toBeUndefined();
});

test.skipIf(noSandbox)("a task has a place of its own, which its calls by name have too", async () => {
	const runtime = await library();
	const dir = tempDir();
	const boxed = runtime.task("boxed", { place: "local+sandbox", cwd: dir, mask: false, dispose: "end" });
	expect((await boxed.terminal({ command: "pwd; echo password=hunter2-and-more; ls /root 2>&1 | head -1" })).output).toContain(
		`${dir}\npassword=hunter2-and-more\n`,
	);
	expect(await runtime.terminal({ command: "echo password=hunter2-and-more" }, { task: "boxed" })).toMatchObject({ output: "password=hunter2-and-more\n" });
	expect((await runtime.terminal({ command: "echo password=hunter2-and-more" }, { task: "other" })).output).toContain("[redacted]");
	expect((await boxed.spawn({ command: "true" })).spec.place).toBe("local+sandbox");
	expect(await boxed.end()).toMatchObject({ gone: true, sandboxes: [{ kind: "bubblewrap" }] });
});

test("tasks begun and ended leave no descriptor, watcher, listener or process in the runtime", async () => {
	const runtime = await library(undefined, { warm: 2 });
	const signal = new AbortController().signal;
	const one = async (number: number, use: (task: Task) => Promise<unknown>) => {
		const task = runtime.task(`task-${number}`, { cwd: "/tmp", env: { N: String(number) }, resourceLimits: { process: { output: "1M" } } });
		expect((await task.terminal({ command: "echo $N" }, { signal, yield: signal })).output).toBe(`${number}\n`);
		await use(task);
	};
	for (let number = 0; number < 3; number++) await one(number, (task) => task.end());
	const before = heldNow();
	for (let number = 3; number < 11; number++) await one(number, (task) => (number % 2 ? task.end() : task.close()));
	await until("it holds what it held before", () => isFlat(before));
	const agent = agentOf(runtime);
	expect([agent.settings.size, agent.services.taskLimits.size]).toEqual([0, 0]);
});

test("a place of its own goes with the last task that has it", async () => {
	const runtime = await library();
	const agent = agentOf(runtime);
	const dirs = Array.from({ length: 3 }, () => tempDir());
	for (const dir of dirs) {
		const task = runtime.task("t", { place: `local:${dir}` });
		expect((await task.terminal({ command: "pwd" })).output).toBe(`${dir}\n`);
		const other = runtime.task("u", { place: `local:${dir}` });
		expect(agent.placesOpen).toBe(2);
		await task.end();
		expect((await other.terminal({ command: "pwd" })).output).toBe(`${dir}\n`);
		await other.end();
		expect(agent.placesOpen).toBe(1);
	}
	const named = runtime.task("t", { place: `local:${dirs[0]}` });
	const { session_id } = await named.terminal({ command: "sleep 300", background: true });
	await named.close();
	expect(runtime.get(session_id as string).status().status).toBe("running");
	await runtime.endTask("t");
	expect(agent.placesOpen).toBe(1);
});

test("two runtimes in one program know nothing of each other's tasks", async () => {
	const [one, two] = [await library(), await library()];
	const [a, b] = [one.task("t", { env: { A: "one" } }), two.task("t", { env: { A: "two" }, limits: { outputChars: 300 } })];
	expect((await a.terminal({ command: "echo $A" })).output).toBe("one\n");
	expect((await b.terminal({ command: "echo $A" })).output).toBe("two\n");
	const command = a.terminal({ command: "sleep 300" });
	await until("it runs", () => a.processes({ ended: false }).length === 1);
	expect([a.isBusy, b.isBusy]).toEqual([true, false]);
	expect(await b.interrupt()).toBe(0);
	expect(await b.end()).toMatchObject({ gone: true, processes: [] });
	await two.close();
	expect(codeOf(() => two.task("t"))).toMatch(/^ABORTED: this runtime is closed/);
	expect(a.isBusy).toBe(true);
	expect(await a.end()).toMatchObject({ gone: true });
	expect(await command).toMatchObject({ status: "killed" });
});

test("a closed runtime does nothing, and says so at once", async () => {
	const runtime = await library();
	const task = runtime.task("t");
	const file = path.join(tempDir(), "made");
	await runtime.close();
	const refused = { status: "interrupted", error: "nothing was done: this runtime is closed; open another one" };
	expect(await runtime.terminal({ command: `touch ${file}` })).toMatchObject(refused);
	expect(await runtime.writeFile({ path: file, content: "" })).toMatchObject(refused);
	await expect(task.terminal({ command: `touch ${file}` })).rejects.toMatchObject({ code: "ABORTED" });
	await expect(task.files.write(file, "")).rejects.toMatchObject({ code: "ABORTED" });
	for (const start of [runtime, task]) await expect(start.spawn({ command: `touch ${file}` })).rejects.toMatchObject({ code: "ABORTED" });
	expect(fs.existsSync(file)).toBe(false);
	expect(runtime.list({ task: null, shells: true })).toEqual([]);
});

test("the inside of the runtime is not to be had through the library", async () => {
	const runtime = await library();
	expect(Object.keys(runtime)).toEqual([]);
	for (const name of ["registry", "boxes", "chores", "bin", "hold", "shells", "judge", "audit"]) expect(runtime).not.toHaveProperty(name);
	expect(fs.readFileSync("dist/api/runtime.d.ts", "utf8")).not.toMatch(/AgentRuntime|class /);
});
