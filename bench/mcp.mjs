/** A command through MCP: the real client, our server as a program of its own, stdio between them. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { Client } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { openRuntime } from "../dist/lib/index.js";
import { byTurns, endAll, median, percentile, timed } from "./lib.mjs";
import { atMost, row } from "./report.mjs";
import { terminalOf } from "./shell.mjs";

const SERVER = fileURLToPath(new URL("mcp-server.mjs", import.meta.url));
const BARE = fileURLToPath(new URL("bare-mcp-server.mjs", import.meta.url));
const CLI = fileURLToPath(new URL("../dist/bin/holdfast.js", import.meta.url));

export default async function mcp(bench) {
	bench.leaveProfilesOut();
	const rounds = bench.count(20, 4);
	const block = bench.count(25, 15);
	const call = await connect(bench);
	const library = terminalOf(await bench.runtime("mcp-library"));
	const contestants = [
		{ name: "no-op", time: () => timed(() => call("process", {})), block },
		{ name: "library", time: () => timed(() => library("true")), block },
		{ name: "mcp", time: () => timed(() => call("terminal", { command: "true" })), block },
	];
	await byTurns(4, contestants); // what V8 compiles once it is worth it, in both programs
	const times = await byTurns(rounds, contestants);
	const result = (what, of, target) => {
		const [noop, alone] = [of(times["no-op"]), of(times.library)];
		const baselines = [
			{ name: "no-op + library", value: noop + alone },
			{ name: "no-op", value: noop },
			{ name: "library", value: alone },
		];
		return row({ what, value: of(times.mcp), unit: "ms", baselines, target });
	};
	return [
		result("`true` by the tool `terminal` over stdio", median, atMost(1.5)),
		result("the same, p90", (values) => percentile(values, 0.9)),
		await starting(bench),
	];
}

/** From the start of the program to its answer to `initialize`. What counts is the difference: it may be 150 ms. */
async function starting(bench) {
	const home = bench.dir("mcp-start");
	const contestants = [
		{ name: "bare", time: () => startOf([BARE]), block: 1 },
		{ name: "holdfast", time: () => startOf([CLI, "mcp", "--home", home]), block: 1 },
	];
	await byTurns(1, contestants);
	const times = await byTurns(bench.count(20, 5), contestants);
	const [bare, value] = [median(times.bare), median(times.holdfast)];
	return row({
		what: "start of `holdfast mcp` to its answer to `initialize`",
		value,
		unit: "ms",
		baselines: [
			{ name: "a bare server of the SDK + 150 ms", value: bare + 150 },
			{ name: "the bare server", value: bare },
		],
		target: atMost(1),
	});
}

async function startOf(argv) {
	const begun = performance.now();
	const child = spawn(process.execPath, argv, { stdio: ["pipe", "pipe", "ignore"] });
	const ended = once(child, "exit");
	const params = { protocolVersion: "2025-06-18", capabilities: {}, clientInfo: { name: "holdfast-bench", version: "1" } };
	child.stdin.write(`${JSON.stringify({ jsonrpc: "2.0", id: 1, method: "initialize", params })}\n`);
	await once(child.stdout, "data");
	const taken = performance.now() - begun;
	child.stdin.end();
	await ended;
	return taken;
}

/** A function that calls a tool and makes sure that it ran. */
async function connect(bench) {
	const home = bench.dir("mcp");
	bench.atEnd(async () => endAll(await openRuntime({ home, warm: 0 }))); // the shell that the server leaves
	const client = new Client({ name: "holdfast-bench", version: "1" });
	await client.connect(new StdioClientTransport({ command: process.execPath, args: [SERVER, home], env: process.env }));
	bench.atEnd(() => client.close());
	await client.listTools(); // as every client does; from then on it checks results against their schemas
	return async (name, args) => {
		const { structuredContent: result } = await client.callTool({ name, arguments: args });
		if (result.exit_code !== 0) throw new Error(`${name}: ${JSON.stringify(result)}`);
	};
}
