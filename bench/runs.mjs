/**
 * Runs of many episodes: 200 at once that think for five seconds, the runner's own CPU and memory, the ledger, a resume, and the end of many tasks. The model
 * is the scripted server of the tests, in this program; the runner is the command line.
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import fs from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { openRuntime } from "holdfast";
import { runnerImport } from "vite";
import { readProgress } from "../agent/dist/run/index.js";
import { endAll, median, sleep } from "./lib.mjs";
import { atMost, row } from "./report.mjs";

export const CLI = fileURLToPath(new URL("../agent/dist/cli/main.js", import.meta.url));
const SERVER = fileURLToPath(new URL("../agent/test/model-server/index.ts", import.meta.url));
const LOCAL = ["--place", "local"];
const THINK_MS = 5_000;
const ROWS = 10_000;
const CLOCK_TICKS = 100; // a second, in /proc/PID/stat

export default async function runs(bench) {
	bench.leaveProfilesOut();
	const { env, script } = await scriptedModel(bench, "runs");
	const world = { bench, env, script };
	return [...(await many(world)), ...(await turns(world)), ...(await ledger(world)), ...(await ends(world)), ...(await resumed(world))];
}

/** A model that answers with so many commands, as `script` says, and the homes of an agent that has it. `asked`: when each request came. */
export async function scriptedModel(bench, name) {
	const { module: models } = await runnerImport(SERVER);
	const script = { turns: 1, thinkMs: 0, asked: [] };
	const server = await models.modelServer({
		script: async ({ body }) => {
			script.asked.push(performance.now());
			const done = body.messages.filter(({ role }) => role === "tool").length;
			if (done === 0 && script.thinkMs > 0) await sleep(script.thinkMs);
			return done < script.turns ? models.calls(["terminal", { command: `echo ${done}` }]) : models.say("done");
		},
	});
	bench.atEnd(() => server.close());
	const agent = bench.dir(`${name}-agent`);
	fs.writeFileSync(
		path.join(agent, "agent.json"),
		JSON.stringify({ endpoints: { scripted: { url: server.url, window: 100_000 } }, model: "scripted", toolsets: ["terminal"] }),
	);
	const env = { ...process.env, HOLDFAST_AGENT_HOME: agent, HOLDFAST_HOME: bench.dir(`${name}-core`) };
	return { env, script };
}

/** All at once: ideal is the time that the model thinks. */
async function many({ bench, env, script }) {
	const episodes = bench.count(200, 20);
	Object.assign(script, { turns: 1, thinkMs: THINK_MS });
	const dir = await tasksIn(bench, "many", episodes);
	const { seconds, peak, kept } = await played(dir, env, [...LOCAL, "--concurrency", String(episodes)], true);
	script.thinkMs = 0;
	const note = `${episodes} episodes on this machine without a sandbox, load ${loadNow()}`;
	return [
		row({
			what: "wall time of many episodes at once, each thinks 5 s and runs a command",
			value: seconds,
			unit: "s",
			baselines: [{ name: "the thinking alone", value: THINK_MS / 1_000 }],
			target: atMost(1.5),
			note,
		}),
		row({
			what: "memory of an episode: of the runner, and of its shell and keepers (PSS)",
			value: (peak + kept) / episodes,
			unit: "MB",
			target: atMost(2, "MB"),
			note: `runner ${(peak / episodes).toFixed(2)} MB, shell and keepers ${(kept / episodes).toFixed(2)} MB`,
		}),
	];
}

async function turns({ bench, env, script }) {
	const episodes = bench.count(60, 10);
	const each = async (count) => {
		Object.assign(script, { turns: count, thinkMs: 0 });
		const dir = await tasksIn(bench, `turns-${count}-${episodes}`, episodes);
		return (await played(dir, env, [...LOCAL, "--concurrency", "4"], false)).cpu / episodes;
	};
	const few = await tasksIn(bench, "turns-none", 1);
	Object.assign(script, { turns: 1 });
	const start = (await played(few, env, LOCAL, false)).cpu;
	const six = await each(6);
	const own = six - start / episodes;
	return [
		row({
			what: "CPU of the runner for an episode of 6 turns",
			value: own * 1_000,
			unit: "ms",
			target: atMost(100, "ms"),
			note: `without what a run of one costs, ${(start * 1_000).toFixed(0)} ms; load ${loadNow()}`,
		}),
	];
}

/** Rows as a run writes them. */
async function ledger({ bench }) {
	const dir = bench.dir("runs-ledger");
	const text = Array.from({ length: ROWS / 2 }, (_, index) => [startRow(index), resultRow(index)].map((one) => `${JSON.stringify(one)}\n`).join("")).join("");
	fs.writeFileSync(path.join(dir, "ledger.jsonl"), text);
	const times = [];
	for (let turn = 0; turn < 5; turn++) {
		const began = performance.now();
		readProgress(dir);
		times.push(performance.now() - began);
	}
	return [
		row({
			what: `reading a ledger of ${ROWS.toLocaleString("en-US")} rows`,
			value: median(times),
			unit: "ms",
			target: atMost(1_000, "ms"),
			note: `${(text.length / 1024 ** 2).toFixed(1)} MB`,
		}),
	];
}

async function ends({ bench }) {
	const count = bench.count(60, 10);
	const runtime = await openRuntime({ home: bench.dir("runs-ends"), warm: 0 });
	bench.atEnd(() => endAll(runtime));
	const begin = async (names) => {
		for (const name of names) await runtime.task(name).terminal({ command: "sleep 600 & disown" });
	};
	const ended = async (names) => {
		const began = performance.now();
		await Promise.all(names.map((name) => runtime.endTask(name)));
		return performance.now() - began;
	};
	const singles = [];
	for (let turn = 0; turn < 5; turn++) {
		await begin([`one-${turn}`]);
		singles.push(await ended([`one-${turn}`]));
	}
	const names = Array.from({ length: count }, (_, at) => `many-${at}`);
	await begin(names);
	const together = await ended(names);
	return [
		row({
			what: `ending ${count} tasks at once, each with a shell and a job`,
			value: together,
			unit: "ms",
			baselines: [{ name: "ending one", value: median(singles) }],
			target: atMost(10),
			note: `load ${loadNow()}`,
		}),
	];
}

/** What a killed runner has left is ended, and nothing is run: beside the same tasks ended by the library at once. */
async function resumed({ bench, env }) {
	const [done, open] = [bench.count(1_000, 100), bench.count(100, 10)];
	const leave = async (home, id) => {
		const runtime = await openRuntime({ home, warm: 0 });
		for (let index = done; index < done + open; index++) await runtime.task(`${id}/${label(index)}.1`).terminal({ command: "sleep 600 & disown" });
		return runtime;
	};
	const dir = path.join(await tasksIn(bench, "resumed", done + open), "run");
	const manifest = await frozen(dir, env);
	const rows = Array.from({ length: done }, (_, index) => [startRow(index), resultRow(index)]).flat();
	for (let index = done; index < done + open; index++) rows.push({ ...startRow(index), task: `${manifest.id}/${label(index)}.1` });
	fs.writeFileSync(path.join(dir, "ledger.jsonl"), rows.map((one) => `${JSON.stringify(one)}\n`).join(""));
	await (await leave(path.join(dir, "home"), manifest.id)).close();

	const bare = await leave(bench.dir("runs-bare"), "bare");
	const began = performance.now();
	await Promise.all(Array.from({ length: open }, (_, at) => bare.endTask(`bare/${label(done + at)}.1`)));
	const baseline = performance.now() - began;
	await bare.close();

	const child = spawn(process.execPath, [CLI, "resume", dir, "--json"], { env, stdio: ["ignore", "pipe", "inherit"] });
	const started = performance.now();
	let [recovered, seconds] = [0, Number.NaN];
	child.stdout.setEncoding("utf8").on("data", (text) => {
		recovered += text.split('"type":"recovered"').length - 1;
		if (recovered >= open && Number.isNaN(seconds)) {
			seconds = performance.now() - started;
			child.kill("SIGINT");
		}
	});
	await once(child, "close");
	return [
		row({
			what: `resume with ${done} done and ${open} open, until what was left is ended`,
			value: seconds,
			unit: "ms",
			baselines: [{ name: `${open} endTask at once`, value: baseline }],
			target: atMost(2),
			note: `the start of the program included; load ${loadNow()}`,
		}),
	];
}

export async function tasksIn(bench, name, count) {
	const dir = bench.dir(`runs-${name}`);
	fs.writeFileSync(path.join(dir, "tasks.jsonl"), Array.from({ length: count }, (_, at) => `${JSON.stringify({ prompt: `do ${at}` })}\n`).join(""));
	return dir;
}

/** Begins a run and leaves it before its first episode is over. */
async function frozen(dir, env) {
	const child = spawn(process.execPath, [CLI, "run", path.join(dir, "../tasks.jsonl"), "-o", dir, "--place", "local", "--concurrency", "1", "--json"], {
		env,
		stdio: ["ignore", "pipe", "inherit"],
	});
	await once(child.stdout, "data");
	child.kill("SIGINT");
	await once(child, "close");
	return JSON.parse(fs.readFileSync(path.join(dir, "run.json"), "utf8"));
}

/** Plays a run. `looked`: its memory, and that of what it keeps, is looked at while most episodes think. */
export async function played(dir, env, options, looked) {
	const began = performance.now();
	const child = spawn(process.execPath, [CLI, "run", "tasks.jsonl", "-o", "run", "--json", ...options], {
		...{ cwd: dir, env, stdio: ["ignore", "pipe", "inherit"] },
	});
	let cpu = 0;
	const looks = setInterval(() => {
		cpu = cpuOf(child.pid) ?? cpu;
	}, 50);
	let said = "";
	let [peak, kept, first] = [0, 0, 0];
	child.stdout.setEncoding("utf8").on("data", (text) => {
		said = (said + text).slice(-100_000);
	});
	const timer = looked
		? setInterval(() => {
				const { runner, others } = memoryOf(dir);
				first ||= runner;
				if (runner - first > peak) peak = runner - first;
				if (others > kept) kept = others;
			}, 1_000)
		: undefined;
	const [code] = await once(child, "close");
	clearInterval(timer);
	clearInterval(looks);
	if (code !== 0) throw new Error(`the run ended with ${code}: ${said.slice(-500)}`);
	return { seconds: (performance.now() - began) / 1_000, cpu, peak, kept };
}

/** Proportional, so that pages which programs share are counted once. MB. */
function memoryOf(dir) {
	let [runner, others] = [0, 0];
	for (const pid of fs.readdirSync("/proc").filter((name) => /^\d+$/.test(name))) {
		try {
			const command = fs.readFileSync(`/proc/${pid}/cmdline`, "latin1");
			const isRunner = command.includes(`${CLI}\0run\0`) && fs.readlinkSync(`/proc/${pid}/cwd`) === dir && command.startsWith(process.execPath);
			const isKept = !isRunner && (command.includes(`${dir}/`) || fs.readlinkSync(`/proc/${pid}/cwd`).startsWith(`${dir}/run/`));
			if (!isRunner && !isKept) continue;
			const [, kib = "0"] = /^Pss:\s+(\d+)/m.exec(fs.readFileSync(`/proc/${pid}/smaps_rollup`, "latin1")) ?? [];
			if (isRunner) runner += Number(kib) / 1_000;
			else others += Number(kib) / 1_000;
		} catch {
			// it has ended
		}
	}
	return { runner, others };
}

/** Its own computing time in seconds, without its children's. */
function cpuOf(pid) {
	try {
		const fields = fs
			.readFileSync(`/proc/${pid}/stat`, "latin1")
			.replace(/^.*\) /s, "")
			.split(" ");
		return (Number(fields[11]) + Number(fields[12])) / CLOCK_TICKS;
	} catch {
		return undefined; // it has ended
	}
}

const label = (index) => String(index).padStart(6, "0");
export const loadNow = () => fs.readFileSync("/proc/loadavg", "utf8").split(" ")[0];
const startRow = (index) => ({
	t: "start",
	index,
	attempt: 1,
	key: String(index),
	digest: "0".repeat(64),
	task: `run/${label(index)}.1`,
	place: "local",
	at: new Date(0).toISOString(),
});
const resultRow = (index) => ({
	...{ t: "result", index, attempt: 1, place: "local", outcome: { kind: "recorded", end: "finished" }, conversation: "20260101_000000_000000", seconds: 1 },
	...{
		usage: { input: 1_000, output: 100 },
		tools: [{ tool: "terminal", count: 6, failure: 0 }],
		ended: ["1 shell"],
		gone: true,
		at: new Date(0).toISOString(),
	},
});
