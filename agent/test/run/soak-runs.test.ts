import { spawn } from "node:child_process";
import { once } from "node:events";
import fs from "node:fs";
import path from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { expect, it } from "vitest";
import type { LedgerRow, Proof } from "../../src/run/index.js";
import { calls, modelServer, type SeenRequest, type Step, say } from "../model-server/index.js";
import { atEnd, until } from "../support/dirs.js";
import { FULL_IMAGE, testEngine } from "../support/engine.js";
import { configFor, MAIN, newWorld, run, type World } from "../support/seat.js";
import { randomFrom, seedOf } from "../support/seed.js";

const KILLS = Number(process.env.KILLS ?? 30);
const MOST_MS = 3_600_000;

/** Two commands: one that leaves a job, an escapee and a file; one that ends with the right answer. */
function worker({ body }: SeenRequest): Step {
	const messages = body.messages as { readonly role: string; readonly content: unknown }[];
	const [, name = ""] = String(messages.find(({ role }) => role === "user")?.content).split(" ");
	const made = messages.filter(({ role }) => role === "tool").length; // news of what it has left may come between
	if (made === 0) return calls(["terminal", { command: "sleep 3600 & disown; (setsid sleep 3600 &); sleep 0.2" }]);
	if (made === 1) return calls(["terminal", { command: `printf ${name} > out.txt` }]);
	return say("done");
}

async function begun(episodes: number): Promise<World> {
	const server = await modelServer({ script: worker });
	atEnd(() => server.close());
	const world = newWorld(configFor(server, { toolsets: ["terminal"] }));
	const rows = Array.from(
		{ length: episodes },
		(_, at) => `${JSON.stringify({ prompt: `do ${at}`, id: `t${at}`, expect: { file: "out.txt", content: String(at) } })}\n`,
	);
	fs.writeFileSync(path.join(world.work, "rows.jsonl"), rows.join(""));
	return world;
}

const ledgerOf = (world: World): LedgerRow[] =>
	fs
		.readFileSync(path.join(world.work, "out/ledger.jsonl"), "utf8")
		.split("\n")
		.slice(0, -1)
		.map((line) => JSON.parse(line) as LedgerRow);

const started = (world: World, args: readonly string[]) =>
	spawn(process.execPath, [MAIN, ...args], {
		cwd: world.work,
		env: { ...world.env, TEST_ROOT: process.env.TEST_ROOT ?? "" },
		stdio: ["ignore", "pipe", "inherit"],
	});

/** Resolves when it has printed so many lines, or has ended. */
function lines({ stdout }: ReturnType<typeof started>, count: number): Promise<void> {
	let seen = 0;
	return new Promise((resolve) => {
		stdout.on("data", (text: Buffer) => {
			seen += text.toString("latin1").split("\n").length - 1;
			if (seen >= count) resolve();
		});
		stdout.on("close", () => resolve());
	});
}

it(`18: a runner that is killed at ${KILLS} random moments gives exactly one result each, and nothing is left`, { timeout: MOST_MS }, async () => {
	const random = randomFrom(seedOf("kills of a runner"));
	const episodes = KILLS * 2;
	const world = await begun(episodes);
	let args = ["run", "rows.jsonl", "-o", "out", "--place", "local", "--concurrency", "3", "--json"];
	let kills = 0;
	for (; kills < KILLS; kills++) {
		const child = started(world, args);
		await lines(child, 1 + Math.floor(random() * 12)); // so many events: what was left is ended, episodes start, and are over
		await sleep(random() * 400); // a moment, not a wait for something
		child.kill("SIGKILL");
		await once(child, "close");
		args = ["resume", "out", "--json"];
		if (ledgerOf(world).filter(({ t }) => t === "result").length === episodes) break; // killed in its proof
	}
	const { code, stdout } = await run(world, ["resume", "out"]);
	expect(code, stdout).toBe(0);
	const results = ledgerOf(world).flatMap((row) => (row.t === "result" ? [row] : []));
	expect(results.map(({ index }) => index).sort((a, b) => a - b)).toEqual(Array.from({ length: episodes }, (_, index) => index));
	expect(results.every(({ outcome }) => outcome.kind === "scored" && outcome.score.reward === 1)).toBe(true);
	const lost = ledgerOf(world).filter(({ t }) => t === "lost").length;
	const proof = JSON.parse(fs.readFileSync(path.join(world.work, "out/proof.json"), "utf8")) as Proof;
	expect(proof).toMatchObject({ control: true, kept: [], sandboxes: [], processes: [], mounts: [] });
	console.log(`${kills} kills, ${lost} attempts lost with their program, ${results.length} results`);
});

/** Our three tasks, and one whose image is built. */
function tasksFor(world: World): void {
	for (const name of fs.readdirSync("agent/tasks")) fs.cpSync(path.join("agent/tasks", name), path.join(world.work, "tasks", name), { recursive: true });
	const files = {
		"task.toml": "[verifier]\ntimeout_sec = 60\n",
		"instruction.md": "Do nothing.",
		"environment/Dockerfile": `FROM ${FULL_IMAGE}\nRUN sleep 1; date +%s%N > /built\n`,
		"solution/solve.sh": "#!/bin/sh\n",
		"tests/test.sh": "#!/bin/sh\n[ -s /built ] && echo 1 > /logs/verifier/reward.txt\n",
	};
	for (const [name, text] of Object.entries(files)) {
		fs.mkdirSync(path.dirname(path.join(world.work, "tasks/built", name)), { recursive: true });
		fs.writeFileSync(path.join(world.work, "tasks/built", name), text);
	}
}

it(`18, in containers: a runner that is killed at ${KILLS} random moments of builds, starts, solutions, tests and ends`, { timeout: MOST_MS }, async ({
	skip,
}) => {
	const engine = await testEngine();
	if (typeof engine === "string") return skip(engine);
	await engine.docker.getImage(FULL_IMAGE).tag({ repo: "debian", tag: "12-slim" });
	const random = randomFrom(seedOf("kills of a runner with containers"));
	const world = newWorld({});
	tasksFor(world);
	fs.writeFileSync(path.join(world.work, "pool.json"), JSON.stringify([{ place: { kind: "docker", engine: engine.address } }]));
	const repeats = Math.ceil(KILLS / 3);
	let args = ["run", "tasks", "-o", "out", "--agent", "oracle", "--pool", "pool.json", "--repeats", String(repeats), "--concurrency", "3", "--json"];
	let kills = 0;
	for (; kills < KILLS; kills++) {
		const child = started(world, args);
		await lines(child, 1 + Math.floor(random() * 8));
		await sleep(random() * 2_000); // a moment, not a wait for something
		child.kill("SIGKILL");
		await once(child, "close");
		args = ["resume", "out", "--json"];
		if (ledgerOf(world).filter(({ t }) => t === "result").length === repeats * 4) break;
	}
	const { code, stdout } = await run(world, ["resume", "out"]);
	expect(code, stdout).toBe(0);
	const results = ledgerOf(world).flatMap((row) => (row.t === "result" ? [row] : []));
	expect(results.map(({ index }) => index).sort((a, b) => a - b)).toEqual(Array.from({ length: repeats * 4 }, (_, index) => index));
	expect(results.filter(({ outcome }) => outcome.kind !== "scored" || outcome.score.reward !== 1)).toEqual([]);
	const proof = JSON.parse(fs.readFileSync(path.join(world.work, "out/proof.json"), "utf8")) as Proof;
	expect(proof).toMatchObject({ control: true, kept: [], sandboxes: [], processes: [], mounts: [] });
	const containers = await Promise.all((await engine.docker.listContainers()).map(({ Id }) => engine.docker.getContainer(Id).inspect()));
	expect(containers.filter(({ Config }) => Config.Labels["dev.holdfast.home"]?.startsWith(world.work))).toEqual([]);
	const lost = ledgerOf(world).filter(({ t }) => t === "lost").length;
	console.log(`${kills} kills, ${lost} attempts lost with their program, ${results.length} results`);
});

it("10: an episode whose command does all it can against its end is over within ten seconds after its time limit", { timeout: MOST_MS }, async () => {
	const deaf = 'trap "" TERM INT HUP';
	const prompt = `${deaf}; (setsid sh -c '${deaf}; exec sleep 3600' &); sh -c '${deaf}; sleep 3600; sleep 3600'`;
	const server = await modelServer({ script: ({ results }) => (results.length > 0 ? say("done") : calls(["terminal", { command: prompt }])) });
	atEnd(() => server.close());
	const world = newWorld(configFor(server, { toolsets: ["terminal"] }));
	fs.writeFileSync(path.join(world.work, "rows.jsonl"), `${JSON.stringify({ prompt: "x" })}\n`.repeat(6));
	const { code, stdout } = await run(world, ["run", "rows.jsonl", "-o", "out", "--place", "local", "--concurrency", "2", "--seconds", "3"]);
	expect(code, stdout).toBe(0);
	const results = ledgerOf(world).flatMap((row) => (row.t === "result" ? [row] : []));
	expect(results.map(({ outcome, gone }) => [outcome.kind === "recorded" && outcome.end, gone])).toEqual(Array(6).fill(["deadline", true]));
	expect(Math.max(...results.map(({ seconds }) => seconds))).toBeLessThan(13); // what is promised
	expect(server.requests).toHaveLength(6);
});

it("what a killed runner has left ends at its own time limit, with no program to end it", { timeout: MOST_MS }, async () => {
	const prompt = "[ -e ../../../go ] || { echo $$ > ../../../held; exec sleep 3600; }; printf yes > out.txt";
	const server = await modelServer({ script: ({ results }) => (results.length > 0 ? say("done") : calls(["terminal", { command: prompt }])) });
	atEnd(() => server.close());
	const world = newWorld(configFor(server, { toolsets: ["terminal"] }));
	fs.writeFileSync(path.join(world.work, "rows.jsonl"), `${JSON.stringify({ prompt: "x", expect: { file: "out.txt", content: "yes" } })}\n`);
	const child = started(world, ["run", "rows.jsonl", "-o", "out", "--place", "local", "--seconds", "30"]);
	const held = path.join(world.work, "held");
	await until("the command runs", () => fs.existsSync(held) && fs.readFileSync(held, "utf8").endsWith("\n"));
	const pid = fs.readFileSync(held, "utf8").trim();
	child.kill("SIGKILL");
	await once(child, "close");
	expect(fs.existsSync(`/proc/${pid}`)).toBe(true);
	await until("its keeper has ended it", () => !fs.existsSync(`/proc/${pid}`), 30_000 + 60_000 + 120_000 + 60_000);
	fs.writeFileSync(path.join(world.work, "go"), "");
	const { code, stdout } = await run(world, ["resume", "out"]);
	expect(code, stdout).toBe(0);
	expect(ledgerOf(world).map(({ t }) => t)).toEqual(["start", "lost", "start", "result"]);
});

it("2,000 episodes in one run: one result each, flat memory and descriptors", { timeout: MOST_MS }, async () => {
	const episodes = Number(process.env.EPISODES ?? 2_000);
	const world = await begun(episodes);
	const child = started(world, ["run", "rows.jsonl", "-o", "out", "--place", "local", "--concurrency", "8", "--json"]);
	const samples: { done: number; rss: number; fds: number }[] = [];
	let rest = "";
	let done = 0;
	child.stdout.setEncoding("utf8").on("data", (text: string) => {
		const lines = (rest + text).split("\n");
		rest = lines.pop() ?? "";
		for (const line of lines) {
			if (!line.startsWith('{"type":"result"')) continue;
			done++;
			if (done % Math.max(1, Math.floor(episodes / 20)) === 0) samples.push({ done, ...used(child.pid ?? 0) });
		}
	});
	const [code] = (await once(child, "close")) as [number | null];
	console.log(samples.map(({ done: at, rss, fds }) => `${at}: ${(rss / 1024 ** 2).toFixed(0)} MiB, ${fds} descriptors`).join("; "));
	expect(code).toBe(0);
	const results = ledgerOf(world).flatMap((row) => (row.t === "result" ? [row] : []));
	expect(new Set(results.map(({ index }) => index)).size).toBe(episodes);
	expect(results).toHaveLength(episodes);
	const at = (share: number) => samples[Math.floor(samples.length * share) - 1] ?? { rss: 0, fds: 0 };
	expect(at(1).fds).toBeLessThan(at(0.25).fds + 20);
	expect(at(1).rss).toBeLessThan(at(0.25).rss * 1.3 + 20 * 1024 ** 2); // results in memory grow, by about 1 KiB each
});

function used(pid: number): { rss: number; fds: number } {
	const [, kib = "0"] = /VmRSS:\s+(\d+)/.exec(fs.readFileSync(`/proc/${pid}/status`, "utf8")) ?? [];
	return { rss: Number(kib) * 1024, fds: fs.readdirSync(`/proc/${pid}/fd`).length };
}
