/**
 * Data of runs: the export of 1,000 episodes of 50 KB each in every format, with its memory; and what the way over NATS costs a job beside the local queue. The
 * run that is exported is made up, with the files that a run has; that of the fleet is played, by an agent that does nothing.
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import fs from "node:fs";
import net from "node:net";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { sleep } from "./lib.mjs";
import { atMost, missingRow, row } from "./report.mjs";

const CLI = fileURLToPath(new URL("../agent/dist/cli/main.js", import.meta.url));
const EXPORT = new URL("../agent/dist/export/index.js", import.meta.url).href;
const NATS = "/usr/sbin/nats-server";
const AT = "2026-01-01T00:00:00.000Z";

export default async function data(bench) {
	return [...(await exports_(bench)), ...(await fleet(bench))];
}

async function exports_(bench) {
	const episodes = bench.count(1_000, 100);
	const dir = madeUp(bench.dir("data-run"), episodes);
	const rows = [];
	for (const format of ["openai", "sharegpt", "atif", "rollouts"]) {
		const { ms, mb } = await exported(dir, format, path.join(bench.root, `${format}.jsonl`));
		const note = `${episodes} episodes of 50 KB`;
		rows.push(row({ what: `export as ${format}`, value: ms / 1_000, unit: "s", target: atMost(5, "s"), note }));
		rows.push(row({ what: `export as ${format}: memory at most`, value: mb, unit: "MB", target: atMost(200, "MB"), note }));
	}
	return rows;
}

/** In a program of its own, so that its memory is its own. */
async function exported(dir, format, output) {
	const code = `
		import { exportRun } from ${JSON.stringify(EXPORT)};
		const begun = performance.now();
		await exportRun({ dir: ${JSON.stringify(dir)}, format: ${JSON.stringify(format)}, output: ${JSON.stringify(output)}, print: async () => {}, redact: (text) => text });
		console.log(JSON.stringify({ ms: performance.now() - begun, mb: process.resourceUsage().maxRSS / 1024 }));`;
	const child = spawn(process.execPath, ["--input-type=module", "-e", code], { stdio: ["ignore", "pipe", "inherit"] });
	let printed = "";
	child.stdout.on("data", (piece) => {
		printed += piece;
	});
	await once(child, "close");
	return JSON.parse(printed);
}

/** A run as it is on the disk, each conversation with ten commands and token ids. */
function madeUp(dir, episodes) {
	fs.mkdirSync(path.join(dir, "talk/conversations"), { recursive: true });
	const manifest = {
		v: 1,
		id: "run_bench",
		created_at: AT,
		source: "rows.jsonl",
		endpoint: "e",
		model: "m",
		place: "local",
		toolsets: ["terminal"],
		steps: 90,
		seconds: 60,
		repeats: 1,
	};
	fs.writeFileSync(path.join(dir, "run.json"), JSON.stringify(manifest));
	const [items, ledger] = [[], []];
	for (let index = 0; index < episodes; index++) {
		const conversation = `20260101_000000_${index.toString(16).padStart(6, "0")}`;
		items.push({ kind: "prompt", index, repeat: 0, key: String(index), digest: "0".repeat(64), row: { prompt: "Do it." } });
		ledger.push({ t: "start", at: AT, index, attempt: 1, key: String(index), digest: "0".repeat(64), task: `run_bench/${index}` });
		const usage = { input: 1_000, output: 100 };
		ledger.push({
			t: "result",
			at: AT,
			index,
			attempt: 1,
			outcome: { kind: "scored", score: { reward: index % 2, evidence: [] }, end: "finished" },
			conversation,
			usage,
			tools: [{ tool: "terminal", count: 10, failure: 0 }],
			seconds: 1,
			ended: [],
			gone: true,
		});
		fs.writeFileSync(
			path.join(dir, "talk/conversations", `${conversation}.jsonl`),
			linesOf(conversation)
				.map((line, n) => `${JSON.stringify({ n, at: AT, ...line })}\n`)
				.join(""),
		);
	}
	for (const [name, rows] of Object.entries({ "items.jsonl": items, "ledger.jsonl": ledger }))
		fs.writeFileSync(path.join(dir, name), rows.map((one) => `${JSON.stringify(one)}\n`).join(""));
	return dir;
}

function linesOf(id) {
	const ids = (count, from) => Array.from({ length: count }, (_, at) => from + at);
	const lines = [
		{ t: "begun", v: 1, id, task: "t", place: "local", model: "m" },
		{ t: "shown", system: "You work in a terminal.", tools: [{ name: "terminal", description: "Runs a command.", schema: { type: "object" } }] },
		{ t: "user", id: "m1", text: "Do it.", by: { platform: "run", person: "run" } },
	];
	for (let turn = 0; turn < 10; turn++) {
		const tokens = { segment: 0, prompt: ids(100, 1_000), completion: ids(60, 2_000), logprobs: ids(60, 0).map((at) => -at / 100) };
		lines.push({
			t: "assistant",
			text: "Now this.",
			calls: [{ id: `c${turn}`, name: "terminal", args: JSON.stringify({ command: "ls -l" }) }],
			stop: "calls",
			model: "m",
			usage: { input: 100, output: 60 },
			tokens,
		});
		lines.push({ t: "result", call: `c${turn}`, text: "-rw-r--r-- 1 jo jo 4096 Jan  1 00:00 file\n".repeat(85), failed: false, how: "ran" });
	}
	return [...lines, { t: "assistant", text: "Done.", calls: [], stop: "done", model: "m" }];
}

/** The time from one result to the next, by an agent that does nothing: alone, and with the queue between. */
async function fleet(bench) {
	if (!fs.existsSync(NATS)) return [missingRow("a job over NATS", "nats-server is not installed")];
	const jobs = bench.count(60, 12);
	const agent = bench.dir("data-agent");
	fs.writeFileSync(path.join(agent, "agent.json"), "{}");
	const env = { ...process.env, HOLDFAST_AGENT_HOME: agent, HOLDFAST_HOME: bench.dir("data-core") };
	const prompts = path.join(bench.root, "prompts.jsonl");
	fs.writeFileSync(prompts, `${JSON.stringify({ prompt: "nothing" })}\n`.repeat(jobs));
	const run = (name, more) =>
		spawn(process.execPath, [CLI, "run", prompts, "--agent", "nop", "--place", "local", "--concurrency", "2", "-o", path.join(bench.root, name), ...more], {
			env,
			stdio: "ignore",
		});
	const port = await freePort();
	const server = spawn(NATS, ["-a", "127.0.0.1", "-p", String(port), "-js", "-sd", bench.dir("data-nats")], { stdio: "ignore" });
	bench.atEnd(() => server.kill("SIGKILL"));
	const queue = ["--nats", `nats://127.0.0.1:${port}`];
	const worker = spawn(process.execPath, [CLI, "worker", ...queue, "--dir", bench.dir("data-worker"), "--concurrency", "2"], { env, stdio: "ignore" });
	bench.atEnd(async () => {
		worker.kill("SIGTERM");
		if (worker.exitCode === null) await once(worker, "exit");
	});
	await sleep(1_000);
	const times = { local: [], fleet: [] };
	for (let round = 0; round < 2; round++)
		for (const [name, more] of [
			["local", []],
			["fleet", queue],
		]) {
			await once(run(`${name}-${round}`, more), "exit");
			times[name].push(between(path.join(bench.root, `${name}-${round}`)));
		}
	const [local, far] = [Math.min(...times.local), Math.min(...times.fleet)];
	const note = `${jobs} jobs, 2 at a time, an agent that does nothing; from one result to the next`;
	return [
		row({
			what: "a job over NATS, with its files",
			value: far,
			unit: "ms",
			baselines: [{ name: "the local queue", value: local }],
			target: atMost(1.05),
			note,
		}),
		row({ what: "what NATS adds to a job", value: far - local, unit: "ms", target: atMost(5, "ms"), note }),
	];
}

function between(dir) {
	const at = fs
		.readFileSync(path.join(dir, "ledger.jsonl"), "utf8")
		.split("\n")
		.filter(Boolean)
		.map((line) => JSON.parse(line))
		.filter(({ t }) => t === "result")
		.map((one) => Date.parse(one.at));
	return (Math.max(...at) - Math.min(...at)) / (at.length - 1);
}

async function freePort() {
	const server = net.createServer().listen(0, "127.0.0.1");
	await once(server, "listening");
	const { port } = server.address();
	server.close();
	await once(server, "close");
	return port;
}
