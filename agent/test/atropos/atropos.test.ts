import fs from "node:fs";
import path from "node:path";
import { expect, it } from "vitest";
import { started } from "../fleet/support.js";
import { calls, fails, modelServer, type SeenRequest, type Step, say, textOfIds } from "../model-server/index.js";
import { atEnd, until } from "../support/dirs.js";
import { configFor, newWorld, run, type World } from "../support/seat.js";
import { trainerDouble } from "./double.js";

/** One of the repeats of an item gets it right: the first that makes the directory. */
const unequal = (name: string) => `mkdir ../../../${name} 2>/dev/null && printf yes > out.txt || printf no > out.txt`;

function script({ said, results }: SeenRequest): Step {
	if (said === "fail") return fails(400, { message: "no" });
	if (results.length > 0) return say("done");
	return { ...calls(["terminal", { command: said.replace("think ", "") }]), ...(said.startsWith("think ") ? { reasoning: "hm" } : {}) };
}

async function ran(prompts: readonly string[]): Promise<World> {
	const server = await modelServer({ script, broken: "expected", tokens: ({ said }) => (said.includes("missing") ? "missing" : "right") });
	atEnd(() => server.close());
	const config = configFor(server, { toolsets: ["terminal"] });
	const endpoints = { scripted: { ...(config.endpoints as { scripted: object }).scripted, tokenIds: "stream" } };
	const world = newWorld({ ...config, endpoints });
	const rows = prompts.map((prompt) => `${JSON.stringify({ prompt, id: prompt.split(" ")[0], expect: { file: "out.txt", content: "yes" } })}\n`);
	fs.writeFileSync(path.join(world.work, "rows.jsonl"), rows.join(""));
	const { code, stdout, stderr } = await run(world, ["run", "rows.jsonl", "-o", "out", "--repeats", "2", "--place", "local", "--retry-wait", "1"]);
	expect(code, stdout + stderr).toBe(0);
	return world;
}

async function trainer(options: { batch?: number } = {}) {
	const double = await trainerDouble(options);
	atEnd(() => double.close());
	return double;
}

const rowsOf = (world: World, file: string) =>
	fs
		.readFileSync(path.join(world.work, "out", file), "utf8")
		.split("\n")
		.filter(Boolean)
		.map((line) => JSON.parse(line));

it("complete and unequal groups are sent once with the ids as they were; others are counted with their reasons", async () => {
	const world = await ran([unequal("good"), "printf yes > out.txt", "fail", `think ${unequal("thought")}`, `: missing; ${unequal("missing")}`]);
	const double = await trainer();
	double.waits = 2;
	const { code, stdout, stderr } = await run(world, ["atropos", "out", "--url", double.url]);
	expect(code, stderr).toBe(0);
	expect(stdout).toBe("1 groups sent, 1 not sent (equal scores), 1 not sent (no reward), 1 not sent (no token ids), 1 not sent (several segments)\n");
	expect(stderr).toMatch(/waits: wait for trainer to start/);
	expect(double.broken).toEqual([]);
	expect(double.asked.filter((one) => one.endsWith("/register-env"))).toHaveLength(3);
	expect(double.asked.at(-1)).toBe("POST /disconnect-env");
	const [{ tokens, masks, scores, inference_logprobs: logprobs }] = double.groups as unknown as [
		{ tokens: number[][]; masks: number[][]; scores: number[]; inference_logprobs: number[][] },
	];
	expect([...scores].sort()).toEqual([0, 1]);
	for (const [at, ids] of tokens.entries()) {
		const mask = masks[at] as number[];
		const trained = ids.filter((id, n) => mask[n] !== -100 && mask[n] === id);
		expect(mask.every((id, n) => id === -100 || id === ids[n])).toBe(true);
		expect(textOfIds(trained)).toBe(`<call>terminal ${JSON.stringify({ command: unequal("good") })}</call>|done|`);
		expect(logprobs[at]?.every((logprob, n) => (mask[n] === -100 ? logprob === 1 : logprob <= 0))).toBe(true);
	}
	const again = await run(world, ["atropos", "out", "--url", double.url]);
	expect([again.stdout, double.groups.length]).toEqual([stdout, 1]);
	expect((await run(world, ["atropos", "out", "--url", double.url, "--max-tokens", "10"])).stdout).toBe(stdout); // decided is decided
	expect((await run(world, ["atropos", "out"])).stderr).toMatch(/say where the trainer is/);
	expect((await run(world, ["atropos", "out", "--url", "localhost"])).stderr).toMatch(/is no address of a trainer/);
});

it("while much waits at the trainer nothing is sent and the run is paused; neither a kill nor a trainer that forgets makes it send a group twice", async () => {
	const world = await ran(["first", "second", "third"].map(unequal));
	const double = await trainer({ batch: 2 });
	const held = () => {
		let answer: (value?: unknown) => void = () => {};
		double.hold = new Promise((resolve) => {
			answer = resolve;
		});
		return () => {
			double.hold = undefined;
			answer();
		};
	};
	double.queue = 3; // 3 groups of 2 are 3 batches of 2
	const first = started(world, ["atropos", "out", "--url", double.url]);
	await until("it waits", () => /the run is paused/.test(first.printed()));
	expect(rowsOf(world, "requests.jsonl").map((row) => row.do)).toEqual(["pause"]);
	expect(double.groups).toEqual([]);
	let answer = held();
	double.queue = 0;
	await until("a group has arrived", () => double.groups.length === 1);
	await first.kill();
	answer();

	answer = held();
	const second = started(world, ["atropos", "out", "--url", double.url]);
	await until("another group has arrived", () => double.groups.length === 2);
	double.forget();
	answer();
	expect(await second.ended).not.toBe(0);
	expect(second.printed()).toMatch(/it is not known whether it arrived, and it is not sent again/);
	expect(second.printed()).toMatch(/the trainer has refused \(500.*it may have been started anew/);

	const third = await run(world, ["atropos", "out", "--url", double.url, "--json"]);
	expect(third.code, third.stderr).toBe(0);
	expect(JSON.parse(third.stdout)).toEqual({ sent: 2, unknown: 1, refused: 0, skipped: {} });
	expect(double.groups).toHaveLength(3);
	expect(new Set(double.groups.map(({ tokens }) => JSON.stringify(tokens))).size).toBe(3);
	expect(rowsOf(world, "requests.jsonl").map((row) => row.do)).toEqual(["pause", "continue"]);
	expect(double.broken).toEqual([]);
	expect((await run(world, ["atropos", "out", "--url", `${double.url}/nowhere`])).stderr).toMatch(/the trainer has refused to register \(404/);
});
