import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import fs from "node:fs";
import { describe, expect, test } from "vitest";
import { CLI, cli } from "../support/cli.js";
import { atEnd, testRuntime, until } from "../support/home.js";
import { connectTo, cutOff, GENERATIONS, gate, overHttp, testHome } from "../support/mcp.js";
import { freePort } from "../support/ports.js";

describe.each(GENERATIONS)("/mcp, protocol %s", (generation) => {
	test("lists and runs the tools", async () => {
		const { connect } = await overHttp(await testRuntime());
		const { client, call } = await connect({ generation });
		expect(client.getNegotiatedProtocolVersion()).toBe(generation);
		expect((await client.listTools()).tools.map(({ name }) => name)).toEqual([
			"terminal",
			"process",
			"read_file",
			"write_file",
			"patch",
			"search_files",
			"upload",
			"download",
		]);
		await call("terminal", { command: "cd /tmp; x=kept" });
		expect(await call("terminal", { command: "pwd; echo $x" })).toMatchObject({ output: "/tmp\nkept\n", exit_code: 0 });
	});

	test("a task named in the URL is shared by all its clients", async () => {
		const { connect } = await overHttp(await testRuntime());
		const query = "?task=team%2Fsite";
		const [one, two, other] = [await connect({ generation, query }), await connect({ generation, query }), await connect({ generation, query: "?task=other" })];
		await one.call("terminal", { command: "x=shared" });
		expect((await two.call("terminal", { command: "echo $x" })).output).toBe("shared\n");
		expect((await other.call("terminal", { command: 'echo "[$x]"' })).output).toBe("[]\n");
	});

	test("--task is the task of every client, whatever the URL says", async () => {
		const runtime = await testRuntime();
		const { connect } = await overHttp(runtime, { task: "fixed" });
		await (await connect({ generation, query: "?task=other" })).call("terminal", { command: "sleep 1000", background: true });
		expect(runtime.list({ task: "fixed" })).toHaveLength(1);
	});

	test("a client that is gone in the middle of a call takes nothing with it", async () => {
		const runtime = await testRuntime();
		const served = await overHttp(runtime);
		const door = gate();
		const gone = await cutOff(served, generation, `cd /tmp; ${door.command}; x=after`, door.started);
		door.open();
		await until("the call has ended", () => !served.door.busy);
		const { call } = await served.connect({ generation, query: "?task=mine" });
		const { processes } = await call("process", { action: "list" });
		expect(processes).toMatchObject([{ status: "exited", exit_code: 0, output_preview: "started\nfinished\n" }]);
		expect((await call("terminal", { command: "pwd; echo $x" })).output).toBe("/tmp\nafter\n");
		expect(gone.destroyed).toBe(true);
	});

	test("a call without a progress token answers in time", async () => {
		const runtime = await testRuntime();
		await runtime.terminal({ command: "true" }, { task: "mine" }); // its shell is there
		const { call } = await (await overHttp(runtime, { answerMs: 1_000 })).connect({ generation, query: "?task=mine" });
		expect(await call("terminal", { command: "sleep 1000", timeout: 600 })).toMatchObject({ status: "running", exit_code: null });
	});

	test("progress arrives while the call goes on", async () => {
		const { connect } = await overHttp(await testRuntime());
		const { call } = await connect({ generation });
		const door = gate();
		expect(await call("terminal", { command: door.command }, { onprogress: door.open })).toMatchObject({ status: "exited", output: "started\nfinished\n" });
	});
});

describe("sessions of the older protocol", () => {
	test("each is a task of its own, and its shell goes with it", async () => {
		const runtime = await testRuntime();
		const { connect, request } = await overHttp(runtime);
		const [one, other] = [await connect(), await connect()];
		await one.call("terminal", { command: "x=1" });
		expect((await other.call("terminal", { command: 'echo "[$x]"' })).output).toBe("[]\n");
		expect(runtime.list({ task: null, shells: true, ended: false })).toHaveLength(2);
		const session = one.transport.sessionId as string;
		await one.transport.terminateSession();
		await until("its shell has ended", () => runtime.list({ task: null, shells: true, ended: false }).length === 1);
		const answer = await request({ headers: { "mcp-session-id": session }, body: { jsonrpc: "2.0", id: 1, method: "tools/list" } });
		expect(answer.status).toBe(404); // so that the client starts again
	});

	test("a session that ends in the middle of a call leaves its command, and its shell ends after that", async () => {
		const runtime = await testRuntime();
		const { connect } = await overHttp(runtime);
		const { call, transport } = await connect();
		const door = gate();
		call("terminal", { command: door.command }).catch(() => {}); // it gets no answer
		await until("the command runs", door.started);
		await transport.terminateSession();
		door.open();
		await until("all has ended", () => runtime.list({ task: null, shells: true, ended: false }).length === 0);
	});

	test("a call that is cancelled ends its command", async () => {
		const runtime = await testRuntime();
		const { connect } = await overHttp(runtime);
		const { call } = await connect();
		const door = gate();
		const cancel = new AbortController();
		const cut = call("terminal", { command: door.command }, { signal: cancel.signal });
		await until("the command runs", door.started);
		cancel.abort("enough");
		await expect(cut).rejects.toThrow("enough");
		expect((await call("terminal", { command: "echo again" })).note).toBeUndefined();
		expect(runtime.list({ task: null, ended: false })).toEqual([]);
	});

	test("a client whose stream broke gets the result when it asks for the rest", async () => {
		const { connect, request, door: mcp } = await overHttp(await testRuntime());
		const { transport } = await connect();
		const headers = { "mcp-session-id": transport.sessionId as string, "mcp-protocol-version": "2025-11-25" };
		const door = gate();
		const body = { jsonrpc: "2.0", id: 7, method: "tools/call", params: { name: "terminal", arguments: { command: door.command } } };
		const reader = ((await request({ headers, body })).body as ReadableStream<Uint8Array>).getReader();
		const event = Buffer.from((await reader.read()).value as Uint8Array).toString("utf8");
		const id = /^id: (.*)$/m.exec(event)?.[1] as string;
		await reader.cancel();
		door.open();
		await until("the call has ended", () => !mcp.busy);
		const resume = () => request({ method: "GET", headers: { ...headers, "last-event-id": id } });
		let rest = await resume();
		while (rest.status === 409) rest = await resume(); // it has not noticed yet that the first stream is gone
		expect(await firstMatch(rest, /finished/)).toContain('"id":7');
	});

	test("idle ones are forgotten, and so is the oldest of too many", async () => {
		const { connect, request } = await overHttp(await testRuntime(), { limits: { sessions: 2 } });
		const ids = [];
		for (let i = 0; i < 3; i++) ids.push((await connect()).transport.sessionId as string);
		const list = (id: string | undefined) => request({ headers: { "mcp-session-id": id as string }, body: { jsonrpc: "2.0", id: 1, method: "tools/list" } });
		expect((await list(ids[0])).status).toBe(404);
		expect((await list(ids[1])).status).toBe(200);

		const brief = await overHttp(await testRuntime(), { limits: { idleMs: -1 } });
		const id = (await brief.connect().catch(() => undefined))?.transport.sessionId;
		expect(id).toBeUndefined(); // gone before its second request
	});

	test("a request of no session is refused with what to do", async () => {
		const { request } = await overHttp(await testRuntime());
		const answer = await request({ body: { jsonrpc: "2.0", id: 1, method: "tools/list" } });
		expect(answer.status).toBe(400);
		expect(await answer.text()).toContain("initialize");
		expect((await request({ method: "GET" })).status).toBe(400);
	});
});

test.each([
	["a body that is no JSON", { body: "{" }, 400],
	["another type", { body: "{}", headers: { "Content-Type": "text/plain" } }, 415],
	["too much", { body: `"${"x".repeat(5_000_000)}"` }, 413],
])("%s is refused", async (_what, init, status) => {
	const { request } = await overHttp(await testRuntime());
	expect((await request(init)).status).toBe(status);
});

test("a megabyte of command text is no problem", async () => {
	const runtime = await testRuntime();
	const { call } = await (await overHttp(runtime)).connect();
	const text = (size: number) => `: ${"x".repeat(size)}; echo fine`;
	expect((await call("terminal", { command: text(1_000_000) })).output).toBe("fine\n");
	const command = text(1_200_000); // more than is read to decide about it
	const { approval_id = "" } = await call("terminal", { command });
	await runtime.approvals.answer(approval_id, { answer: "once" });
	expect((await call("terminal", { command })).output).toBe("fine\n");
});

describe("holdfast mcp --http", () => {
	test("says where it is and where the token is, and ends properly", async () => {
		const home = testHome();
		const { url, token_file, child } = await program(home);
		expect(fs.statSync(token_file).mode & 0o777).toBe(0o600);
		const { call } = await connectTo(url, fs.readFileSync(token_file, "utf8").trim());
		expect((await call("terminal", { command: "echo over HTTP" })).output).toBe("over HTTP\n");
		child.kill("SIGTERM");
		expect(await once(child, "exit")).toEqual([0, null]);
	});

	test("a second one on the same home has the same token and shares what there is, on another port", async () => {
		const home = testHome();
		const [one, other] = await Promise.all([program(home), program(home)]);
		expect(other.token_file).toBe(one.token_file);
		const token = fs.readFileSync(one.token_file, "utf8").trim();
		await (await connectTo(`${one.url}?task=both`, token)).call("terminal", { command: "x=shared" });
		expect((await (await connectTo(`${other.url}?task=both`, token)).call("terminal", { command: "echo $x" })).output).toBe("shared\n");
		const { code, stderr } = await cli(home, ["mcp", "--http", "--port", new URL(one.url).port]);
		expect({ code, stderr }).toEqual({ code: 2, stderr: expect.stringContaining("something already listens") });
	});

	test("killed and started again, a client of the newer protocol does not even notice", async () => {
		const home = testHome();
		const { url, token_file, child } = await program(home, String(await freePort()));
		const { call } = await connectTo(url, fs.readFileSync(token_file, "utf8").trim(), { generation: "2026-07-28" });
		await call("terminal", { command: "cd /tmp; x=kept" });
		const { session_id } = await call("terminal", { command: "sleep 1000", background: true });
		child.kill("SIGKILL");
		await once(child, "exit");
		await program(home, new URL(url).port);
		expect((await call("terminal", { command: "pwd; echo $x" })).output).toBe("/tmp\nkept\n");
		expect(await call("process", { action: "poll", session_id })).toMatchObject({ status: "running" });
	});
});

/** `holdfast mcp --http`, on any port. */
async function program(home: string, port = "0"): Promise<{ url: string; token_file: string; child: ChildProcess }> {
	const child = spawn(process.execPath, [CLI, "mcp", "--http", "--port", port, "--json", "--home", home], { stdio: ["ignore", "pipe", "inherit"] });
	atEnd(async () => {
		if (child.exitCode === null && child.kill("SIGKILL")) await once(child, "exit");
	});
	const [line] = (await once(child.stdout, "data")) as [Buffer];
	return { ...(JSON.parse(line.toString("utf8")) as { url: string; token_file: string }), child };
}

async function firstMatch(response: Response, pattern: RegExp): Promise<string> {
	let text = "";
	for await (const chunk of response.body as unknown as AsyncIterable<Uint8Array>) {
		text += Buffer.from(chunk).toString("utf8");
		if (pattern.test(text)) break;
	}
	return text;
}
