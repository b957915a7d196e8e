import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import fs from "node:fs";
import path from "node:path";
import { expect, it } from "vitest";
import type { LedgerRow } from "../../src/run/index.js";
import { calls, modelServer, type SeenRequest, type Step, say } from "../model-server/index.js";
import { atEnd, until } from "../support/dirs.js";
import { configFor, MAIN, newWorld, run, type World } from "../support/seat.js";

/** `hold NAME` makes the file held-NAME, and is done when there is a file go-NAME. */
function holder({ said, results }: SeenRequest): Step {
	if (results.length > 0) return say("done");
	const [what, name] = said.split(" ");
	if (what === "plain") return calls(["terminal", { command: "printf x > out.txt; pwd; cat out.txt" }]);
	return calls([
		"terminal",
		{ command: `top=../../..; touch $top/held-${name}; until [ -e $top/go-${name} ]; do sleep 0.02; done; printf x > out.txt`, timeout: 600 },
	]);
}

async function begun(names: readonly string[]) {
	const server = await modelServer({ script: holder });
	atEnd(() => server.close());
	const world = newWorld(configFor(server, { toolsets: ["terminal"] }));
	const rows = names.map((name) => `${JSON.stringify({ prompt: `hold ${name}`, id: name, expect: { file: "out.txt", content: "x" } })}\n`);
	fs.writeFileSync(path.join(world.work, "rows.jsonl"), rows.join(""));
	const held = (name: string) => until(`${name} is under way`, () => fs.existsSync(path.join(world.work, `held-${name}`)));
	const go = (name: string) => fs.writeFileSync(path.join(world.work, `go-${name}`), "");
	const rowsNow = (): LedgerRow[] => {
		const file = path.join(world.work, "out/ledger.jsonl");
		const lines = fs.existsSync(file) ? fs.readFileSync(file, "utf8").split("\n").slice(0, -1) : [];
		return lines.map((line) => JSON.parse(line) as LedgerRow);
	};
	const is = (t: string, index: number, attempt: number) =>
		until(`${t} of ${index}.${attempt}`, () => rowsNow().some((row) => row.t === t && row.index === index && row.attempt === attempt));
	return { world, held, go, rowsNow, is };
}

function program(world: World, ...args: readonly string[]): { readonly child: ChildProcess; said(): string; end(): Promise<number | null> } {
	const env = { ...world.env, TEST_ROOT: process.env.TEST_ROOT ?? "" };
	const child = spawn(process.execPath, [MAIN, ...args], { cwd: world.work, env, stdio: ["ignore", "pipe", "pipe"] });
	atEnd(() => void child.kill("SIGKILL"));
	let said = "";
	for (const stream of [child.stdout, child.stderr])
		stream?.setEncoding("utf8").on("data", (text: string) => {
			said += text;
		});
	const closed = once(child, "close") as Promise<[number | null]>;
	return { child, said: () => said, end: async () => (await closed)[0] };
}

const told = async (world: World, ...args: readonly string[]): Promise<string> => {
	const { code, stdout, stderr } = await run(world, args);
	return `${code} ${stdout}${stderr}`;
};

it("pause, set concurrency, cancel and requeue count while it runs, and for the next program that runs it", async () => {
	const { world, held, go, rowsNow, is } = await begun(["a", "b", "c", "d"]);
	const first = program(world, "run", "rows.jsonl", "-o", "out", "--place", "local", "--concurrency", "1");
	await held("a");
	expect(await told(world, "pause", "out")).toMatch(/^0 paused: nothing starts/);
	expect(await told(world, "requeue", "out", "0")).toMatch(/^2 .*has no result that could be taken back: it is under way/);
	expect(await told(world, "set", "out", "concurrency=none")).toMatch(/^2 /);
	expect(await told(world, "cancel", "out", "9")).toMatch(/^1 .*no episode 9; the run has 0 to 3/);
	go("a");
	await is("result", 0, 1);
	first.child.kill("SIGKILL");
	await first.end();
	expect(rowsNow().filter(({ t }) => t === "start")).toHaveLength(1); // it was paused before a had ended

	expect(await told(world, "set", "out", "concurrency=2")).toMatch(/No program runs this run: it counts when/);
	await told(world, "cancel", "out", "3");
	await told(world, "requeue", "out", "0");
	const second = program(world, "resume", "out");
	await is("result", 3, 1); // cancelled: not begun
	await is("requeued", 0, 1);
	await is("start", 0, 2); // made again first, since it was begun before the others
	await is("result", 0, 2);
	await Promise.all([held("b"), held("c")]); // two at a time
	expect(await told(world, "cancel", "out", "1")).toMatch(/^0 episode 1, attempt 1: it is ended/);
	await is("result", 1, 1);
	expect(await told(world, "cancel", "out", "1")).toMatch(/^2 .*has its result already/);
	await told(world, "requeue", "out", "1");
	go("b");
	await is("result", 1, 2);
	go("c");
	expect(await second.end(), second.said()).toBe(0);
	const { episodes } = JSON.parse((await run(world, ["show", "out", "--json"])).stdout) as {
		episodes: { attempts: number; result: { outcome: { kind: string; code?: string } } }[];
	};
	expect(episodes.map(({ attempts, result }) => [attempts, result.outcome.code ?? result.outcome.kind])).toEqual([
		[2, "scored"],
		[2, "scored"],
		[1, "scored"],
		[1, "cancelled"],
	]);
	expect(await told(world, "show", "out", "1")).toMatch(/attempt 1: error \(runner, cancelled\).*\n.*attempt 1 does not count any more.*\n.*attempt 2 began/);
	fs.writeFileSync(path.join(world.work, "out/work/000002.1/out.txt"), "x and more");
	expect(await told(world, "rescore", "out", "2")).toMatch(/episode 2: was 1, is 0\.5/);
	expect(JSON.parse((await run(world, ["show", "out", "2", "--json"])).stdout).result.outcome.score.reward).toBe(0.5);
});

it("a second interrupt leaves at once and says what ends what was left; then another program may run it", async () => {
	const { world, held, go, is } = await begun(["a", "b"]);
	const first = program(world, "run", "rows.jsonl", "-o", "out", "--place", "local", "--concurrency", "1");
	await held("a");
	expect(await told(world, "resume", "out")).toMatch(/^1 [\s\S]*another program \(pid \d+\) runs this run/);
	first.child.kill("SIGSTOP"); // both come before it has ended anything
	first.child.kill("SIGINT");
	first.child.kill("SIGTERM");
	first.child.kill("SIGCONT");
	expect(await first.end()).toBe(130);
	expect(first.said()).toMatch(/stopping: nothing starts any more/);
	expect(first.said()).toMatch(/left at once, with episodes 0 under way\. Their commands are killed by their keepers .* after each began/);
	go("a");
	go("b");
	const { code, stdout } = await run(world, ["resume", "out"]);
	expect(code, stdout).toBe(0);
	expect(stdout).toMatch(/episode 0, attempt 1: its program was gone; ended .*1 shell/);
	await is("result", 0, 2);
	expect(stdout).toMatch(/2 of 2 done: 2 scored.*\n[\s\S]*nothing is left/);
});

it("a damaged row in the middle stops with its number, a torn last one is cut off and kept", async () => {
	const { world, go } = await begun(["a"]);
	go("a");
	expect((await run(world, ["run", "rows.jsonl", "-o", "out", "--place", "local"])).code).toBe(0);
	const ledger = path.join(world.work, "out/ledger.jsonl");
	const whole = fs.readFileSync(ledger, "utf8");
	fs.writeFileSync(ledger, `${whole}{"t":"res`);
	expect(await told(world, "resume", "out")).toMatch(/^0 .*\n.*the last row of the ledger was torn: its 9 bytes were cut off/);
	expect(fs.readFileSync(ledger, "utf8")).toBe(whole);
	expect(fs.readFileSync(`${ledger}.cut`, "utf8")).toBe('{"t":"res\n');
	fs.writeFileSync(ledger, `{"t":"start"\n${whole}`);
	expect(await told(world, "resume", "out")).toMatch(/^1 [\s\S]*line 1 of .*ledger\.jsonl is damaged/);
	expect(await told(world, "show", "out")).toMatch(/^1 .*line 1 of/);
});

it("a replay finds no divergence in what does the same twice, and names the turn that does not", async () => {
	const { world } = await begun(["a"]);
	fs.writeFileSync(path.join(world.work, "rows.jsonl"), `${JSON.stringify({ prompt: "plain", expect: { file: "out.txt", content: "x" } })}\n`);
	expect((await run(world, ["run", "rows.jsonl", "-o", "out", "--place", "local"])).code).toBe(0);
	fs.mkdirSync(path.join(world.work, "out/replays/000000.1/work"), { recursive: true }); // left of an earlier one
	expect(await told(world, "replay", "out", "0")).toMatch(/^0 no divergence: all 1 calls gave the same\nit was 1, and is 1/);
	const [talk = ""] = fs.readdirSync(path.join(world.work, "out/talk/conversations")).filter((name) => name.endsWith(".jsonl"));
	const file = path.join(world.work, "out/talk/conversations", talk);
	fs.writeFileSync(file, fs.readFileSync(file, "utf8").replaceAll("printf x > out.txt", "printf y > out.txt"));
	expect(await told(world, "replay", "out", "0")).toMatch(/^1 the first 0 of 1 calls gave the same; turn 1 did not: terminal .*\n[\s\S]*it was 1, and is 0/);
});
