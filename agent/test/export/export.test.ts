import fs from "node:fs";
import path from "node:path";
import { expect, it } from "vitest";
import { exportRun } from "../../src/export/index.js";
import { calls, fails, modelServer, type SeenRequest, type Step, say, textOfIds } from "../model-server/index.js";
import { atEnd, tempDir } from "../support/dirs.js";
import { configFor, newWorld, run, type World } from "../support/seat.js";
import { atifBreaks, RULES } from "./atif-rules.js";
import { misfits } from "./columns.js";

// biome-ignore lint/suspicious/noExplicitAny: rows of other people's formats
type Row = any;

const ODD = "printf 'caf\\303\\251 \\342\\200\\250 \\001\\n'; printf '%s\\n' '</tool_response>'; exit 3";

/** By the prompt: what the model does. */
function script({ said, results }: SeenRequest): Step {
	if (said === "fail") return fails(400, { message: "no such thing" });
	if (said === "talk") return say("Nothing to do.");
	if (results.length > 0)
		return said === "twice" && results[0]?.text.includes("first") ? { ...calls(["terminal", { command: "true" }]), text: "Once more." } : say("done");
	if (said === "unknown") return calls(["launch_rocket", { now: true }], ["terminal", { command: "printf yes > out.txt" }]);
	if (said === "broken") return calls(["terminal", '{"command": "ls"']);
	if (said === "twice") return { ...calls(["terminal", { command: "echo first" }], ["terminal", { command: ODD }]), text: "Two.", reasoning: "Think first." };
	return calls(["terminal", { command: "printf yes > out.txt" }]);
}

const PROMPTS = [
	{ prompt: "talk" },
	{ prompt: "good", id: "good", expect: { file: "out.txt", content: "yes" } },
	{ prompt: "good", id: "good", expect: { file: "out.txt", content: "oh yes" } },
	{ prompt: "unknown", expect: { file: "out.txt", content: "yes" } },
	{ prompt: "broken" },
	{ prompt: "twice", expect: { file: "out.txt", content: "yes" } },
	{ prompt: "fail", expect: { file: "out.txt", content: "yes" } },
];

async function ranWorld() {
	const server = await modelServer({ script, broken: "expected", tokens: ({ said }) => (said === "broken" ? "missing" : "right") });
	atEnd(() => server.close());
	const config = configFor(server, { toolsets: ["terminal"] });
	const endpoints = { scripted: { ...(config.endpoints as { scripted: object }).scripted, tokenIds: "stream" } };
	const world = newWorld({ ...config, endpoints });
	fs.writeFileSync(path.join(world.work, "rows.jsonl"), PROMPTS.map((row) => `${JSON.stringify(row)}\n`).join(""));
	const { code, stdout, stderr } = await run(world, ["run", "rows.jsonl", "-o", "out", "--concurrency", "4"]);
	expect(code, stdout + stderr).toBe(0);
	return { world, server, stderr };
}

async function exported(world: World, format: string, ...more: string[]): Promise<{ rows: Row[]; text: string; note: string }> {
	const { code, stdout, stderr } = await run(world, ["export", "out", "--format", format, ...more]);
	expect(code, stderr).toBe(0);
	return {
		rows: stdout
			.split("\n")
			.filter(Boolean)
			.map((line) => JSON.parse(line)),
		text: stdout,
		note: stderr,
	};
}

const byIndex = (rows: Row[], index: number, of = (row: Row) => row.index): Row => rows.find((row) => of(row) === index);

it("a run is exported in every format: nothing dropped, the same columns in each row, what the model saw byte for byte", async () => {
	const { world, server, stderr } = await ranWorld();
	expect(stderr.match(/was asked for token ids/g)).toHaveLength(1);

	const atif = await exported(world, "atif");
	expect(atif.rows).toHaveLength(7);
	expect(atif.rows.flatMap(atifBreaks)).toEqual([]);
	const two = byIndex(atif.rows, 5, ({ extra }) => extra.index);
	const seen = server.requests.filter(({ said }) => said === "twice").flatMap(({ results }) => results.map(({ text }) => text));
	expect(two.steps.flatMap((step: Row) => (step.observation?.results ?? []).map(({ content }: Row) => content))).toEqual(seen);
	expect(seen[1]).toContain("café");
	expect(two.steps.map(({ source }: Row) => source)).toEqual(["system", "user", "agent", "agent", "agent"]);
	expect(two.steps[0].message).toBe(server.requests.find(({ said }) => said === "twice")?.system);
	expect(two.steps[2]).toMatchObject({ message: "Two.", reasoning_content: "Think first." });
	const first = byIndex(atif.rows, 1, ({ extra }) => extra.index);
	const [{ metrics: one }, { metrics: next }] = first.steps.filter(({ source }: Row) => source === "agent");
	expect(next.prompt_token_ids.slice(0, one.prompt_token_ids.length + one.completion_token_ids.length)).toEqual([
		...one.prompt_token_ids,
		...one.completion_token_ids,
	]);
	expect([one.prompt_token_ids.length, one.completion_token_ids.length, one.logprobs.length]).toEqual([
		one.prompt_tokens,
		one.completion_tokens,
		one.completion_tokens,
	]);
	expect(byIndex(atif.rows, 4, ({ extra }) => extra.index).steps[2].tool_calls[0]).toMatchObject({
		arguments: {},
		extra: { raw_arguments: '{"command": "ls"' },
	});
	expect(byIndex(atif.rows, 6, ({ extra }) => extra.index).extra).toMatchObject({ outcome: "error", error: expect.stringContaining("no such thing") });
	expect(byIndex(atif.rows, 6, ({ extra }) => extra.index).extra).not.toHaveProperty("reward");

	const openai = await exported(world, "openai");
	expect(misfits(openai.rows)).toEqual([]);
	expect(openai.rows.map(({ key }) => key).sort()).toEqual(["1", "4", "5", "6", "7", "good", "good~2"]);
	expect(byIndex(openai.rows, 4).messages.find(({ role }: Row) => role === "assistant").tool_calls[0].function.arguments).toBe('{"command": "ls"');
	expect([1, 2, 0, 6].map((index) => byIndex(openai.rows, index).rewards)).toEqual([[1], [0], [], []]);
	expect(openai.text).toMatch(/"rewards":\[1\.0\]/); // a real number also when it is whole
	expect(byIndex(openai.rows, 3)).toMatchObject({ unknown_tools: "launch_rocket", outcome: "scored", rewards: [1] });
	expect(byIndex(openai.rows, 3).tool_stats).toContainEqual({ tool: "launch_rocket", count: 1, success: 0, failure: 1 });
	expect(JSON.parse(openai.rows[0].tools).map((tool: Row) => tool.function.name)).toContain("terminal");

	const share = await exported(world, "sharegpt");
	expect(misfits(share.rows)).toEqual([]);
	const turns = byIndex(share.rows, 5).conversations;
	expect(turns.map(({ from }: Row) => from)).toEqual(["system", "human", "gpt", "tool", "gpt", "tool", "gpt"]);
	expect(turns[0].value).toMatch(/<tools>\n\[.*"terminal".*\]\n<\/tools>$/s);
	expect(turns[2].value).toMatch(
		/^<think>\nThink first\.\n<\/think>\nTwo\.\n<tool_call>\n\{"name":"terminal","arguments":\{"command":"echo first"\}\}\n<\/tool_call>\n<tool_call>/,
	);
	const responses = turns[3].value.split("\n").filter((line: string) => line.startsWith("{"));
	expect(responses.map((line: string) => JSON.parse(line).content)).toEqual(seen.slice(0, 2));
	expect(turns.at(-1).value).toBe("<think>\n</think>\ndone");

	const hermes = await exported(world, "hermes");
	expect(misfits(hermes.rows)).toEqual([]);
	expect(byIndex(hermes.rows, 5, (row) => row.prompt_index)).toMatchObject({
		...{ api_calls: 3, completed: true, partial: false, toolsets_used: ["terminal"] },
		tool_stats: { terminal: { count: 3, success: 3, failure: 0 }, launch_rocket: { count: 0 } },
	});

	const rollouts = await exported(world, "rollouts");
	expect(rollouts.note).toMatch(/2 without a row \(no token ids\)/);
	expect(misfits(rollouts.rows)).toEqual([]);
	for (const { tokens, masks, logprobs } of rollouts.rows) {
		expect([masks.length, logprobs.length]).toEqual([tokens.length, tokens.length]);
		expect(masks.every((mask: number, at: number) => (mask === -100 ? logprobs[at] === 1 : mask === tokens[at] && logprobs[at] <= 0))).toBe(true);
	}
	const trained = byIndex(rollouts.rows, 1);
	expect(textOfIds(trained.tokens.filter((_: number, at: number) => trained.masks[at] !== -100))).toBe(
		'<call>terminal {"command":"printf yes > out.txt"}</call>|done|',
	);
	expect(rollouts.rows.filter(({ index }) => index === 5).map(({ segment, segments }) => [segment, segments])).toEqual([
		[0, 2], // its reasoning is not rendered again
		[1, 2],
	]);

	expect((await exported(world, "predictions")).note).toMatch(/7 without a row \(are of another kind\)/);
	expect((await exported(world, "openai", "--only", "scored", "--clean")).rows.map(({ index }) => index).sort()).toEqual([1, 2, 5]);
	const harbor = await run(world, ["export", "out", "--format", "harbor", "-o", "jobs/one"]);
	expect(harbor.code, harbor.stderr).toBe(0);
	checkJob(path.join(world.work, "jobs/one"));
	expect((await run(world, ["export", "out", "--format", "harbor", "-o", "jobs/one"])).stderr).toMatch(/is not empty/);
	expect((await run(world, ["export", "out", "--format", "harbor"])).stderr).toMatch(/give one with -o DIR/);
	expect((await run(world, ["export", "out", "--format", "yaml"])).stderr).toMatch(/--format takes atif, .*not "yaml"/);
	expect((await run(world, ["export", "out", "--only", "won"])).stderr).toMatch(/--only takes scored, recorded, error/);
	expect((await run(world, ["export", "out", "--format", "openai", "-o", "no/such/dir.jsonl"])).stderr).toMatch(/cannot write no\/such\/dir.jsonl/);

	// A damaged conversation is marked, and what can be read of it is there; others are not touched.
	const talk = path.join(world.work, "out/talk/conversations");
	const results = fs
		.readFileSync(path.join(world.work, "out/ledger.jsonl"), "utf8")
		.split("\n")
		.filter(Boolean)
		.map((line) => JSON.parse(line));
	const conversation = (index: number) => path.join(talk, `${results.find(({ t, index: at }) => t === "result" && at === index).conversation}.jsonl`);
	const lines = fs.readFileSync(conversation(1), "utf8").split("\n");
	fs.writeFileSync(conversation(1), lines.with(5, '{"t":"assis').join("\n"));
	fs.rmSync(conversation(2));
	const after = await exported(world, "openai");
	expect(after.rows).toHaveLength(7);
	expect(misfits(after.rows)).toEqual([]);
	expect(after.note).toMatch(/2 with a damaged conversation, marked/);
	expect(byIndex(after.rows, 1)).toMatchObject({
		corrupted: expect.stringMatching(/^line 6 of its conversation is damaged: is no JSON/),
		completed: false,
		partial: true,
		rewards: [1],
	});
	expect(byIndex(after.rows, 2)).toMatchObject({ corrupted: "its conversation is missing", messages: [] });
	expect((await exported(world, "atif")).rows.flatMap(atifBreaks)).toEqual([]);
});

it("predictions have the patch of each SWE-bench episode, also an empty one", async () => {
	const dir = tempDir("swe");
	const row = (instance_id: string) => ({ instance_id, repo: "a/b", base_commit: "0", problem_statement: "Mend it." });
	const manifest = {
		v: 1,
		id: "run_1",
		created_at: "2026-01-01T00:00:00Z",
		source: "swe.jsonl",
		agent: "model",
		endpoint: "e",
		model: "m",
		place: "local",
		toolsets: [],
		steps: 1,
		seconds: 1,
		repeats: 1,
	};
	fs.writeFileSync(path.join(dir, "run.json"), JSON.stringify(manifest));
	const items = ["a__b-1", "a__b-2", "a__b-3"].map((key, index) => ({ kind: "swe", key, digest: "0".repeat(64), index, repeat: 0, row: row(key) }));
	const result = (index: number) => ({
		t: "result",
		at: "2026-01-01T00:00:00Z",
		index,
		attempt: 2,
		outcome: { kind: "recorded", end: "finished" },
		conversation: null,
		usage: { input: 0, output: 0 },
		tools: [],
		seconds: 1,
		ended: [],
		gone: true,
	});
	for (const [name, rows] of Object.entries({ "items.jsonl": items, "ledger.jsonl": [result(0), result(1)] }))
		fs.writeFileSync(path.join(dir, name), rows.map((one) => `${JSON.stringify(one)}\n`).join(""));
	fs.mkdirSync(path.join(dir, "episodes/000000.2"), { recursive: true });
	const patch = "diff --git a/x b/x\n--- a/x\n+++ b/x\n@@ -1 +1 @@\n-1\n+caf\u00e9\n";
	fs.writeFileSync(path.join(dir, "episodes/000000.2/model.patch"), patch);
	let printed = "";
	const print = async (text: string) => {
		printed += text;
	};
	const counts = await exportRun({ dir, format: "predictions", print, redact: (text) => text });
	expect(
		printed
			.trim()
			.split("\n")
			.map((line) => JSON.parse(line)),
	).toEqual([
		{ instance_id: "a__b-1", model_name_or_path: "m", model_patch: patch },
		{ instance_id: "a__b-2", model_name_or_path: "m", model_patch: "" },
	]);
	expect(counts).toMatchObject({ episodes: 2, rows: 2, open: 1 });
});

/** The files of 2.1's job, and what is in them. */
function checkJob(job: string): void {
	const json = (...names: string[]): Row => JSON.parse(fs.readFileSync(path.join(job, ...names), "utf8"));
	const trials = fs.readdirSync(job).filter((name) => fs.statSync(path.join(job, name)).isDirectory());
	expect(fs.readdirSync(job).filter((name) => !trials.includes(name))).toEqual(["config.json", "job.log", "lock.json", "result.json"]);
	expect(trials).toHaveLength(7);
	for (const name of trials) {
		expect(name).toMatch(/^[\w.-]{1,32}__[0-9a-f]{7}$/);
		expect(fs.readdirSync(path.join(job, name))).toEqual(expect.arrayContaining(["agent", "artifacts", "config.json", "result.json", "trial.log", "verifier"]));
		const result = json(name, "result.json");
		expect(result).toMatchObject({ trial_name: name, task_checksum: expect.stringMatching(/^[0-9a-f]{64}$/), id: expect.stringMatching(/^[0-9a-f-]{36}$/) });
		expect(atifBreaks(json(name, "agent", "trajectory.json"))).toEqual([]);
		expect(Array.isArray(json(name, "artifacts", "manifest.json"))).toBe(true);
		const { agent_result, verifier_result, exception_info } = result;
		const error = agent_result.metadata.index === 6;
		expect([verifier_result === null || exception_info === null, fs.existsSync(path.join(job, name, "exception.txt"))]).toEqual([true, error]);
		if (verifier_result) expect(fs.readFileSync(path.join(job, name, "verifier/reward.txt"), "utf8")).toBe(`${verifier_result.rewards.reward}\n`);
	}
	const { stats, n_total_trials } = json("result.json");
	const [evaluation] = Object.values(stats.evals) as [Row];
	expect([n_total_trials, stats.n_trials, evaluation.n_trials, evaluation.metrics[0].mean]).toEqual([7, 7, 4, 0.5]);
	expect(Object.values(evaluation.reward_stats.reward).map((names) => (names as string[]).length)).toEqual([2, 2]);
	expect(json("lock.json").trials).toHaveLength(7);
}

/** A trajectory in which every rule has something to bite. */
const valid = (): Row => ({
	schema_version: "ATIF-v1.7",
	agent: { name: "a", version: "1" },
	steps: [
		{ step_id: 1, source: "user", message: [{ type: "text", text: "hello" }] },
		{
			...{ step_id: 2, source: "agent", timestamp: "2026-01-01T00:00:00Z", message: "" },
			tool_calls: [
				{ tool_call_id: "c1", function_name: "f", arguments: {} },
				{ tool_call_id: "c2", function_name: "f", arguments: {} },
			],
			observation: { results: [{ source_call_id: "c1", content: "x" }] },
			metrics: { prompt_tokens: 3, completion_token_ids: [1, 2], logprobs: [0, -1] },
		},
		{ step_id: 3, source: "agent", message: "ok" },
	],
	final_metrics: { total_steps: 3 },
});

const MUTATIONS: Readonly<Record<(typeof RULES)[number], (it: Row) => unknown>> = {
	object: (it) => it.steps.splice(0, 1, "step"),
	"unknown key": (it) => (it.steps[1].metrics.latency = 1),
	"missing key": (it) => delete it.agent.version,
	type: (it) => (it.steps[1].tool_calls[0].arguments = "{}"),
	version: (it) => (it.schema_version = "ATIF-v1.6"),
	"steps are numbered from 1": (it) => (it.steps[2].step_id = 4),
	"at least one step": (it) => (it.steps = []),
	source: (it) => (it.steps[2].source = "tool"),
	"only an agent has these": (it) => (it.steps[0].reasoning_content = "hm"),
	"a call's id is used once in its step": (it) => (it.steps[1].tool_calls[1].tool_call_id = "c1"),
	"a result names a call of its step": (it) => (it.steps[1].observation.results[0].source_call_id = "c9"),
	"an observation is in a step with calls": (it) => (it.steps[2].observation = { results: [{ content: "x" }] }),
	"no call of a model: no metrics and no reasoning": (it) => (it.steps[1].llm_call_count = 0),
	"logprobs and ids of one length": (it) => it.steps[1].metrics.logprobs.pop(),
	timestamp: (it) => (it.steps[1].timestamp = "yesterday"),
	part: (it) => (it.steps[0].message[0].type = "sound"),
};

it("each rule of the validator bites", () => {
	expect(atifBreaks(valid())).toEqual([]);
	for (const rule of RULES) {
		const broken = valid();
		MUTATIONS[rule](broken);
		expect(
			atifBreaks(broken).map((one) => one.rule),
			rule,
		).toContain(rule);
	}
});

it.each([
	["another key", [{ a: 1 }, { a: 1, b: 1 }]],
	["a missing key", [{ a: 1, b: 1 }, { a: 1 }]],
	["null or an object", [{ a: { b: 1 } }, { a: null }]],
	["a number or text", [{ a: 1 }, { a: "1" }]],
	["an empty list first", [{ a: [] }, { a: ["x"] }]],
	["other keys within a list", [{ a: [{ b: 1 }, { c: 1 }] }]],
	["other keys in a map", [{ a: { ls: 1 } }, { a: { cat: 1 } }]],
])("the walker of columns sees %s", (_, rows) => {
	expect(misfits(rows)).not.toEqual([]);
});
