import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import fs from "node:fs";
import path from "node:path";
import { expect, it } from "vitest";
import type { LedgerRow } from "../../src/run/rows.js";
import { calls, fails, modelServer, type SeenRequest, type Step, say } from "../model-server/index.js";
import { atEnd, until } from "../support/dirs.js";
import { configFor, MAIN, newWorld, run, type World } from "../support/seat.js";

const KEY = "sk-planted-for-the-endpoint-alone";

/** Does what the prompt says behind `run`, once, and is done. */
function worker({ said, results }: SeenRequest): Step {
	if (results.length > 0) return say("done");
	if (said.startsWith("wrong ")) return fails(400, { message: `no such thing for ${KEY}` });
	return calls(["terminal", { command: said.replace(/^run /, "") }]);
}

async function worldWith(script: (request: SeenRequest) => Step, config: Readonly<Record<string, unknown>> = {}) {
	const server = await modelServer({ script, broken: "expected", key: KEY });
	atEnd(() => server.close());
	const endpoints = { scripted: { url: server.url, window: 100_000, key: { file: "planted" } } };
	const world = newWorld(configFor(server, { endpoints, toolsets: ["terminal"], ...config }));
	fs.mkdirSync(world.file("keys"), { mode: 0o700 });
	fs.writeFileSync(world.file("keys/planted"), `${KEY}\n`, { mode: 0o600 });
	return { server, world };
}

/** Files of a run that have a text in them. */
const filesWith = (world: World, dir: string, text: string): string[] =>
	(fs.readdirSync(path.join(world.work, dir), { recursive: true }) as string[]).filter((name) => {
		const file = path.join(world.work, dir, name);
		return fs.lstatSync(file).isFile() && fs.readFileSync(file).includes(text);
	});

const rowsIn = (world: World, dir: string): LedgerRow[] =>
	fs
		.readFileSync(path.join(world.work, dir, "ledger.jsonl"), "utf8")
		.split("\n")
		.filter(Boolean)
		.map((line) => JSON.parse(line) as LedgerRow);
const resultsIn = (world: World, dir: string) => rowsIn(world, dir).flatMap((row) => (row.t === "result" ? [row] : []));
const put = (world: World, rows: readonly object[]) =>
	fs.writeFileSync(path.join(world.work, "rows.jsonl"), rows.map((row) => `${JSON.stringify(row)}\n`).join(""));
const expected = (content: string) => ({ file: "out.txt", content });

it("each episode is scored by its file alone, leaves nothing, and is run in a directory of its own", async () => {
	const { world } = await worldWith(worker);
	put(world, [
		{ prompt: "run printf 'yes\\n' > out.txt; sleep 3600 & disown; (setsid sleep 3600 &); cd /tmp", expect: expected("yes\n"), id: "exact" },
		{ prompt: "run printf 'oh yes\\n!' > out.txt", expect: expected("yes\n"), id: "contains" },
		{ prompt: "run mkdir other; cd other; printf 'yes\\n' > out.txt", expect: expected("yes\n"), id: "missing" },
		{ prompt: "run mkdir out.txt", expect: expected("yes\n"), id: "directory" },
		{ prompt: "run ls", id: "unscored" },
	]);
	const { code, stdout, stderr } = await run(world, ["run", "rows.jsonl", "-o", "out", "--concurrency", "3"]);
	expect(code, stdout + stderr).toBe(0);
	expect(stdout).toMatch(/5 of 5 done: 4 scored, 1 recorded, no errors/);
	expect(stdout).toMatch(/nothing is left: the look found what was planted/);
	const results = resultsIn(world, "out").sort((a, b) => a.index - b.index);
	expect(results.map(({ outcome }) => (outcome.kind === "scored" ? outcome.score.reward : outcome.kind))).toEqual([1, 0.5, 0, 0, "recorded"]);
	expect(results.map(({ gone }) => gone)).toEqual([true, true, true, true, true]);
	expect(results[0]?.tools).toEqual([{ tool: "terminal", count: 1, failure: 0 }]);
	expect(fs.existsSync(path.join(world.work, "out/work/000000.1/out.txt"))).toBe(true);
	expect(JSON.parse(fs.readFileSync(path.join(world.work, "out/episodes/000000.1/trajectory.json"), "utf8")).messages.length).toBeGreaterThan(2);
	const shown = await run(world, ["show", "out", "--json"]);
	expect(JSON.parse(shown.stdout).summary).toMatchObject({ done: 5, mean: { value: 0.375 }, solved: { value: 0.25 }, tools: [{ tool: "terminal", count: 5 }] });
});

it("a failure of the model is an error and never a reward; it is tried again, and every attempt is on record, without the endpoint's key", async () => {
	const { world, server } = await worldWith(worker);
	put(world, [
		{ prompt: "wrong command", expect: expected("x") },
		{ prompt: "run cat /proc/[0-9]*/cmdline > args.txt; env | tee env.txt; printf x > out.txt", expect: expected("x") },
	]);
	const { code, stdout, stderr } = await run(world, ["run", "rows.jsonl", "-o", "out", "--place", "local", "--retry-wait", "0"]);
	expect(code, stdout).toBe(0);
	expect(filesWith(world, "out", "rows.jsonl").join()).toContain("args.txt"); // the runner's own arguments were seen
	expect([filesWith(world, "out", KEY), `${stdout}${stderr}`.includes(KEY)]).toEqual([[], false]);
	const rows = rowsIn(world, "out").filter(({ index }) => index === 0);
	expect(rows.map(({ t }) => t)).toEqual(["start", "failed", "start", "result"]);
	expect(resultsIn(world, "out").map(({ index, outcome }) => [index, outcome.kind])).toContainEqual([0, "error"]);
	expect(server.requests.filter(({ said }) => said === "wrong command")).toHaveLength(2);
	expect(stdout).toMatch(/solved 100\.0 %.*with errors as 0: 50\.0 %/);
});

it("at its time limit the command is dead whatever it does against that, the episode is scored, and the model is asked no more", async () => {
	const { world, server } = await worldWith(worker);
	const deaf = `trap "" TERM INT HUP`;
	put(world, [{ prompt: `run ${deaf}; (setsid sh -c '${deaf}; exec sleep 3600' &); sh -c '${deaf}; sleep 3600; sleep 3600'`, expect: expected("x") }]);
	const { code, stdout } = await run(world, ["run", "rows.jsonl", "-o", "out", "--seconds", "2"]);
	expect(code, stdout).toBe(0);
	expect(resultsIn(world, "out").map(({ outcome }) => outcome)).toEqual([{ kind: "scored", score: { reward: 0, evidence: [] }, end: "deadline" }]);
	expect(server.requests).toHaveLength(1);
	expect(stdout).toMatch(/nothing is left/);
});

it("killed in the middle it is gone on with: one result for each, and what was left is ended", async () => {
	const { world } = await worldWith(worker);
	put(world, [
		{ prompt: "run printf a > out.txt", expect: expected("a") },
		{ prompt: "run [ -e ../../../go ] || { touch ../../../held; exec sleep 3600; }; printf b > out.txt", expect: expected("b") },
	]);
	const place = ["--place", "local"];
	const first = spawn(process.execPath, [MAIN, "run", "rows.jsonl", "-o", "out", "--concurrency", "1", ...place], {
		...{ cwd: world.work, stdio: "ignore" },
		env: { ...world.env, TEST_ROOT: process.env.TEST_ROOT ?? "" },
	});
	await until("the second episode runs", () => fs.existsSync(path.join(world.work, "held")));
	const second = await run(world, ["resume", "out"]);
	expect(second.stderr).toMatch(/another program \(pid \d+\) runs this run/);
	first.kill("SIGKILL");
	await once(first, "exit");
	fs.appendFileSync(path.join(world.work, "out/ledger.jsonl"), '{"t":"result","ind'); // as a torn write leaves it
	fs.writeFileSync(path.join(world.work, "rows.jsonl"), "changed"); // items are frozen
	fs.writeFileSync(path.join(world.work, "go"), "");
	const { code, stdout, stderr } = await run(world, ["resume", "out"]);
	expect(code, stdout + stderr).toBe(0);
	expect(stdout).toMatch(/episode 1, attempt 1: its program was gone; ended proc_/);
	expect(resultsIn(world, "out").map(({ index, attempt, outcome }) => [index, attempt, outcome.kind === "scored" && outcome.score.reward])).toEqual([
		[0, 1, 1],
		[1, 2, 1],
	]);
	expect((await run(world, ["resume", "out"])).code).toBe(0); // nothing is run twice
	expect(resultsIn(world, "out")).toHaveLength(2);
});

it("an interrupt ends what is under way and gives it no result", async () => {
	const { world } = await worldWith(worker);
	put(world, [{ prompt: "run touch ../../../held; sleep 3600", expect: expected("x") }]);
	const child = spawn(process.execPath, [MAIN, "run", "rows.jsonl", "-o", "out", "--place", "local", "--json"], {
		...{ cwd: world.work, stdio: ["ignore", "pipe", "ignore"] },
		env: { ...world.env, TEST_ROOT: process.env.TEST_ROOT ?? "" },
	});
	let printed = "";
	child.stdout.on("data", (text) => {
		printed += text;
	});
	await until("it runs", () => fs.existsSync(path.join(world.work, "held")));
	child.kill("SIGINT");
	const [code] = await once(child, "close");
	expect(code).toBe(130);
	expect(resultsIn(world, "out")).toEqual([]);
	const events = printed
		.trim()
		.split("\n")
		.map((line) => JSON.parse(line) as { type: string });
	expect(events.map(({ type }) => type)).toEqual(["start", "stopped", "proof", "numbers"]);
	const nothing = { kept: [], sandboxes: [], processes: [], mounts: [] };
	expect(events[2]).toEqual({ type: "proof", proof: { control: true, controls: [{ place: "local", found: true }], ...nothing } });
});

it.each([
	["nobody reads its words any more", ({ stdout }: ChildProcess) => void stdout?.destroy()],
	["its terminal is gone", (child: ChildProcess) => void child.kill("SIGHUP")],
])("where %s a run ends what is under way, as after an interrupt", async (_, happens) => {
	const { world } = await worldWith(worker);
	put(world, [{ prompt: "run until [ -e ../../../go ]; do sleep 0.02; done" }, { prompt: "run touch ../../../held; sleep 3600" }]);
	const child = spawn(process.execPath, [MAIN, "run", "rows.jsonl", "-o", "out", "--place", "local", "--json"], {
		...{ cwd: world.work, stdio: ["ignore", "pipe", "ignore"] },
		env: { ...world.env, TEST_ROOT: process.env.TEST_ROOT ?? "" },
	});
	atEnd(() => void child.kill("SIGKILL"));
	await until("both run", () => fs.existsSync(path.join(world.work, "held")) && rowsIn(world, "out").length === 2);
	happens(child);
	fs.writeFileSync(path.join(world.work, "go"), ""); // one of them ends, which is told
	const [code] = await once(child, "exit");
	expect(code).toBe(130);
	expect(rowsIn(world, "out")).toContainEqual(expect.objectContaining({ t: "lost", index: 1, why: "stopped", ended: [expect.any(String)] }));
});

it("what a program of an episode prints does nothing to the terminal of who looks at the run", async () => {
	const { world } = await worldWith(worker);
	put(world, [{ prompt: "x" }]);
	const ran = await run(world, ["run", "rows.jsonl", "-o", "out", "--place", "local", "--agent", "printf 'here \\033]0;title\\007'; exit 127"]);
	const shown = [await run(world, ["show", "out"]), await run(world, ["show", "out", "0"])];
	for (const { stdout } of [ran, ...shown]) expect(stdout).toMatch(/\(environment, agent_program\): .* here \u241b\]0;title\u2407/);
});

it("what cannot be run is said before anything starts", async () => {
	const { world, server } = await worldWith(worker, { toolsets: undefined });
	put(world, [{ prompt: "x", colour: "red" }, { text: "no prompt" }, { prompt: "x", toolsets: ["termnal"] }]);
	const said = async (...args: string[]) => {
		const { code, stderr } = await run(world, args);
		return `${code} ${stderr}`;
	};
	expect(await said("run", "rows.jsonl")).toMatch(
		/^2 .*rows.jsonl:1: colour is not a column.*\n.*rows.jsonl:2: text is not a column.*\n.*2 of the tasks cannot be run, so nothing was started/,
	);
	expect(await said("tasks", "rows.jsonl")).toMatch(/rows.jsonl:2: prompt cannot .*\n.*rows.jsonl:3: toolsets cannot be used: there is no toolset "termnal"/);
	put(world, [{ prompt: "x" }]);
	expect(await said("run", "rows.jsonl")).toMatch(/^2 .*has to name its toolsets/);
	expect(await said("run", "rows.jsonl", "-t", "termnal")).toMatch(/^2 .*there is no toolset "termnal"/);
	expect(await said("run", "nothing.jsonl")).toMatch(/^1 .*there is no .*nothing.jsonl/);
	expect(await said("run")).toMatch(/^2 .*say what is to be run/);
	expect(await said("run", "rows.jsonl", "-t", "terminal", "--concurrency", "0")).toMatch(/^2 .*--concurrency is 0/);
	expect(await said("resume", "nowhere")).toMatch(/^1 .*there is no run in .*nowhere/);
	fs.mkdirSync(path.join(world.work, "task/tests"), { recursive: true });
	for (const [name, text] of Object.entries({ "task.toml": '[environment]\ndocker_image = "x"\nos = "windows"', "instruction.md": "x", "tests/test.sh": "" }))
		fs.writeFileSync(path.join(world.work, "task", name), text);
	expect(await said("run", "task", "-t", "terminal")).toMatch(/^2 .*1 of the tasks cannot be run, so nothing was started/);
	expect(await said("run", "rows.jsonl", "-t", "terminal", "--place", "nonsense", "-o", "out")).toMatch(/^2 .*there is no place "nonsense"/);
	expect(await said("run", "examples", "--agent", "nop", "--place", "ssh://box", "-o", "out")).toMatch(/^2 .*keeps-serving.* cannot be played on ssh:\/\/box/);
	expect(await said("run", "rows.jsonl", "--agent", " ", "-o", "out")).toMatch(/^2 .*--agent takes/);
	expect(fs.existsSync(path.join(world.work, "out"))).toBe(false);
	expect(server.requests).toEqual([]);
});
