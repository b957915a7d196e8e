import { spawn } from "node:child_process";
import { once } from "node:events";
import fs from "node:fs";
import path from "node:path";
import { createInterface } from "node:readline";
import { PassThrough, Readable } from "node:stream";
import { setImmediate as breathe, setTimeout as sleep } from "node:timers/promises";
import { describe, expect, test } from "vitest";
import { readIfThere } from "../../src/base/files.js";
import { type Identity, isAlive, readStat } from "../../src/base/proc.js";
import { serveStdio } from "../../src/doors/mcp/index.js";
import { standardIo } from "../../src/doors/mcp/standard-io.js";
import { CLI } from "../support/cli.js";
import { atEnd, tempDir, testRuntime, until } from "../support/home.js";
import { openRuntime } from "../support/internal.js";
import { GENERATIONS, gate, overStdio, testHome } from "../support/mcp.js";

describe.each(GENERATIONS)("holdfast mcp, protocol %s", (generation) => {
	test("lists the tools with schemas and annotations, and says how to use them", async () => {
		const { client } = await overStdio(testHome(), [], { generation });
		expect(client.getNegotiatedProtocolVersion()).toBe(generation);
		expect(client.getServerVersion()?.name).toBe("holdfast");
		expect(client.getInstructions()).toContain('process(action="list")');
		const { tools } = await client.listTools();
		expect(tools.map(({ name }) => name)).toEqual(["terminal", "process", "read_file", "write_file", "patch", "search_files", "upload", "download"]);
		for (const tool of tools) {
			expect(tool.inputSchema.type).toBe("object");
			expect(tool.outputSchema?.type).toBe("object");
			const changes = !["read_file", "search_files"].includes(tool.name);
			expect(tool.annotations).toMatchObject({ readOnlyHint: !changes, destructiveHint: changes });
			expect(tool._meta).toEqual({
				"anthropic/maxResultSizeChars": 200_000,
				...(["terminal", "process"].includes(tool.name) ? { "anthropic/alwaysLoad": true } : {}),
			});
		}
	});

	test("runs commands in one shell, with text beside the structured result", async () => {
		const { client, call } = await overStdio(testHome(), [], { generation });
		await call("terminal", { command: "cd /tmp; x=kept" });
		const result = await client.callTool({ name: "terminal", arguments: { command: "pwd; echo $x; exit 3" } });
		expect(result.structuredContent).toMatchObject({ status: "exited", output: "/tmp\nkept\n", exit_code: 3 });
		expect(result.content).toEqual([{ type: "text", text: expect.stringContaining("/tmp\nkept") }]);
		expect(result.isError).toBeUndefined();
	});

	test("starts in the directory where the server was started, as a task of its own", async () => {
		const home = testHome();
		const [one, other] = [await overStdio(home, [], { generation }), await overStdio(home, [], { generation })];
		expect((await one.call("terminal", { command: "x=1; pwd" })).output).toBe(`${process.cwd()}\n`);
		expect((await other.call("terminal", { command: 'echo "[$x]"' })).output).toBe("[]\n");
		const { session_id } = await one.call("terminal", { command: "sleep 1000", background: true });
		expect((await one.call("process", { action: "list" })).processes).toMatchObject([{ session_id }]);
		expect((await other.call("process", { action: "list" })).processes).toEqual([]);
	});
});

test("two servers on one home share a task that both name, slashes and all", async () => {
	const home = testHome();
	const args = ["--task", "team/web site"];
	const [one, other] = [await overStdio(home, args), await overStdio(home, args, { generation: "2026-07-28" })];
	await one.call("terminal", { command: "cd /tmp; x=shared" });
	expect((await other.call("terminal", { command: "pwd; echo $x" })).output).toBe("/tmp\nshared\n");
	const { session_id } = await other.call("terminal", { command: "sleep 1000", background: true });
	expect((await one.call("process", { action: "poll", session_id })).status).toBe("running");
});

test.each(GENERATIONS)("a server that is started again finds what the one before has left, without a name for it (%s)", async (generation) => {
	const home = testHome();
	const name = "some client";
	const first = await overStdio(home, [], { generation, name });
	expect((await first.call("terminal", { command: "cd /tmp; x=kept" })).note).toBeUndefined();
	const { session_id } = await first.call("terminal", { command: "sleep 1000", background: true });
	const tickets = () => fs.readdirSync(path.join(home, "ended"), { recursive: true, encoding: "utf8" }).filter((name) => name.includes("proc_"));
	await until("the first command is of the transcript only", () => tickets().every((name) => name.endsWith(".ranges"))); // killed before that, the server would leave it in the list
	const server = identify(first.transport.pid);
	process.kill(server.pid, "SIGKILL");
	await until("the server is dead", () => !isAlive(server));
	const again = await overStdio(home, [], { generation, name });
	const { processes, note } = await again.call("process", { action: "list" });
	expect(processes).toMatchObject([{ session_id, status: "running" }]);
	expect(note).toContain(
		`An earlier server of this client was at work in this directory: your shell goes on with its directory and variables, and 1 process runs: ${session_id}`,
	);
	const next = await again.call("terminal", { command: "pwd; echo $x" });
	expect([next.output, next.note]).toEqual(["/tmp\nkept\n", undefined]);
	// One that lives at the same time has a task of its own, and is told of the other; another client is told nothing.
	const beside = await overStdio(home, [], { generation, name });
	const told = await beside.call("process", { action: "list" });
	expect(told).toMatchObject({ processes: [], note: expect.stringContaining(`in a task of its own: there 1 process runs: ${session_id}`) });
	const other = await overStdio(home, [], { generation, name: "another client" });
	expect((await other.call("process", { action: "list" })).note).not.toContain("server of this client");
	// After a normal end the shell's state is there too.
	await again.client.close();
	const third = await overStdio(home, [], { generation, name });
	expect((await third.call("terminal", { command: "pwd; echo $x" })).output).toBe("/tmp\nkept\n");
});

test("a server that cannot take the task of its client answers all the same, in a new task, and says so", async () => {
	const home = testHome();
	fs.writeFileSync(path.join(home, "mcp"), "in the way");
	const server = await rawServer(home);
	server.send(initialize);
	expect((await server.answer(1)).result).toBeDefined();
	server.send({ jsonrpc: "2.0", id: 2, method: "tools/call", params: { name: "terminal", arguments: { command: "echo ok" } } });
	const note = expect.stringContaining("a later one finds nothing of this one: EEXIST");
	expect((await server.answer(2)).result?.structuredContent).toMatchObject({ status: "exited", output: "ok\n", note });
});

test("a server whose directory is gone says that", async () => {
	const gone = tempDir();
	const server = await rawServer(testHome(), [], { cwd: gone, first: `rmdir ${gone}` });
	server.send(initialize);
	expect((await server.answer(1)).result).toBeDefined();
	server.send({ jsonrpc: "2.0", id: 2, method: "tools/call", params: { name: "terminal", arguments: { command: "echo ok" } } });
	expect((await server.answer(2)).result?.structuredContent).toMatchObject({ status: "error", error: expect.stringContaining("was started in is gone") });
});

test("nothing but the protocol is on stdout, also when it is sent nonsense", async () => {
	const server = await rawServer(testHome());
	server.child.stdin.write('this is no JSON\n{"jsonrpc":"2.0"}\n[]\n\n');
	server.send(initialize);
	server.send({ jsonrpc: "2.0", id: 2, method: "tools/call", params: { name: "nothing", arguments: {} } });
	server.send({ jsonrpc: "2.0", id: 3, method: "tools/call", params: { name: "process", arguments: { action: "dance" } } });
	const [unknown, refused] = [await server.answer(2), await server.answer(3)];
	expect(unknown.error?.message).toContain("there are terminal, process, read_file");
	expect(refused.result?.isError).toBe(true);
	expect(refused.result?.structuredContent).toMatchObject({ status: "error", error: expect.stringContaining("list") });
	server.child.stdin.end();
	expect(await server.exited).toBe(0);
	for (const line of server.lines()) expect(JSON.parse(line)).toMatchObject({ jsonrpc: "2.0" });
});

test("ends with its stdin and leaves no shell behind, only what runs in the background", async () => {
	const home = testHome();
	const { call, client, transport } = await overStdio(home);
	await call("terminal", { command: "x=1" });
	const { session_id, pid } = await call("terminal", { command: "sleep 1000", background: true });
	const server = identify(transport.pid);
	await client.close();
	await until("the server has ended", () => !isAlive(server));
	await using runtime = await openRuntime({ home, warm: 0 });
	await until("the shell has ended", () => runtime.list({ task: null, shells: true, ended: false }).length === 1);
	expect(runtime.list({ task: null, ended: false })).toMatchObject([{ id: session_id, pid }]);
});

test.each(["SIGTERM", "SIGINT", "SIGHUP"] as const)("%s ends it properly", async (signal) => {
	const server = await rawServer(testHome());
	server.send(initialize);
	await server.answer(1);
	server.child.kill(signal);
	expect(await server.exited).toBe(0);
});

test.each(["SIGINT", "SIGTERM", "SIGINT twice", "end of input"])("a call that is taken back right before or after %s ends its command", async (how) => {
	const home = testHome();
	const server = await rawServer(home, ["--task", "mine"]);
	const file = path.join(tempDir(), "pid");
	server.send(initialize);
	server.send({
		jsonrpc: "2.0",
		id: 2,
		method: "tools/call",
		params: { name: "terminal", arguments: { command: `sh -c 'echo $$ >${file}; exec sleep 1000'` } },
	});
	await until("the command runs", () => Number(readIfThere(file)) > 0);
	const command = identify(Number(readIfThere(file)));
	if (how !== "end of input") server.child.kill(how.split(" ")[0] as NodeJS.Signals);
	if (how === "SIGINT twice") {
		await sleep(20); // as Claude Code does: at once they would be one
		server.child.kill("SIGINT");
	}
	server.send({ jsonrpc: "2.0", method: "notifications/cancelled", params: { requestId: 2, reason: "interrupted" } });
	if (how === "end of input") server.child.stdin.end();
	expect(await server.exited).toBe(0);
	expect(isAlive(command)).toBe(false);
});

test("a client that does not read is not read either, until it does: then every answer is there", async () => {
	const asked = 200;
	const input = Readable.from(requests(asked));
	const output = new PassThrough();
	const wire = standardIo(input, output);
	serveStdio(await testRuntime(), { task: "slow reader", wire });
	atEnd(() => wire.close());
	await until("it does not read any more", () => input.isPaused());
	expect(output.readableLength + output.writableLength).toBeLessThan(3 * 1024 * 1024); // of 7 MB

	const ids: unknown[] = [];
	createInterface(output).on("line", (line) => ids.push((JSON.parse(line) as Answer).id));
	await until("all is answered", () => ids.length === asked);
	expect(ids).toEqual(Array.from({ length: asked }, (_, index) => index + 1));
});

test("the server ends on SIGTERM, even with unread answers", async () => {
	const child = spawn(process.execPath, [CLI, "mcp"], { env: { ...process.env, HOLDFAST_HOME: testHome() }, stdio: ["pipe", "pipe", "ignore"] });
	const exited = once(child, "exit");
	atEnd(() => void child.kill("SIGKILL"));
	child.stdin.write(`${JSON.stringify(initialize)}\n`);
	await once(child.stdout, "readable");
	for (let id = 2; id < 200; id++) child.stdin.write(`${JSON.stringify({ jsonrpc: "2.0", id, method: "tools/list" })}\n`);
	await until("all it takes is on its way", () => child.stdout.readableLength >= child.stdout.readableHighWaterMark);
	child.kill("SIGTERM");
	expect(await exited).toEqual([0, null]);
});

test("a file of many megabytes is written in one call, and the connection is still there", async () => {
	const server = await rawServer(testHome());
	const file = path.join(tempDir(), "large");
	server.send(initialize);
	const args = { path: file, content: "x".repeat(12 * 1024 * 1024) };
	server.send({ jsonrpc: "2.0", id: 2, method: "tools/call", params: { name: "write_file", arguments: args } });
	expect((await server.answer(2)).result?.structuredContent).toMatchObject({ status: "ok", bytes: args.content.length });
	server.send({ jsonrpc: "2.0", id: 3, method: "ping" });
	expect((await server.answer(3)).result).toEqual({});
});

test("a client that is killed in the middle of a call takes nothing with it, and finds everything when it returns", async () => {
	const home = testHome();
	const door = gate();
	const args = ["--task", "comes back"];
	const command = `x=before; cd /tmp; ${door.command}; x=after`;
	const client = spawn(process.execPath, [path.resolve("test/fixtures/mcp-client.mjs"), home, command, ...args], { stdio: ["ignore", "pipe", "inherit"] });
	const [pid] = (await once(client.stdout, "data")) as [Buffer];
	const server = identify(Number(pid));
	await until("the command runs", door.started);
	client.kill("SIGKILL");
	await until("the server has noticed", () => !isAlive(server));

	const { call } = await overStdio(home, args);
	const { processes } = await call("process", { action: "list" });
	expect(processes).toMatchObject([{ status: "running", command }]);
	door.open();
	const session_id = processes?.[0]?.session_id;
	expect(await call("process", { action: "wait", session_id })).toMatchObject({ status: "exited", exit_code: 0, output: "started\nfinished\n" });
	expect((await call("terminal", { command: "pwd; echo $x" })).output).toBe("/tmp\nafter\n");
});

test.each([
	[["--port", "1"], "--port goes with --http"],
	[["extra"], '"extra" is not expected'],
	[["--http", "--port", "high"], "--port takes a whole number"],
	[["--http", "--host", "0.0.0.0"], "--token-file"],
])("refuses %j", async (args, sentence) => {
	const server = await rawServer(tempDir("home"), args);
	expect(await server.exited).toBe(2);
	expect(server.stderr()).toContain(sentence);
});

const initialize = {
	jsonrpc: "2.0",
	id: 1,
	method: "initialize",
	params: { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "raw", version: "1" } },
};

/** So many, each when the one before has been read. */
async function* requests(count: number): AsyncGenerator<Buffer> {
	for (let id = 1; id <= count; id++) {
		yield Buffer.from(`${JSON.stringify(id === 1 ? initialize : { jsonrpc: "2.0", id, method: "tools/list" })}\n`);
		await breathe();
	}
}

interface Answer {
	id?: number;
	error?: { message: string };
	result?: Record<string, unknown>;
}

const identify = (pid: number | null): Identity => readStat(pid as number) as Identity;

/** `holdfast mcp` without a client: what it prints is looked at as it is. */
async function rawServer(home: string, args: readonly string[] = [], { cwd, first = ":" }: { cwd?: string; first?: string } = {}) {
	const env = { ...process.env, HOLDFAST_HOME: home };
	const child = spawn("sh", ["-c", `${first}; exec "$@"`, "sh", process.execPath, CLI, "mcp", ...args], { ...(cwd ? { cwd } : {}), env });
	let out = "";
	let err = "";
	child.stdout.setEncoding("utf8").on("data", (text: string) => {
		out += text;
	});
	child.stderr.setEncoding("utf8").on("data", (text: string) => {
		err += text;
	});
	const exited = once(child, "close").then(([code]) => code as number | null);
	atEnd(async () => {
		child.kill("SIGKILL");
		await exited;
	});
	const lines = () => out.split("\n").slice(0, -1);
	return {
		child,
		exited,
		lines,
		stderr: () => err,
		send: (message: unknown) => void child.stdin.write(`${JSON.stringify(message)}\n`),
		answer: async (id: number): Promise<Answer> => {
			const find = () =>
				lines()
					.map((line) => JSON.parse(line) as Answer)
					.find((message) => message.id === id);
			await until(`an answer to ${id}`, () => find() !== undefined);
			return find() as Answer;
		},
	};
}
