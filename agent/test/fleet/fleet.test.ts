import fs from "node:fs";
import path from "node:path";
import { describe, expect, it } from "vitest";
import { calls, modelServer, say } from "../model-server/index.js";
import { atEnd, until } from "../support/dirs.js";
import { configFor, newWorld, run, type World } from "../support/seat.js";
import { ledgerOf, natsServer, noNats, resultsOf, started } from "./support.js";

async function worldOf(): Promise<World> {
	const server = await modelServer({
		script: ({ said, results }) => (results.length > 0 ? say("done") : calls(["terminal", { command: said }])),
		broken: "expected",
	});
	atEnd(() => server.close());
	return newWorld(configFor(server, { toolsets: ["terminal"] }));
}

const put = (world: World, prompts: readonly string[]) =>
	fs.writeFileSync(
		path.join(world.work, "rows.jsonl"),
		prompts.map((prompt) => `${JSON.stringify({ prompt, expect: { file: "out.txt", content: "yes" } })}\n`).join(""),
	);

describe.skipIf(noNats)("a run on several machines", () => {
	it("is played by workers and collected once: rows, folders and conversations as of any run, and a proof of each worker", async () => {
		const [world, nats] = await Promise.all([worldOf(), natsServer()]);
		put(world, ["printf yes > out.txt", "printf no > out.txt", "printf yes > out.txt; sleep 3600 &", "printf yes > out.txt"]);
		const workers = [1, 2].map((n) => started(world, ["worker", "--nats", nats.url, "--dir", `worker${n}`, "--name", `w${n}`, "--concurrency", "2", "--once"]));
		const { code, stdout, stderr } = await run(world, ["run", "rows.jsonl", "-o", "out", "--nats", nats.url]);
		const said = stdout + stderr + workers.map(({ printed }) => printed()).join("");
		expect(code, said).toBe(0);
		const results = resultsOf(world, "out").sort((a, b) => a.index - b.index);
		expect(results.map(({ index, outcome }) => [index, outcome.score.reward])).toEqual([
			[0, 1],
			[1, 0],
			[2, 1],
			[3, 1],
		]);
		for (const { index, attempt, conversation } of results) {
			expect(fs.existsSync(path.join(world.work, `out/episodes/00000${index}.${attempt}/trajectory.json`))).toBe(true);
			expect(fs.existsSync(path.join(world.work, `out/talk/conversations/${conversation}.jsonl`))).toBe(true);
		}
		const took = new Set(ledgerOf(world, "out").flatMap(({ t, place }) => (t === "start" ? [place.replace("worker ", "")] : [])));
		expect(stdout).toMatch(/w\d: nothing is left/);
		expect(
			JSON.parse(fs.readFileSync(path.join(world.work, "out/fleet.json"), "utf8")).workers.filter(({ clean }: { clean: boolean }) => clean).length,
		).toBeGreaterThanOrEqual(took.size);
		expect((await run(world, ["export", "out", "--format", "openai"])).stderr).toMatch(/4 episodes as openai, 4 rows\n/);
		for (const name of took) expect(fs.readdirSync(path.join(world.work, name.replace("w", "worker"))).filter((one) => one.startsWith("run_"))).toEqual([]); // nothing is kept of what is stored
		for (const worker of workers) worker.child.kill("SIGTERM");
		await Promise.all(workers.map(({ ended }) => ended));
	});

	it("an index is given out again when its worker is killed, and what that one has left there is ended when it comes back", async () => {
		const [world, nats] = await Promise.all([worldOf(), natsServer()]);
		put(world, ["[ -e ../../../../go ] || { touch ../../../../held; exec sleep 3600; }; printf yes > out.txt"]);
		const args = ["worker", "--nats", nats.url, "--dir", "lost", "--name", "lost"];
		const collecting = started(world, ["run", "rows.jsonl", "-o", "out", "--nats", nats.url, "--lease", "2", "--place", "local"]);
		const first = started(world, args);
		await until("the episode runs", () => fs.existsSync(path.join(world.work, "held")));
		expect((await run(world, ["cancel", "out", "0"])).stderr).toMatch(/workers of a collector play this run, and they follow no such request/);
		await first.kill();
		fs.writeFileSync(path.join(world.work, "go"), "");
		const second = started(world, ["worker", "--nats", nats.url, "--dir", "other", "--name", "other"]);
		await until("it has its result", () => resultsOf(world, "out").length === 1);
		const back = started(world, args);
		expect(await collecting.ended, collecting.printed() + second.printed() + back.printed()).toBe(0);
		expect(back.printed()).toMatch(/episode 0, attempt 1: the worker was gone; ended proc_/);
		expect(ledgerOf(world, "out").map(({ t, place }) => [t, place])).toEqual([
			["start", "worker other"],
			["result", "worker other"],
		]);
		for (const worker of [second, back]) worker.child.kill("SIGTERM");
		await Promise.all([second.ended, back.ended]);
	});

	it("without a server a worker and a collector say so, wait, and end when they are told to", async () => {
		const world = await worldOf();
		put(world, ["true"]);
		const nowhere = ["--nats", "nats://127.0.0.1:1"];
		const both = [started(world, ["worker", ...nowhere, "--dir", "w"]), started(world, ["run", "rows.jsonl", "-o", "out", "--place", "local", ...nowhere])];
		for (const one of both) {
			await until("it says so", () => /no NATS server answers at nats:\/\/127\.0\.0\.1:1 .*trying again/.test(one.printed()));
			one.child.kill("SIGTERM");
			expect(await one.ended, one.printed()).toBe(130);
		}
	});

	it("says what it needs", async () => {
		const world = await worldOf();
		expect((await run(world, ["worker"])).stderr).toMatch(/say where the NATS server is/);
		expect((await run(world, ["worker", "--nats", "nats://127.0.0.1:1", "--name", "a.b"])).stderr).toMatch(/"a.b" cannot be the name of a worker/);
		expect((await run(world, ["collect", "nowhere", "--nats", "nats://127.0.0.1:1"])).stderr).toMatch(/there is no run in/);
	});
});
