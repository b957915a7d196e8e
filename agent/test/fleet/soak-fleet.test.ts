import fs from "node:fs";
import path from "node:path";
import { describe, expect, it } from "vitest";
import { calls, modelServer, say } from "../model-server/index.js";
import { atEnd, until } from "../support/dirs.js";
import { configFor, newWorld, type World } from "../support/seat.js";
import { randomFrom, seedOf } from "../support/seed.js";
import { ledgerOf, natsServer, noNats, resultsOf, type Started, started } from "./support.js";

async function worldOf(prompts: readonly string[]): Promise<World> {
	const server = await modelServer({
		script: ({ said, results }) => (results.length > 0 ? say("done") : calls(["terminal", { command: said }])),
		broken: "expected",
	});
	atEnd(() => server.close());
	const world = newWorld(configFor(server, { toolsets: ["terminal"] }));
	fs.writeFileSync(
		path.join(world.work, "rows.jsonl"),
		prompts.map((prompt) => `${JSON.stringify({ prompt, expect: { file: "out.txt", content: "yes" } })}\n`).join(""),
	);
	return world;
}

const worker = (world: World, url: string, name: string) => started(world, ["worker", "--nats", url, "--dir", name, "--name", name, "--concurrency", "3"]);

async function endAll(workers: Iterable<Started>): Promise<void> {
	for (const { child } of workers) child.kill("SIGTERM");
	for (const { ended } of workers) await ended;
}

/** One row for each index, a folder for each row, and nothing of a worker's that is not collected. */
function checkRun(world: World, jobs: number): void {
	const results = resultsOf(world, "out");
	expect(results.map(({ index }) => index).sort((a, b) => a - b)).toEqual(Array.from({ length: jobs }, (_, index) => index));
	expect(results.filter(({ outcome }) => outcome.kind !== "scored" || outcome.score.reward !== 1)).toEqual([]);
	for (const { index, attempt, conversation } of results) {
		expect(fs.existsSync(path.join(world.work, "out/episodes", `${String(index).padStart(6, "0")}.${attempt}`, "trajectory.json"))).toBe(true);
		expect(fs.existsSync(path.join(world.work, `out/talk/conversations/${conversation}.jsonl`))).toBe(true);
	}
}

const LONG_MS = 1_800_000;

describe.skipIf(noNats)("a fleet", { timeout: LONG_MS }, () => {
	it("200 jobs, five workers, the collector twice and the server three times killed: one row for each", async () => {
		const random = randomFrom(seedOf("fleet"));
		const jobs = Number(process.env.JOBS ?? 200);
		const world = await worldOf(Array.from({ length: jobs }, () => "sleep 0.2; printf yes > out.txt"));
		const nats = await natsServer();
		let collecting = started(world, ["run", "rows.jsonl", "-o", "out", "--nats", nats.url, "--lease", "5", "--place", "local", "--proof-wait", "120"]);
		const names = ["a", "b", "c"];
		const workers = new Map(names.map((name) => [name, worker(world, nats.url, name)]));
		const kills = ["worker", "server", "worker", "collector", "worker", "server", "worker", "collector", "worker", "server"];
		for (const [at, kill] of kills.entries()) {
			const wanted = Math.floor(((at + random()) * jobs) / (kills.length + 1));
			await until(`${wanted} results`, () => resultsOf(world, "out").length >= wanted, 600_000);
			if (kill === "worker") {
				const name = names[Math.floor(random() * names.length)] as string;
				await workers.get(name)?.kill();
				workers.set(name, worker(world, nats.url, name));
			} else if (kill === "server") {
				await nats.kill();
				await nats.start();
			} else {
				await collecting.kill();
				collecting = started(world, ["collect", "out", "--nats", nats.url, "--proof-wait", "120"]);
			}
		}
		expect(await collecting.ended, collecting.printed() + [...workers.values()].map(({ printed }) => printed()).join("\n")).toBe(0);
		checkRun(world, jobs);
		await endAll(workers.values());
	});

	it("everything that the server had is lost in the middle: jobs are given out again, results that were not stored are handed in again", async () => {
		const jobs = 30;
		const world = await worldOf(Array.from({ length: jobs }, () => "sleep 0.5; printf yes > out.txt"));
		const nats = await natsServer();
		const first = started(world, ["run", "rows.jsonl", "-o", "out", "--nats", nats.url, "--lease", "5", "--place", "local"]);
		const workers = [worker(world, nats.url, "a")];
		await until("some results", () => resultsOf(world, "out").length >= 5, LONG_MS);
		await first.kill(); // what is handed in meanwhile is only in the queue
		const handedIn = () =>
			fs.readdirSync(path.join(world.work, "a"), { recursive: true }).filter((name) => /episodes\/\d+\.\d+\/trajectory\.json$/.test(String(name))).length;
		await until("some are kept at the worker", () => handedIn() >= 3);
		await nats.kill();
		nats.wipe();
		await nats.start();
		const collecting = started(world, ["collect", "out", "--nats", nats.url, "--lease", "5", "--proof-wait", "120"]);
		expect(await collecting.ended, collecting.printed() + workers[0]?.printed()).toBe(0);
		checkRun(world, jobs);
		await endAll(workers);
	});

	it("a worker that was frozen for longer than its lease cannot overwrite the result of the one that took its job", async () => {
		const world = await worldOf(["if [ -e ../../../../second ]; then printf yes > out.txt; else touch ../../../../held; sleep 1; printf no > out.txt; fi"]);
		const nats = await natsServer();
		const collecting = started(world, ["run", "rows.jsonl", "-o", "out", "--nats", nats.url, "--lease", "2", "--place", "local", "--proof-wait", "120"]);
		const frozen = worker(world, nats.url, "frozen");
		await until("it has the job", () => fs.existsSync(path.join(world.work, "held")));
		frozen.child.kill("SIGSTOP");
		fs.writeFileSync(path.join(world.work, "second"), "");
		const other = worker(world, nats.url, "other");
		await until("the other has handed in", () => resultsOf(world, "out").length === 1);
		frozen.child.kill("SIGCONT");
		expect(await collecting.ended, collecting.printed() + frozen.printed() + other.printed()).toBe(0);
		expect(frozen.printed()).toMatch(/episode 0: other was first; the result of this worker does not count/);
		expect(ledgerOf(world, "out").map(({ t, place, outcome }) => [t, t === "start" ? place : outcome.score.reward])).toEqual([
			["start", "worker other"],
			["result", 1],
		]);
		await endAll([frozen, other]);
	});
});
