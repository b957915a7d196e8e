/**
 * The exec-server of Codex, installed into the temporary directory for the run, with no configuration or login of its
 * user. It has two doors: stdio, and a WebSocket, which is the one it opens when it is not told otherwise. Each is
 * `{ name, start, run }` (ms to the first byte of `echo hi`, ms to the end of `true`) or `{ name, missing }`.
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import path from "node:path";
import readline from "node:readline";
import { pathToFileURL } from "node:url";
import { install } from "./install.mjs";
import { within } from "./lib.mjs";

const CODEX = "@openai/codex@0.166.0";
const WS = "ws@8.18.3"; // Node 20 has no WebSocket of its own
const ANSWER_MS = 5_000;

export const codexOverStdio = (bench) => codex(bench, "codex over stdio", "stdio", stdioLink);
export const codexOverWebSocket = (bench) => codex(bench, "codex", "ws://127.0.0.1:0", webSocketLink);

async function codex(bench, name, listen, connect) {
	const { dir, load, missing } = await install(bench, "codex", [CODEX, WS]);
	if (missing) return { name, missing };
	const env = { PATH: process.env.PATH, HOME: dir, CODEX_HOME: dir };
	const child = spawn(path.join(dir, "node_modules/.bin/codex"), ["exec-server", "--listen", listen], { cwd: dir, env, stdio: ["pipe", "pipe", "ignore"] });
	const ended = once(child, "exit");
	bench.atEnd(async () => {
		child.stdin.end(); // over stdio it ends with its input and not otherwise
		child.kill();
		await ended;
	});
	try {
		const exec = await within(
			ANSWER_MS,
			"codex exec-server",
			connect(child, load).then((link) => client(link, dir)),
		);
		return { name, start: () => exec("echo hi", "process/output"), run: () => exec("true", "process/closed") };
	} catch (error) {
		return { name, missing: String(error.message).split("\n")[0].slice(0, 120) };
	}
}

/** A function that runs a command to its end and returns the ms to the first message of some kind about it. */
async function client(link, dir) {
	const waiting = new Set();
	link.onMessage((message) => {
		for (const one of waiting) if (one.wanted(message) && waiting.delete(one)) one.resolve(message);
	});
	const next = (wanted) => new Promise((resolve) => waiting.add({ wanted, resolve }));
	const answered = next((message) => message.id === 0);
	link.send({ id: 0, method: "initialize", params: { clientName: "holdfast-bench" } });
	const { error } = await answered;
	if (error) throw new Error(error.message);
	link.send({ method: "initialized", params: {} });
	const cwd = pathToFileURL(dir).href;
	let count = 0;
	return async (command, kind) => {
		const processId = `p${++count}`;
		const about = (method) => next((message) => message.method === method && message.params.processId === processId).then(() => performance.now());
		const times = Promise.all([about(kind), about("process/closed")]);
		const argv = ["bash", "-c", command];
		const begun = performance.now();
		const params = { processId, argv, cwd, env: { PATH: process.env.PATH }, tty: false, pipeStdin: false, arg0: null };
		link.send({ id: count, method: "process/start", params });
		return (await within(ANSWER_MS, "codex exec-server", times))[0] - begun;
	};
}

/** JSON-RPC, a message a line. */
async function stdioLink(child) {
	return {
		send: (message) => child.stdin.write(`${JSON.stringify(message)}\n`),
		onMessage: (hear) => readline.createInterface({ input: child.stdout }).on("line", (line) => hear(JSON.parse(line))),
	};
}

/** It prints where it listens. */
async function webSocketLink(child, load) {
	const WebSocket = load("ws");
	const [url] = await once(readline.createInterface({ input: child.stdout }), "line");
	const socket = new WebSocket(url.trim());
	await once(socket, "open");
	return {
		send: (message) => socket.send(JSON.stringify(message)),
		onMessage: (hear) => socket.on("message", (data) => hear(JSON.parse(data))),
	};
}
