/**
 * The gateway with 200 chats on three platforms: from its start until all are connected, what it holds and uses while nothing happens, and what it adds between a
 * message on the platform and the request to the model. The platforms are the chat double of its tests, in this program.
 */
import { spawn } from "node:child_process";
import fs from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { openRuntime } from "holdfast";
import { runnerImport } from "vite";
import { openAgentHome } from "../agent/dist/base/index.js";
import { endAll, median, percentile, sleep, within } from "./lib.mjs";
import { atMost, row } from "./report.mjs";

const inTests = (name) => fileURLToPath(new URL(`../agent/test/${name}`, import.meta.url));
const PLATFORMS = ["one", "two", "three"];
const CHATS = 200;
const TICKS = 100; // of /proc/PID/stat, a second

export default async function gateway(bench) {
	bench.leaveProfilesOut();
	const [{ module: models }, { module: doubles }] = await Promise.all([
		runnerImport(inTests("model-server/index.ts")),
		runnerImport(inTests("gateway/double.ts")),
	]);
	const server = await models.modelServer({ script: ({ said }) => `answer to ${said}`, models: [{ id: "scripted", window: 128_000 }] });
	const double = await doubles.DoubleServer.start();
	bench.atEnd(async () => {
		await double.close();
		await server.close();
	});
	const home = openAgentHome(bench.dir("gateway"));
	const people = Object.fromEntries(PLATFORMS.map((name) => [`${name}/jo`, "admin"]));
	const settings = { endpoints: { scripted: { url: server.url } }, model: "scripted", toolsets: ["terminal", "file"], gateway: { people } };
	fs.writeFileSync(home.config, JSON.stringify(settings), { mode: 0o600 });
	const core = bench.dir("gateway-core");
	bench.atEnd(async () => endAll(await openRuntime({ home: core, warm: 0 })));
	const chats = PLATFORMS.map((name) => double.platform(name));
	const options = { home: home.root, core, url: double.url, cwd: bench.dir("gateway-work"), platforms: chats.map(({ name, traits }) => ({ name, traits })) };

	const first = await started(options, chats);
	const count = bench.count(CHATS, 40);
	const delays = await conversations(chats, server, count);
	await first.end();
	const starts = [];
	for (let n = 0; n < bench.count(7, 2); n++) {
		const one = await started(options, chats);
		starts.push(one.ms);
		await one.end();
	}
	const idle = await started(options, chats);
	await sleep(3_000);
	const before = ticksOf(idle.pid);
	const seconds = bench.count(30, 10);
	await sleep(seconds * 1_000);
	const cpu = ((ticksOf(idle.pid) - before) / TICKS / seconds) * 100;
	const rss = Number(/^VmRSS:\s+(\d+)/m.exec(fs.readFileSync(`/proc/${idle.pid}/status`, "utf8"))?.[1]) / 1024;
	await idle.end();
	return [
		row({ what: `start of a gateway with ${count} chats until three platforms are connected`, value: median(starts), unit: "ms", target: atMost(1_500, "ms") }),
		row({ what: `idle, ${count} chats on three platforms: memory (RSS)`, value: rss, unit: "MB", target: atMost(150, "MB") }),
		row({ what: `the same: CPU over ${seconds} s, of one core`, value: cpu, unit: "%", target: atMost(0.2, "%") }),
		row({
			what: "message on the platform to the request to the model, in a chat that is open",
			value: median(delays),
			unit: "ms",
			note: `10th percentile ${percentile(delays, 0.1).toFixed(1)} ms`,
			target: atMost(20, "ms"),
		}),
	];
}

/** A gateway as a program of its own; resolves when each platform was asked for messages. */
async function started(options, chats) {
	const asked = chats.map((one) => one.polls);
	const begun = performance.now();
	const child = spawn(process.execPath, ["--no-wasm-tier-up", "--no-wasm-dynamic-tiering", inTests("gateway/fixtures/gateway.mjs"), JSON.stringify(options)], {
		stdio: ["ignore", "ignore", "inherit"],
	});
	const ended = new Promise((resolve) => child.once("exit", resolve));
	await within(60_000, "a gateway that connects", connected(chats, asked));
	const ms = performance.now() - begun;
	return {
		ms,
		pid: child.pid,
		end: () => {
			child.kill("SIGTERM");
			return ended;
		},
	};
}

async function connected(chats, asked) {
	while (chats.some((one, at) => one.polls === asked[at])) await sleep(1);
}

/** A message in each chat, and a second one in some, which is timed: by then the conversation is open. */
async function conversations(chats, server, count) {
	const delays = [];
	for (let n = 0; n < count; n++) {
		const one = chats[n % chats.length];
		const chat = `c${n}`;
		for (const text of n % 4 === 0 ? ["first", "second", "third"] : ["first"]) {
			const arrives = server.arrived(server.requests.length + 1);
			const begun = performance.now();
			one.write(text, { chat });
			await arrives;
			if (text !== "first") delays.push(performance.now() - begun);
			await within(30_000, "an answer", answered(one, chat, text));
		}
	}
	return delays;
}

async function answered(one, chat, text) {
	while (!one.texts(chat).includes(`answer to ${text}`)) await sleep(2);
}

/** User and system time, in ticks. */
const ticksOf = (pid) => {
	const [, rest = ""] = fs.readFileSync(path.join("/proc", String(pid), "stat"), "utf8").split(/\) (?=\w )/);
	const fields = rest.split(" ");
	return Number(fields[11]) + Number(fields[12]);
};
