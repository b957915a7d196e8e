import { expect, test } from "vitest";
import { testRuntime, until } from "../support/home.js";
import { cutOff, gate, overHttp, overStdio, type Served, testHome } from "../support/mcp.js";

const TASKS = "io.modelcontextprotocol/tasks";

test("a call that takes longer becomes a task for a client that knows those, and the task gets the result", async () => {
	const served = await overHttp(await testRuntime(), { quickMs: 100 });
	const door = gate();
	const { result: created } = await rpc(served, "tools/call", { name: "terminal", arguments: { command: `${door.command}; exit 3` } });
	expect(created).toMatchObject({ resultType: "task", status: "working", ttlMs: expect.any(Number), pollIntervalMs: expect.any(Number) });
	expect((await get(served, created)).result).toMatchObject({ resultType: "complete", taskId: created?.taskId, status: "working" });
	door.open();
	const { result } = await ended(served, created);
	expect(result).toMatchObject({ status: "completed", result: { structuredContent: { status: "exited", exit_code: 3, output: "started\nfinished\n" } } });
});

test("a task reports its progress as long as it runs", async () => {
	const served = await overHttp(await testRuntime(), { quickMs: 100 });
	const door = gate();
	const { result: created } = await rpc(served, "tools/call", { name: "terminal", arguments: { command: door.command } });
	let message: unknown;
	while (message === undefined) message = (await get(served, created)).result?.statusMessage;
	expect(message).toMatch(/^it runs in the background as proc_[0-9a-f]{12}$/);
	door.open();
	const { result } = await ended(served, created);
	expect(result).toMatchObject({ status: "completed" });
	expect(result).not.toHaveProperty("statusMessage");
});

test("what becomes a task moves to the background: the shell is free, and keeps what the next command changes", async () => {
	const served = await overHttp(await testRuntime(), { quickMs: 100 });
	await shellFor(served, "?task=mine");
	const { call } = await served.connect({ generation: "2026-07-28", query: "?task=mine" });
	const door = gate();
	const { result: created } = await rpc(
		served,
		"tools/call",
		{ name: "terminal", arguments: { command: `${door.command}; cd /var` } },
		{ query: "?task=mine" },
	);
	expect(created).toMatchObject({ resultType: "task" });
	await until("it is in the background", () => !served.door.busy);
	const next = await call("terminal", { command: "cd /usr; y=2" });
	expect(next).toMatchObject({ status: "exited", note: expect.stringMatching(/^An earlier call .* goes on in the background as proc_[0-9a-f]{12}/) });
	expect(next.note).not.toContain("another command of this task is running");
	expect((await call("terminal", { command: "pwd; echo $y" })).output).toBe("/usr\n2\n");
	door.open();
	const { result } = await ended(served, created, "?task=mine");
	expect(result).toMatchObject({ status: "completed", result: { structuredContent: { status: "exited", exit_code: 0, output: "started\nfinished\n" } } });
});

test("a quick call is answered as always", async () => {
	const served = await overHttp(await testRuntime());
	const { result } = await rpc(served, "tools/call", { name: "terminal", arguments: { command: "echo quick" } });
	expect(result).toMatchObject({ resultType: "complete", structuredContent: { output: "quick\n" } });
});

test("a client that knows tasks and is gone before its call is one takes nothing with it", async () => {
	const served = await overHttp(await testRuntime(), { quickMs: 60_000 });
	const door = gate();
	await cutOff(served, "2026-07-28", door.command, door.started, { extensions: { [TASKS]: {} } });
	const { call } = await served.connect({ generation: "2026-07-28", query: "?task=mine" }); // and by now it has seen the other go
	door.open();
	await until("the call has ended", () => !served.door.busy);
	expect((await call("process", { action: "list" })).processes).toMatchObject([{ status: "exited", exit_code: 0, output_preview: "started\nfinished\n" }]);
});

test("a client that does not declare tasks never sees one", async () => {
	const served = await overHttp(await testRuntime(), { quickMs: 1, answerMs: 1_500 });
	const run = (command: string) => rpc(served, "tools/call", { name: "terminal", arguments: { command } }, { declared: false });
	while ((await run("true")).result?.isError); // the birth of the shell counts, and goes on when the time is up
	const { result } = await run("sleep 1000");
	expect(result).toMatchObject({ resultType: "complete", structuredContent: { status: "running" } });
	const refused = await rpc(served, "tasks/get", { taskId: "any" }, { declared: false });
	expect(refused).toMatchObject({ httpStatus: 400, error: { code: -32_021, data: { requiredCapabilities: { extensions: { [TASKS]: {} } } } } });
});

test("tasks/cancel ends the command", async () => {
	const runtime = await testRuntime();
	const served = await overHttp(runtime, { quickMs: 100 });
	await shellFor(served);
	const { result: created } = await rpc(served, "tools/call", { name: "terminal", arguments: { command: "sleep 1000" } });
	expect((await rpc(served, "tasks/cancel", { taskId: created?.taskId })).result).toMatchObject({ resultType: "complete" });
	expect((await ended(served, created)).result).toMatchObject({ status: "cancelled" });
	expect(runtime.list({ task: null, ended: false })).toEqual([]);
	expect((await rpc(served, "tasks/cancel", { taskId: created?.taskId })).error).toBeUndefined(); // twice is once
});

test("an MCP task is visible only to the Holdfast task that made it", async () => {
	const served = await overHttp(await testRuntime(), { quickMs: 100 });
	await shellFor(served, "?task=mine");
	const { result: created } = await rpc(served, "tools/call", { name: "terminal", arguments: { command: "sleep 1000" } }, { query: "?task=mine" });
	const params = { taskId: created?.taskId };
	expect((await rpc(served, "tasks/get", params, { query: "?task=mine" })).result).toMatchObject({ status: "working" });
	for (const method of ["tasks/get", "tasks/update", "tasks/cancel"])
		expect((await rpc(served, method, { ...params, inputResponses: {} }, { query: "?task=other" })).error?.code).toBe(-32_602);
	expect((await rpc(served, "tasks/cancel", params, { query: "?task=mine" })).error).toBeUndefined();
	await until("the call behind it has ended", () => !served.door.busy);
});

test("only the newer protocol offers them", async () => {
	const home = testHome();
	expect((await overStdio(home, [], { generation: "2026-07-28" })).client.getServerCapabilities()?.extensions).toEqual({ [TASKS]: {} });
	expect((await overStdio(home, [], { generation: "2025-11-25" })).client.getServerCapabilities()?.extensions).toBeUndefined();
});

/** A birth goes on when the call that needed it is cancelled; so it comes before. */
async function shellFor(served: Served, query = ""): Promise<void> {
	const { result } = await rpc(served, "tools/call", { name: "terminal", arguments: { command: "true" } }, { declared: false, query });
	expect(result).toMatchObject({ resultType: "complete", structuredContent: { exit_code: 0 } });
}

interface Answer {
	httpStatus: number;
	result?: Record<string, unknown>;
	error?: { code: number; message: string; data?: unknown };
}

/** One request of the newer protocol, as the SDK's client cannot send it: it takes no task for an answer. */
async function rpc(served: Served, method: string, params: Record<string, unknown>, { declared = true, query = "" } = {}): Promise<Answer> {
	const _meta = {
		"io.modelcontextprotocol/protocolVersion": "2026-07-28",
		"io.modelcontextprotocol/clientCapabilities": declared ? { extensions: { [TASKS]: {} } } : {},
	};
	const response = await fetch(served.url + query, {
		method: "POST",
		headers: {
			Authorization: `Bearer ${served.token}`,
			"Content-Type": "application/json",
			Accept: "application/json, text/event-stream",
			"MCP-Protocol-Version": "2026-07-28",
			"Mcp-Method": method,
			"Mcp-Name": String(params.name ?? params.taskId),
		},
		body: JSON.stringify({ jsonrpc: "2.0", id: 1, method, params: { ...params, _meta } }),
	});
	return { httpStatus: response.status, ...((await response.json()) as Omit<Answer, "httpStatus">) };
}

const get = (served: Served, created: Answer["result"], query = ""): Promise<Answer> => rpc(served, "tasks/get", { taskId: created?.taskId }, { query });

async function ended(served: Served, created: Answer["result"], query = ""): Promise<Answer> {
	let answer = await get(served, created, query);
	while (answer.result?.status === "working") answer = await get(served, created, query);
	return answer;
}
