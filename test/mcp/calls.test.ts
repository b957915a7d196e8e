import path from "node:path";
import { Client, InMemoryTransport, type Progress } from "@modelcontextprotocol/client";
import { expect, test } from "vitest";
import { readIfThere } from "../../src/base/files.js";
import { type Identity, isAlive, readStat } from "../../src/base/proc.js";
import { isTimeout, patienceOf } from "../../src/doors/mcp/cancel.js";
import { createServer } from "../../src/doors/mcp/index.js";
import { atEnd, tempDir, testRuntime, until } from "../support/home.js";
import type { Runtime } from "../support/internal.js";
import { gate, type Result } from "../support/mcp.js";

test("without a progress token a call answers in time, and what runs goes on", async () => {
	const { call } = await connect(await withShell(), { answerMs: 1_500 }); // time enough to begin
	const door = gate();
	const result = await call("terminal", { command: door.command, timeout: 600 });
	expect(result).toMatchObject({ status: "running", exit_code: null, output: "started\n" });
	expect(result.note).toContain(`process(action="wait", session_id="${result.session_id}")`);
	const waited = await call("process", { action: "wait", session_id: result.session_id });
	expect(waited).toMatchObject({ status: "running", timed_out: true });
	door.open();
	expect(await call("process", { action: "wait", session_id: result.session_id })).toMatchObject({ status: "exited", output: "started\nfinished\n" });
});

test("no action takes longer than that, not even writing to a program that does not read", async () => {
	const { call } = await connect(await withShell(), { answerMs: 1_500 });
	const { session_id } = await call("terminal", { command: "sleep 1000", background: true });
	const result = await call("process", { action: "write", session_id, data: "x".repeat(1_000_000) });
	expect(result).toMatchObject({ status: "error", error: expect.stringContaining("does not read") });
});

test("a call with a progress token takes the time it was given, and reports progress", async () => {
	const { call } = await connect(await testRuntime(), { answerMs: 1 });
	const door = gate();
	const heard: Progress[] = [];
	const result = await call("terminal", { command: door.command }, { onprogress: (progress) => heard.push(progress) && heard.length >= 2 && door.open() });
	expect(result).toMatchObject({ status: "exited", output: "started\nfinished\n" });
	const [first, second] = heard as [Progress, Progress];
	expect(second.progress).toBeGreaterThan(first.progress);
	expect(first.message).toContain("it runs for");
});

test("a cancelled call ends its command and everything it started, and leaves the shell as it is", async () => {
	const { call } = await connect(await testRuntime());
	await call("terminal", { command: "cd /tmp; x=kept" });
	const file = path.join(tempDir(), "pid");
	const cancel = new AbortController();
	const cut = call("terminal", { command: `sh -c 'echo $$ >${file}; exec sleep 1000' & wait` }, { signal: cancel.signal });
	await until("the command runs", () => Number(readIfThere(file)) > 0);
	const child = readStat(Number(readIfThere(file))) as Identity;
	cancel.abort("not needed any more");
	await expect(cut).rejects.toThrow("not needed any more");
	const next = await call("terminal", { command: "pwd; echo $x" });
	expect(next).toMatchObject({ output: "/tmp\nkept\n" });
	expect(next.note).toBeUndefined(); // in the very same shell, not in one beside it
	expect(isAlive(child)).toBe(false);
});

test("what a cancelled call has ended stays in the list, with what it printed", async () => {
	const { call } = await connect(await testRuntime());
	const door = gate();
	const cancel = new AbortController();
	const cut = call("terminal", { command: door.command }, { signal: cancel.signal });
	await until("the command runs", door.started);
	cancel.abort("the person pressed Esc");
	await expect(cut).rejects.toThrow("Esc");
	const { processes } = await call("process", { action: "list" });
	expect(processes).toMatchObject([{ status: "killed", exit_code: 130, command: door.command, output_preview: "started\n" }]);
});

test.each([false, true])("a client's own time-out moves the command to the background, and the next result says so (pty: %s)", async (pty) => {
	const { call } = await connect(await withShell());
	const door = gate();
	const cut = call("terminal", { command: `${door.command}; cd /var`, pty }, { timeout: 1_500 });
	await until("the command runs", door.started);
	await expect(cut).rejects.toThrow("timed out");
	const next = await call("terminal", { command: "cd /usr; x=1" });
	const id = /goes on as (proc_[0-9a-f]{12}); do not start it again/.exec(next.note ?? "")?.[1] as string;
	expect(next.note).not.toContain("another command of this task");
	expect((await call("process", { action: "list" })).processes).toMatchObject([{ session_id: id, status: "running" }]);
	door.open();
	expect(await call("process", { action: "wait", session_id: id })).toMatchObject({ status: "exited", exit_code: 0 });
	expect(await call("terminal", { command: "pwd; echo $x" })).toMatchObject({ output: "/usr\n1\n" });
});

test.each([
	["McpError: MCP error -32001: Request timed out", 15_000, true],
	["SdkError: Request timed out", 15_000, true],
	["timeout of 5000 ms exceeded", 5_000, true],
	["MCP response future dropped", 299_900, true], // Codex says that for everything: this is its limit
	["MCP response future dropped", 660_010, true],
	["MCP response future dropped", 20_000, false],
	[undefined, 60_000, true],
	[undefined, 30_000, false],
	["AbortError: the person pressed Esc", 290_000, false],
])("a cancel because of %j after %i ms is a time-out: %s", (reason, ms, expected) => {
	expect(isTimeout(reason, ms)).toBe(expected);
});

test("clients that give up whatever progress they are told of are answered before", () => {
	expect(patienceOf("codex-mcp-client")).toBeLessThan(300_000);
	expect(patienceOf("gemini-cli-mcp-client-holdfast")).toBeLessThan(600_000);
	expect(patienceOf("claude-code")).toBeUndefined();
});

test("a wait that is taken back touches nothing", async () => {
	const { call } = await connect(await testRuntime());
	const { session_id } = await call("terminal", { command: "sleep 1000", background: true });
	const cancel = new AbortController();
	const waiting = call("process", { action: "wait", session_id }, { signal: cancel.signal });
	cancel.abort("enough");
	await expect(waiting).rejects.toThrow("enough");
	expect((await call("process", { action: "poll", session_id })).status).toBe("running");
});

test("a connection that closes takes nothing back", async () => {
	const runtime = await testRuntime();
	const { call, client } = await connect(runtime, { task: "mine" });
	const door = gate();
	const cut = call("terminal", { command: `sh -c '${door.command}'; x=$?` }); // a signal would end the inner shell at once
	await until("the command runs", door.started);
	await client.close();
	await expect(cut).rejects.toThrow();
	const again = await connect(runtime, { task: "mine" });
	for (let i = 0; i < 3; i++) expect((await again.call("terminal", { command: "sleep 0.1" })).note).toContain("another command of this task is running");
	door.open();
	await until("the command has ended", () => runtime.list({ task: "mine", ended: false }).length === 0);
	expect((await again.call("terminal", { command: "echo $x" })).output).toBe("0\n");
});

test("calls of one client do not wait for each other", async () => {
	const { call } = await connect(await testRuntime());
	const door = gate();
	const slow = call("terminal", { command: door.command });
	await until("the command runs", door.started);
	expect(await call("terminal", { command: "echo quick" })).toMatchObject({
		output: "quick\n",
		note: expect.stringContaining("another command of this task is running"),
	});
	door.open();
	expect((await slow).output).toBe("started\nfinished\n");
});

test.each([
	["terminal", {}, "command"],
	["terminal", { command: 5 }, "command must be a string"],
	["terminal", { command: "true", timeout: 0 }, "timeout"],
	["terminal", { command: "true", timeout: -1 }, "timeout"],
	["terminal", { command: "true", workdir: "/etc/passwd" }, "/etc/passwd"],
	["process", { action: "dance" }, "list"],
	["process", { action: "poll" }, "session_id"],
	["process", { action: "poll", session_id: "proc_000000000000" }, "proc_000000000000"],
] as const)("what is wrong with %s %j is said in the result", async (name, args, sentence) => {
	const { client } = await connect(await testRuntime());
	const result = await client.callTool({ name, arguments: args });
	expect(result.isError).toBe(true);
	expect(result.structuredContent).toMatchObject({ status: expect.stringMatching(/^(error|not_found)$/), error: expect.stringContaining(sentence) });
	expect(result.content).toMatchObject([{ type: "text", text: expect.stringContaining(sentence) }]);
});

test("parameters that a client adds on its own fail none of the tools", async () => {
	const { client } = await connect(await testRuntime());
	const dir = tempDir();
	const calls: Record<string, Record<string, unknown>> = {
		terminal: { command: "true" },
		process: { action: "list" },
		write_file: { path: `${dir}/a`, content: "a\n" },
		read_file: { path: `${dir}/a` },
		patch: { path: `${dir}/a`, old_string: "a", new_string: "b" },
		search_files: { pattern: "b", path: dir },
		upload: { source: `${dir}/a`, target: `${dir}/b` },
		download: { source: `${dir}/b`, target: `${dir}/c` },
	};
	for (const [name, args] of Object.entries(calls)) {
		const result = await client.callTool({ name, arguments: { ...args, wait_for_previous: true, of_its_own: 1 } });
		const { error, note } = result.structuredContent as Result;
		expect([name, result.isError, error]).toEqual([name, undefined, null]);
		expect(note).toContain('Ignored: "of_its_own"');
		expect(note).not.toContain("wait_for_previous");
	}
});

test("a timeout above the cap is cut, and a command that fails is no error of the tool", async () => {
	const { client } = await connect(await testRuntime());
	const result = await client.callTool({ name: "terminal", arguments: { command: "false", timeout: 10 ** 9 } });
	expect(result.isError).toBeUndefined();
	expect(result.structuredContent).toMatchObject({ status: "exited", exit_code: 1, timeout_note: expect.stringContaining("600") });
});

/** A client in this program. */
/** A runtime that need not wait for a shell. */
async function withShell(): Promise<Runtime> {
	const runtime = await testRuntime();
	await runtime.terminal({ command: "true" }, { task: "test" });
	return runtime;
}

async function connect(runtime: Runtime, options: { answerMs?: number; task?: string } = {}) {
	const [ours, theirs] = InMemoryTransport.createLinkedPair();
	const server = createServer(runtime, { task: "test", ...options });
	await server.connect(theirs);
	const client = new Client({ name: "test", version: "1" });
	atEnd(() => client.close());
	await client.connect(ours);
	return {
		client,
		call: async (name: string, args: Record<string, unknown>, request?: Parameters<Client["callTool"]>[1]) =>
			(await client.callTool({ name, arguments: args }, request)).structuredContent as Result,
	};
}
