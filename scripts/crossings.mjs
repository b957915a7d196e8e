// Print which source files an `echo x` through the MCP server passes: docs/architecture.md draws its way.
//
// A profile of the server knows callers and callees. A file is on the way if another file calls it during most calls and it calls a third one; a file that
// calls no other is a helper, which answers at once. The way begins in the file of the door that the SDK hands a message to; to enter each file behind it once
// takes as many crossings as there are files.
import { spawnSync } from "node:child_process";
import fs from "node:fs";
import { Session } from "node:inspector/promises";
import os from "node:os";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { root } from "./setup.mjs";

const WARM = 200;
const DOOR = "doors/mcp/stdio";
const RARE = 80; // less than one sample in so many calls is of something beside them: keepers that are made ready, housekeeping

if (process.argv[2] === "serve") await serve(process.argv[3], process.argv[4]);
else await report(Number(process.argv[2] ?? 2_000));

async function report(calls) {
	const { Client } = await import("@modelcontextprotocol/client");
	const { StdioClientTransport } = await import("@modelcontextprotocol/client/stdio");
	const dir = fs.mkdtempSync(path.join(os.tmpdir(), "holdfast-crossings-"));
	try {
		const [home, file] = [path.join(dir, "home"), path.join(dir, "profile.json")];
		const client = new Client({ name: "holdfast-crossings", version: "1" });
		const args = [fileURLToPath(import.meta.url), "serve", home, file];
		await client.connect(new StdioClientTransport({ command: process.execPath, args, env: { ...process.env, HOME: dir } }));
		for (let call = 0; call < WARM + calls; call++) await client.callTool({ name: "terminal", arguments: { command: "echo x" } });
		await client.close();
		spawnSync(process.execPath, [path.join(root, "dist/bin/holdfast.js"), "end", "bench", "--home", home]);
		print(crossings(JSON.parse(fs.readFileSync(file, "utf8")), Math.ceil(calls / RARE)));
	} finally {
		fs.rmSync(dir, { recursive: true, force: true });
	}
}

async function serve(home, file) {
	const { serveStdio } = await import("../dist/doors/mcp/index.js");
	const { openAgentRuntime } = await import("../dist/tools/index.js");
	const runtime = await openAgentRuntime({ home });
	const session = new Session();
	session.connect();
	await session.post("Profiler.enable");
	await session.post("Profiler.setSamplingInterval", { interval: 100 });
	const { terminal } = runtime;
	let calls = 0;
	runtime.terminal = async (...args) => {
		if (++calls === WARM) await session.post("Profiler.start");
		return terminal.apply(runtime, args);
	};
	await serveStdio(runtime, { task: "bench" }).closed;
	fs.writeFileSync(file, JSON.stringify((await session.post("Profiler.stop")).profile));
	await runtime.close();
}

function crossings({ nodes, samples }, least) {
	const counts = new Map();
	for (const id of samples) counts.set(id, (counts.get(id) ?? 0) + 1);
	const byId = new Map(nodes.map((node) => [node.id, node]));
	const edges = new Map();
	/** Returns the samples in a node and below. Notes each step from one file of ours into another, through whatever lies between. */
	const walk = (node, from) => {
		const file = /\/dist\/(.*)\.js$/.exec(node.callFrame.url)?.[1];
		const below = (node.children ?? []).reduce((sum, child) => sum + walk(byId.get(child), file ?? from), counts.get(node.id) ?? 0);
		if (file && from && file !== from) edges.set(`${from} ${file}`, (edges.get(`${from} ${file}`) ?? 0) + below);
		return below;
	};
	walk(nodes[0], undefined);
	return [...edges].filter(([, seen]) => seen >= least).map(([names, seen]) => ({ from: names.split(" ")[0], to: names.split(" ")[1], seen }));
}

function print(edges) {
	const callers = new Set(edges.map(({ from }) => from));
	const way = edges.filter(({ to }) => callers.has(to)).sort((a, b) => b.seen - a.seen);
	const helpers = [...new Set(edges.filter(({ to }) => !callers.has(to)).map(({ to }) => to))];
	for (const { from, to, seen } of way) console.log(`${from} -> ${to} (${seen})`);
	const files = new Set(way.flatMap(({ from, to }) => [from, to]));
	files.delete(DOOR);
	console.log(`${files.size} files on the way behind ${DOOR}, so ${files.size} crossings: ${[...files].sort().join(" ")}`);
	console.log(`${helpers.length} helpers that call no other file: ${helpers.sort().join(" ")}`);
}
