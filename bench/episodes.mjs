/**
 * Episodes in containers: one without a model beside a bare run of the same image, a turn of the loop beside one docker exec, memory; and how often an episode's
 * rows make the disk wait. A real engine of the measurement's own; the model is the scripted server of the tests.
 */
import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import fs from "node:fs";
import path from "node:path";
import { openRuntime } from "holdfast";
import { agentNamed, environmentOf } from "../agent/dist/environments/index.js";
import { runEpisode } from "../agent/dist/episode/index.js";
import { dockerMissing, startDockerd } from "./dockerd.mjs";
import { byTurns, endAll, median, timed } from "./lib.mjs";
import { atMost, missingRow, row } from "./report.mjs";
import { CLI, loadNow, played, scriptedModel, tasksIn } from "./runs.mjs";

const STRACE = "/usr/bin/strace";

export default async function episodes(bench) {
	bench.leaveProfilesOut();
	const model = await scriptedModel(bench, "episodes");
	const missing = dockerMissing();
	const inContainers = missing ? [missingRow("episodes in containers", missing)] : await containers(bench, model);
	return [...inContainers, ...(await syncs(bench, model))];
}

async function containers(bench, model) {
	const { settings } = await startDockerd(bench, "episodes-docker");
	const place = { kind: "docker", image: settings.image, engine: settings.engine, network: false };
	const docker = (...args) => execFileSync("docker", ["-H", settings.engine, ...args], { encoding: "utf8", stdio: ["ignore", "pipe", "ignore"] }).trim();
	return [...(await withoutModel(bench, place, docker)), ...(await turns(bench, model, place, docker)), ...(await memory(bench, model, place))];
}

async function withoutModel(bench, place, docker) {
	const runtime = await openRuntime({ home: bench.dir("episodes-home"), warm: 0 });
	bench.atEnd(() => endAll(runtime));
	const environment = () => environmentOf({ kind: "prompt", key: "x", digest: "x", row: { prompt: "x" } });
	let episode = 0;
	const ours = async () => {
		const dir = bench.dir(`episodes-work/${++episode}`);
		const { outcome, gone } = await runEpisode({
			...{ name: `bench/${episode}`, folder: path.join(dir, "files"), work: path.join(dir, "work"), environment: environment(), runtime },
			...{ agent: agentNamed("nop"), place, seconds: 60, signal: new AbortController().signal },
		});
		if (outcome.kind !== "recorded" || !gone) throw new Error(`the episode ended with ${JSON.stringify(outcome)}`);
	};
	const bare = () => docker("rm", "-f", docker("run", "-d", "--pull=never", "--network=none", place.image, "sleep", "600"));
	await ours();
	bare();
	const times = await byTurns(bench.count(8, 3), [
		{ name: "ours", time: () => timed(ours), block: 2 },
		{ name: "bare", time: () => timed(async () => bare()), block: 2 },
	]);
	return [
		row({
			what: "an episode in a container without a model: made, first command, ended with proof",
			value: median(times.ours),
			unit: "ms",
			baselines: [{ name: "docker run -d, docker rm -f", value: median(times.bare) }],
			target: atMost(3),
			note: `load ${loadNow()}`,
		}),
	];
}

/** From one request of the loop to the next, as the model sees it. */
async function turns(bench, { env, script }, place, docker) {
	const count = bench.count(60, 15);
	const measured = async (name) => {
		Object.assign(script, { turns: count, thinkMs: 0, asked: [] });
		const dir = await tasksIn(bench, `episodes-${name}`, 1);
		await played(dir, env, placeIn(dir, place), false);
		const asked = script.asked.slice(2); // the first makes the container
		return median(asked.slice(1).map((at, index) => at - asked[index]));
	};
	const container = docker("run", "-d", "--pull=never", "--network=none", place.image, "sleep", "600");
	const exec = () => median(Array.from({ length: 15 }, () => execTime(place, container)));
	const quiet = { turn: await measured("quiet"), exec: exec(), load: loadNow() };
	const loops = [1, 2].map(() => spawn("sh", ["-c", "while :; do :; done"], { stdio: "ignore" }));
	for (const loop of loops) bench.atEnd(() => loop.kill("SIGKILL"));
	const busy = { turn: await measured("busy"), exec: exec(), load: loadNow() };
	for (const loop of loops) {
		loop.kill("SIGKILL");
		await once(loop, "exit");
	}
	docker("rm", "-f", container);
	const one = (what, { turn, exec: each, load }, most) =>
		row({ what, value: turn, unit: "ms", baselines: [{ name: "one docker exec", value: each }], target: atMost(most), note: `${count} turns, load ${load}` });
	return [one("a turn with a command in a container", quiet, 0.25), one("the same with two busy loops beside it", busy, 1)];
}

function execTime({ engine }, container) {
	const began = performance.now();
	execFileSync("docker", ["-H", engine, "exec", container, "true"], { stdio: "ignore" });
	return performance.now() - began;
}

async function memory(bench, { env, script }, place) {
	const count = bench.count(20, 5);
	Object.assign(script, { turns: 1, thinkMs: 5_000 });
	const dir = await tasksIn(bench, "episodes-memory", count);
	const { peak, kept } = await played(dir, env, [...placeIn(dir, place), "--concurrency", String(count)], true);
	script.thinkMs = 0;
	return [
		row({
			what: "memory of an episode in a container, besides the container: of the runner, and of keepers (PSS)",
			value: (peak + kept) / count,
			unit: "MB",
			target: atMost(4, "MB"),
			note: `${count} at once; runner ${(peak / count).toFixed(2)} MB, keepers ${(kept / count).toFixed(2)} MB`,
		}),
	];
}

function placeIn(dir, place) {
	const file = path.join(dir, "pool.json");
	fs.writeFileSync(file, JSON.stringify([{ place }]));
	return ["--pool", file];
}

async function syncs(bench, { env, script }) {
	if (!fs.existsSync(STRACE)) return [missingRow("waits for the disk, of an episode's rows", "strace is not installed")];
	const count = 5;
	Object.assign(script, { turns: 1, thinkMs: 0 });
	const dir = await tasksIn(bench, "episodes-syncs", count);
	const trace = path.join(dir, "trace");
	const child = spawn(
		STRACE,
		[
			...["-f", "-y", "-e", "trace=fsync,fdatasync", "-o", trace],
			...[process.execPath, CLI, "run", "tasks.jsonl", "-o", "run", "--place", "local", "--agent", "nop", "--json"],
		],
		{ cwd: dir, env, stdio: ["ignore", "ignore", "inherit"] },
	);
	const [code] = await once(child, "close");
	if (code !== 0) throw new Error(`the run under strace ended with ${code}`);
	const waits = fs.readFileSync(trace, "utf8").match(/f(?:data)?sync\(\d+<[^>]*ledger\.jsonl>/g) ?? [];
	return [
		row({ what: "syncs of the ledger for an episode: its start and its result", value: waits.length / count, unit: "", target: atMost(2, ""), note: "strace" }),
	];
}
