/** Other programs that start processes for somebody, if this machine has them. Each is `{ name, start }` or `{ name, missing }`. */
import { execFile, spawn, spawnSync } from "node:child_process";
import fs from "node:fs";
import path from "node:path";
import readline from "node:readline";
import { pathToFileURL } from "node:url";
import { promisify } from "node:util";
import { within } from "./lib.mjs";

const run = promisify(execFile);
const ANSWER_MS = 5_000;

/**
 * tmux with its server already running. The command writes a file that we watch: the quickest there is with tmux, since
 * what it captures itself (pipe-pane) goes through one more program.
 */
export async function tmux(bench) {
	const name = "tmux";
	if (spawnSync("tmux", ["-V"], { stdio: "ignore" }).status !== 0) return { name, missing: "not installed" };
	const dir = bench.dir("tmux");
	const server = ["-L", `holdfast-bench-${process.pid}`, "-f", "/dev/null"];
	const options = { env: { ...process.env, TMUX_TMPDIR: dir, TMUX: "" } }; // its socket goes with the rest
	await run("tmux", [...server, "new-session", "-d", "-s", "hold", "sleep 3600"], options);
	bench.atEnd(() => run("tmux", [...server, "kill-server"], options));
	let count = 0;
	const start = async () => {
		const file = path.join(dir, `out.${count++}`);
		const begun = performance.now();
		const written = firstByte(file);
		await Promise.all([within(ANSWER_MS, "tmux", written), run("tmux", [...server, "new-session", "-d", `echo hi >${file}`], options)]);
		return (await written) - begun;
	};
	return { name, start };
}

/** When a file that is still to be made has something in it. */
function firstByte(file) {
	return new Promise((resolve) => {
		const watcher = fs.watch(path.dirname(file), (_, changed) => {
			if (changed !== path.basename(file) || !fs.statSync(file, { throwIfNoEntry: false })?.size) return;
			watcher.close();
			resolve(performance.now());
		});
	});
}

/** The exec-server of Codex, spoken to over its stdin and stdout. */
const CODEX = "@openai/codex@0.166.0";
const INSTALL_MS = 120_000;

export async function codex(bench) {
	const name = "codex";
	if (bench.quick) return { name, missing: "--quick does not install it" };
	try {
		const server = await codexServer(bench.dir("codex"));
		bench.atEnd(server.close);
		return { name, start: server.start };
	} catch (error) {
		return { name, missing: String(error.message).split("\n")[0].slice(0, 120) };
	}
}

async function codexServer(dir) {
	fs.writeFileSync(path.join(dir, "package.json"), '{ "private": true }\n');
	await run("npm", ["install", "--no-audit", "--no-fund", "--ignore-scripts", CODEX], { cwd: dir, timeout: INSTALL_MS });
	// Nothing of its user's: no configuration, no login.
	const env = { PATH: process.env.PATH, HOME: dir, CODEX_HOME: dir };
	const child = spawn(path.join(dir, "node_modules/.bin/codex"), ["exec-server", "--listen", "stdio"], { cwd: dir, env, stdio: ["pipe", "pipe", "ignore"] });
	const ended = new Promise((resolve) => child.once("exit", resolve));
	const rpc = jsonLines(child);
	const answered = rpc.next((message) => message.id === 0);
	rpc.send({ id: 0, method: "initialize", params: { clientName: "holdfast-bench" } });
	const { error } = await within(ANSWER_MS, "codex exec-server", Promise.race([answered, ended.then(() => ({ error: { message: "exec-server ended" } }))]));
	if (error) throw new Error(error.message);
	rpc.send({ method: "initialized", params: {} });
	let count = 0;
	const start = async () => {
		const processId = `p${++count}`;
		const about = (method) => rpc.next((message) => message.method === method && message.params.processId === processId);
		const begun = performance.now();
		const output = about("process/output").then(() => performance.now());
		const closed = about("process/closed");
		const params = {
			processId,
			argv: ["bash", "-c", "echo hi"],
			cwd: pathToFileURL(dir).href,
			env: { PATH: env.PATH },
			tty: false,
			pipeStdin: false,
			arg0: null,
		};
		rpc.send({ id: count, method: "process/start", params });
		await within(ANSWER_MS, "codex exec-server", Promise.all([output, closed]));
		return (await output) - begun;
	};
	const close = async () => {
		child.stdin.end(); // it ends with its input
		await ended;
	};
	return { start, close };
}

/** JSON-RPC, a message a line. */
function jsonLines(child) {
	const waiting = new Set();
	readline.createInterface({ input: child.stdout }).on("line", (line) => {
		const message = JSON.parse(line);
		for (const one of waiting) {
			if (!one.wanted(message)) continue;
			waiting.delete(one);
			one.resolve(message);
		}
	});
	return {
		send: (message) => child.stdin.write(`${JSON.stringify(message)}\n`),
		next: (wanted) => new Promise((resolve) => waiting.add({ wanted, resolve })),
	};
}
