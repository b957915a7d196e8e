import type { Process, Runtime, Task } from "holdfast";
import { testRuntime } from "holdfast/testing";
import { describe, expect, it } from "vitest";
import { type AgentTool, coreTools, TASK_LIMITS, type ToolCallContext } from "../../src/tools/index.js";
import { tempDir } from "../support/dirs.js";

const context = (id: string, more: Partial<ToolCallContext> = {}): ToolCallContext => ({
	id,
	signal: new AbortController().signal,
	yield: new AbortController().signal,
	...more,
});

async function opened(): Promise<AsyncDisposable & { runtime: Runtime; task: Task; tool(name: string): AgentTool }> {
	const runtime = await testRuntime({ task: "talk" });
	const task = runtime.task("talk", { limits: TASK_LIMITS, cwd: tempDir() });
	const tools = coreTools({ runtime, task });
	return { runtime, task, tool: (name) => tools.find((one) => one.name === name) as AgentTool, [Symbol.asyncDispose]: () => runtime.close() };
}

it("has every tool of the core, and says which only read", async () => {
	await using runtime = await testRuntime({ task: "talk" });
	const tools = coreTools({ runtime, task: runtime.task("talk", { limits: TASK_LIMITS }) });
	expect(tools.map(({ name, changes }) => `${name} ${changes}`)).toEqual([
		"terminal true",
		"process true",
		"read_file false",
		"write_file true",
		"patch true",
		"search_files false",
		"upload true",
		"download true",
	]);
	const process = tools[1] as AgentTool;
	expect([{ action: "poll" }, { action: "kill" }, {}, null, "x"].map((args) => process.onlyReads?.(args))).toEqual([true, false, false, false, false]);
});

it("shows how a command ended, and no id of a process that is not kept", async () => {
	await using it = await opened();
	expect(await it.tool("terminal").run({ command: "echo out; echo err >&2; (exit 3)" }, context("c1"))).toEqual({
		text: "[exited, exit code 3]\nout\nerr",
		failed: false,
	});
});

it("keeps a result until it is settled", async () => {
	await using it = await opened();
	await it.tool("terminal").run({ command: "echo once" }, context("c1"));
	expect(await it.task.findCall("c1")).toMatchObject({ state: "ended", result: { output: "once\n" } });
	await it.tool("terminal").settle?.("c1");
	expect(await it.task.findCall("c1")).toMatchObject({ state: "ended", settled: true });
	expect(await it.task.process({ action: "list" })).toMatchObject({ processes: [] });
});

it("refuses wrong arguments in words, and a result of a rule counts as refused", async () => {
	await using it = await opened();
	const terminal = it.tool("terminal");
	for (const args of [null, 7, "ls", [], {}, { command: 3 }, { command: "ls", timeout: 0 }])
		expect(await terminal.run(args, context(JSON.stringify(args)))).toMatchObject({ failed: true, text: expect.stringContaining("Error: ") });
	expect(await terminal.run({ command: "rm -rf /" }, context("rm"))).toMatchObject({ failed: true, how: "refused", text: expect.stringContaining("[blocked") });
	expect(await it.tool("read_file").run({ path: "/nowhere/at/all" }, context("r"))).toMatchObject({ failed: true });
});

it("leaves a call open that a person has not allowed, and makes it again under the same id once they have", async () => {
	await using it = await opened();
	const terminal = it.tool("terminal");
	const args = { command: "git push --force origin main" };
	const pending = await terminal.run(args, context("c1"));
	expect(pending).toMatchObject({ pending: expect.stringMatching(/^appr_/) });
	expect(await terminal.became?.(args, context("c1"))).toEqual({ state: "never" });
	await it.runtime.approvals.answer(pending.pending as string, { answer: "once", by: "test" });
	expect(await terminal.run(args, context("c1"))).toMatchObject({ failed: false, text: expect.stringContaining("[exited, exit code 128]") });
	expect(await terminal.became?.(args, context("c1"))).toMatchObject({ state: "ended", outcome: { text: expect.stringContaining("exit code 128") } });
});

it("interrupts a command: the tree is gone, the result says 130, and the shell keeps its directory", async () => {
	await using it = await opened();
	const terminal = it.tool("terminal");
	await terminal.run({ command: "cd /tmp && NAME=Jo" }, context("c1"));
	const stop = new AbortController();
	const running = terminal.run({ command: "sh -c 'echo $$; exec sleep 600'" }, context("c2", { signal: stop.signal }));
	await untilPrinted(it.runtime, "c2");
	stop.abort();
	const { text, failed } = await running;
	expect({ text, failed }).toEqual({ text: expect.stringMatching(/^\[interrupted, exit code 130\]\n\d+$/), failed: false });
	expect(() => process.kill(Number(text.split("\n")[1]), 0)).toThrow("ESRCH");
	expect(await terminal.run({ command: "pwd; echo $NAME" }, context("c3"))).toMatchObject({ text: "[exited, exit code 0]\n/tmp\nJo" });
});

it("lets a command go on in the background, and names its process", async () => {
	await using it = await opened();
	const go = new AbortController();
	const running = it.tool("terminal").run({ command: "echo before; sleep 600" }, context("c1", { yield: go.signal }));
	await untilPrinted(it.runtime, "c1");
	go.abort();
	const outcome = await running;
	expect(outcome).toMatchObject({ failed: false, process: expect.stringMatching(/^proc_/), text: expect.stringContaining("[running, proc_") });
	expect(await it.task.process({ action: "poll", session_id: outcome.process as string })).toMatchObject({ status: "running" });
});

describe("a shortened result", () => {
	const named = /process\(action="log", session_id="(proc_[0-9a-f]+)", offset=(\d+), limit=(\d+)\)/;

	it("is read back byte for byte through the call that it names", async () => {
		await using it = await opened();
		const command = `awk 'BEGIN { for (i = 1; i <= 3000; i++) print i, i * 7919 % 1000, substr("abcdefghi", i % 9), "w" i % 13, "é" }'`;
		const whole = (await it.task.terminal({ command, max_output_chars: 1_000_000 })).output;
		const outcome = await it.tool("terminal").run({ command }, context("c1"));
		expect(outcome.text.length).toBeLessThan(13_000);
		const [call, session, offset, limit] = named.exec(outcome.text) as unknown as [string, string, string, string];
		expect(outcome.process).toBe(session);
		const parts: string[] = [];
		let args: Record<string, unknown> = { action: "log", session_id: session, offset: Number(offset), limit: Number(limit) };
		const end = Number(offset) + Number(limit);
		for (;;) {
			const { output = "", note, next_offset } = await it.task.process(args as never);
			parts.push(output);
			if (!note?.includes("goes on")) break;
			args = { action: "log", session_id: session, byte_offset: next_offset, limit: end - Number(offset) - linesIn(parts.join("")) };
		}
		const [head, tail] = outcome.text
			.replace("[exited, exit code 0]\n", "")
			.replace(/^\[exited.*\n/, "")
			.split(/^\[.*shows them\]\n/m) as [string, string];
		expect(outcome.text).toContain(call);
		expect(`${head}${parts.join("")}${tail}\n`).toBe(whole);
	});

	it("of ten megabytes is short, names the rest, and its end is the end", async () => {
		await using it = await opened();
		const outcome = await it.tool("terminal").run({ command: "seq -f 'line %.0f of very many that are all alike' 1 250000; echo the end" }, context("c1"));
		expect(outcome.text.length).toBeLessThan(13_000);
		expect(outcome.text.trimEnd().endsWith("the end")).toBe(true);
		const [, session, offset, limit] = named.exec(outcome.text) as unknown as [string, string, string, string];
		const { output } = await it.task.process({ action: "log", session_id: session, offset: Number(offset), limit: Math.min(2, Number(limit)) });
		expect(output).toBe(`line ${Number(offset) + 1} of very many that are all alike\nline ${Number(offset) + 2} of very many that are all alike\n`);
		const gaps = outcome.text.matchAll(/offset=(\d+), limit=(\d+)\) shows them\]\nline (\d+) /g);
		const behind = [...gaps].map(([, from, lines, next]) => Number(next) - Number(from) - Number(lines));
		expect(behind.length).toBeGreaterThan(1);
		expect(new Set(behind)).toEqual(new Set([1])); // lines are counted from 0, and these have their number from 1
	});

	it("of one endless line names where in the log it goes on", async () => {
		await using it = await opened();
		const outcome = await it.tool("terminal").run({ command: "head -c 3000000 /dev/zero | tr '\\0' 'y'" }, context("c1"));
		expect(outcome.text.length).toBeLessThan(13_000);
		const [, session, offset] = /session_id="(proc_[0-9a-f]+)", byte_offset=(\d+)\) shows what follows/.exec(outcome.text) as unknown as [
			string,
			string,
			string,
		];
		expect(outcome.text).toContain(`\n${"y".repeat(Number(offset))}\n[`);
		expect((await it.task.process({ action: "log", session_id: session, byte_offset: Number(offset) })).output).toMatch(/^y{30000}$/);
	});

	it("is as long as the model asks for", async () => {
		await using it = await opened();
		const command = `awk 'BEGIN { for (i = 1; i <= 900; i++) print i, substr("abcdefghijklmnopqrstuvwxyz", i % 11), substr("zyxwvutsrq", i % 7) }'`;
		const outcome = await it.tool("terminal").run({ command, max_output_chars: 100_000 }, context("c1"));
		expect(outcome.text.length).toBeGreaterThan(20_000);
		expect(outcome).not.toHaveProperty("process");
	});
});

describe("after a crash", () => {
	it("a call that never started is made", async () => {
		await using it = await opened();
		expect(await it.tool("terminal").became?.({ command: "true" }, context("c1"))).toEqual({ state: "never" });
	});

	it("a call that has ended has the same result as if nothing had happened", async () => {
		await using it = await opened();
		const args = { command: "echo out; exit 3" };
		const outcome = await it.tool("terminal").run(args, context("c1"));
		expect(await it.tool("terminal").became?.(args, context("c1"))).toEqual({ state: "ended", outcome });
	});

	it("a file that was read is read again, and one that was written is not written again", async () => {
		await using it = await opened();
		const written = { path: "/tmp/holdfast-agent-written-once", content: "x\n" };
		await it.tool("write_file").run(written, context("w"));
		expect(await it.tool("write_file").became?.(written, context("w"))).toMatchObject({ state: "ended", outcome: { failed: false } });
		expect(await it.tool("read_file").became?.({ path: written.path }, context("r"))).toEqual({ state: "never" });
		await it.task.terminal({ command: `rm ${written.path}` });
	});
});

const linesIn = (text: string): number => text.split("\n").length - 1;

async function untilPrinted(runtime: Runtime, call: string): Promise<void> {
	const printed = (one: Process): boolean => one.spec.call === call && one.read(0, 1).bytes.length > 0;
	while (!runtime.list({ task: "talk" }).some(printed)) await new Promise((resolve) => setTimeout(resolve, 5));
}
