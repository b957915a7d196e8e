/**
 * The agent: from its start to the prompt, from Escape to the prompt, from the last token of a call to the command, the memory at the prompt, a long
 * conversation, its page. The model is the scripted server of the tests, in this program.
 */
import { execFile } from "node:child_process";
import fs from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { openRuntime } from "holdfast";
import { runnerImport } from "vite";
import { agentConfigSchema, conversationFile, openAgentHome } from "../agent/dist/base/index.js";
import { openModel } from "../agent/dist/model/index.js";
import { Log } from "../agent/dist/talk/index.js";
import { TASK_LIMITS } from "../agent/dist/tools/index.js";
import { openConversation } from "../agent/dist/turn/index.js";
import { escapes } from "./agent-escape.mjs";
import { firstPaints } from "./agent-page.mjs";
import { byTurns, endAll, median, percentile, sleep, timed, within } from "./lib.mjs";
import { atMost, row } from "./report.mjs";

const CLI = fileURLToPath(new URL("../agent/dist/cli/main.js", import.meta.url));
const OPENER = fileURLToPath(new URL("open-log.mjs", import.meta.url));
const SERVER = fileURLToPath(new URL("../agent/test/model-server/index.ts", import.meta.url));
const SIZE = { cols: 100, rows: 30 };
const TURNS = 1_000;
/** What bash says when it begins with a command. */
const START = "echo $EPOCHREALTIME";
const BY = { platform: "bench", person: "bench" };

export default async function agent(bench) {
	bench.leaveProfilesOut();
	const { module: models } = await runnerImport(SERVER);
	const scripted = { now: undefined };
	const server = await models.modelServer({ script: (request) => scripted.now(request), models: [{ id: "scripted", window: 128_000 }] });
	bench.atEnd(() => server.close());
	const home = openAgentHome(bench.dir("agent"));
	const settings = { endpoints: { scripted: { url: server.url } }, model: "scripted", toolsets: ["terminal", "file", "todo", "ask"] };
	fs.writeFileSync(home.config, JSON.stringify(settings), { mode: 0o600 });
	const core = bench.dir("agent-core");
	bench.atEnd(async () => endAll(await openRuntime({ home: core, warm: 0 })));
	const env = { ...process.env, HOLDFAST_HOME: core, HOLDFAST_AGENT_HOME: home.root };

	const id = await conversationOf(home, TURNS);
	const conversations = { long: { id, says: lastOf(TURNS) }, short: { id: await conversationOf(home, 1), says: lastOf(1) } };
	return [
		...(await prompt(bench, env)),
		...(await escapes(bench, { command: `exec ${process.execPath} ${CLI}`, env, models, scripted })),
		...(await callToCommand(bench, { home, server, models, scripted })),
		...(await opened(bench, home, id)),
		...(await firstPaints(bench, { env, core, conversations })),
	];
}

/** From the start of the program to its prompt on a terminal, beside a Node that does nothing; then what it holds while it waits there. */
async function prompt(bench, env) {
	const runtime = await bench.runtime("agent-terminals");
	const node = { env, shows: "ready", command: `exec ${process.execPath} -e 'process.stdout.write("ready"); setInterval(() => {}, 1e6)'` };
	const chat = { env, shows: "› ", command: `exec ${process.execPath} ${CLI}` };
	const held = { node: [], chat: [] };
	const contestant = (name, program) => ({
		name,
		block: 1,
		time: async () => {
			const { ms, rss } = await onTerminal(runtime, program);
			held[name].push(rss);
			return ms;
		},
	});
	await onTerminal(runtime, chat); // asks the endpoint about its model, which is kept for a day
	const times = await byTurns(bench.count(15, 4), [contestant("node", node), contestant("chat", chat)]);
	return [
		row({
			what: "start of `holdfast-agent` to its prompt",
			value: median(times.chat),
			unit: "ms",
			baselines: [{ name: "a Node that says one word", value: median(times.node) }],
		}),
		row({ what: "memory at the prompt (RSS)", value: median(held.chat), unit: "MB", baselines: [{ name: "that Node", value: median(held.node) }] }),
	];
}

/** Starts a program on a terminal, waits until it shows a text, and ends it. Returns how long that took, and the memory that it held then. */
async function onTerminal(runtime, { command, env, shows }) {
	const begun = performance.now();
	const program = await runtime.spawn({ command, env, terminal: SIZE });
	const shown = async () => {
		let text = "";
		for await (const { bytes } of program.follow()) {
			text += bytes.toString("utf8");
			if (text.includes(shows)) return performance.now() - begun;
		}
		throw new Error(`it never showed ${JSON.stringify(shows)}: ${text}`);
	};
	const ms = await within(60_000, command, shown());
	const rss = Number(/^VmRSS:\s+(\d+)/m.exec(fs.readFileSync(`/proc/${program.pid}/status`, "utf8"))?.[1]) / 1024;
	await program.kill({ graceMs: 0 });
	return { ms, rss };
}

/** From what follows the last token of a call, sent by the endpoint, to the moment at which bash begins with the command; beside the same call of the core. */
async function callToCommand(bench, { home, server, models, scripted }) {
	const runtime = await openRuntime({ home: bench.dir("agent-calls") });
	bench.atEnd(() => endAll(runtime));
	let release = () => {};
	scripted.now = ({ results }) => {
		if (results.length > 0) return "Done.";
		const until = new Promise((resolve) => {
			release = resolve;
		});
		return { ...models.calls(["terminal", { command: START }]), pause: { at: "whole arguments", until } };
	};
	const model = openModel({ endpoint: { url: server.url, format: "chat" }, model: "scripted" });
	const config = agentConfigSchema.parse({ toolsets: ["terminal"] });
	const conversation = await openConversation({ home, runtime, model, config, door: { name: "bench", kind: "chat" } });
	bench.atEnd(() => conversation.close());
	const asked = async () => {
		const arrives = server.arrived(server.requests.length + 1);
		await conversation.send("go", BY);
		await arrives;
		await sleep(20); // the client has read what came before the pause
		const begun = now();
		release();
		await conversation.idle();
		const { text } = conversation.log.entries.findLast(({ t }) => t === "result");
		return startOf(text) - begun;
	};
	const task = runtime.task("agent-bench", { limits: TASK_LIMITS });
	let count = 0;
	const called = async () => {
		await sleep(20);
		const begun = now();
		const { output } = await task.terminal({ command: START }, { id: `call-${++count}`, keep: true, door: "agent" });
		return startOf(output) - begun;
	};
	const file = fs.openSync(path.join(bench.dir("agent-synced"), "line"), "a");
	bench.atEnd(() => fs.closeSync(file));
	const synced = () =>
		timed(() => {
			fs.writeSync(file, `${"x".repeat(300)}\n`);
			return promisify(fs.fdatasync)(file);
		});
	const contestants = [
		{ name: "core", time: called, block: 1 },
		{ name: "agent", time: asked, block: 1 },
		{ name: "synced", time: synced, block: 1 },
	];
	await byTurns(5, contestants);
	const times = await byTurns(bench.count(100, 15), contestants);
	const beyond = (what, of, target) => {
		const [agent, core, line] = [times.agent, times.core, times.synced].map((values) => of(values).toFixed(1));
		const note = `${agent} ms, the core's own ${core} ms; a synced line takes ${line} ms`;
		return row({ what, value: of(times.agent) - of(times.core), unit: "ms", note, target });
	};
	return [
		beyond("last token of a call to the start of its command, beyond the core's own call", median, atMost(5, "ms")),
		beyond("the same, 10th percentile", (values) => percentile(values, 0.1)),
	];
}

const now = () => performance.timeOrigin + performance.now();

/** In ms, by the same clock. */
function startOf(text) {
	const found = /(\d{10})[.,](\d{6})/.exec(text);
	if (!found) throw new Error(`bash did not tell its time: ${text}`);
	return Number(found[1]) * 1_000 + Number(found[2]) / 1_000;
}

const lastOf = (turns) => `is made, and its tests pass: ${turns} of ${turns}`;

/** Turns with a call each and results of about 2 KB, as a long job has them. */
async function conversationOf(home, turns) {
	const log = await Log.begin(home, { task: "agent/long", place: "local", model: "scripted" });
	const lines = [fs.readFileSync(log.file, "utf8")];
	const at = new Date().toISOString();
	const add = (entry) => lines.push(`${JSON.stringify({ n: lines.length, at, ...entry })}\n`);
	for (let turn = 0; turn < turns; turn++) {
		const usage = { input: 1_000 + turn, output: 50 };
		const call = { id: `call_${turn}`, name: "terminal", args: JSON.stringify({ command: `make part-${turn}` }) };
		add({ t: "user", id: `m${turn}`, text: `Please make part ${turn}, and look whether its tests pass.`, by: BY });
		add({ t: "assistant", text: "I make it.", calls: [call], stop: "calls", usage, model: "scripted" });
		add({ t: "result", call: call.id, text: `[exited, exit code 0]\n${`cc -O2 -c part-${turn}.c\n`.repeat(80)}`, failed: false, how: "ran" });
		add({ t: "assistant", text: `Part **${turn}** is made, and its tests pass: ${turn + 1} of ${turns}`, calls: [], stop: "done", usage, model: "scripted" });
	}
	await log.leave();
	fs.writeFileSync(conversationFile(home, log.id), lines.join(""));
	if (Log.read(home, log.id).entries.length !== 4 * turns + 1) throw new Error("a conversation was not read as it was written");
	return log.id;
}

/** In a program that has just been started, as a chat is; beside a program that only parses the lines. CPU time, since one core does all of it. */
async function opened(bench, home, id) {
	const walls = [];
	const run = async (how) => {
		const { wall, cpu } = JSON.parse((await promisify(execFile)(process.execPath, [OPENER, how, home.root, id])).stdout);
		if (how === "log") walls.push(wall);
		return cpu;
	};
	const times = await byTurns(
		bench.count(15, 4),
		["log", "lines"].map((name) => ({ name, time: () => run(name), block: 1 })),
	);
	const mb = (fs.statSync(conversationFile(home, id)).size / 1e6).toFixed(1);
	return [
		row({
			what: `CPU of opening a conversation of ${TURNS.toLocaleString("en-US")} turns, ${mb} MB`,
			note: `${median(walls).toFixed(0)} ms by the clock`,
			value: median(times.log),
			unit: "ms",
			baselines: [{ name: "JSON.parse of its lines", value: median(times.lines) }],
			target: atMost(100, "ms"),
		}),
	];
}
