import { spawn } from "node:child_process";
import { once } from "node:events";
import fs from "node:fs";
import path from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { expect, it } from "vitest";
import type { LedgerRow, Proof } from "../../src/run/index.js";
import { calls, modelServer, type SeenRequest, type Step, say } from "../model-server/index.js";
import { atEnd } from "../support/dirs.js";
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
