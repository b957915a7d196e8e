/**
 * The gateway with 200 chats on Telegram, Slack and Discord: from its start until all are connected, what it holds and uses while nothing happens, and what it adds
 * between a message on the platform and the request to the model. It runs as a program of its own, with the real libraries; the services are the doubles of its
 * tests, in this program.
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
const CHATS = 200;
const TICKS = 100; // of /proc/PID/stat, a second

export default async function gateway(bench) {
	bench.leaveProfilesOut();
	const { module: models } = await runnerImport(inTests("model-server/index.ts"));
	const server = await models.modelServer({ script: ({ said }) => `answer to ${said}`, models: [{ id: "scripted", window: 128_000 }] });
	bench.atEnd(() => server.close());
	const services = await Promise.all([telegram(), slack(), discord()]);
	bench.atEnd(async () => {
		for (const { close } of services) await close();
	});
	const home = openAgentHome(bench.dir("gateway"));
	const count = bench.count(CHATS, 40);
	const chats = Array.from({ length: count }, (_, n) => ({ service: services[n % services.length], n }));
	const people = Object.fromEntries(chats.map(({ service, n }) => [`${service.name}/${service.person(n)}`, "admin"]));
	const settings = { endpoints: { scripted: { url: server.url } }, model: "scripted", toolsets: ["terminal", "file"], gateway: { people } };
	fs.writeFileSync(home.config, JSON.stringify(settings), { mode: 0o600 });
	const core = bench.dir("gateway-core");
	bench.atEnd(async () => endAll(await openRuntime({ home: core, warm: 0 })));
	const platforms = services.map(({ name, settings: set, secrets }) => ({ name, kind: name, settings: set, secrets }));
	const options = { home: home.root, core, url: "", cwd: bench.dir("gateway-work"), platforms };

	const first = await started(options, services);
	const delays = await conversations(chats, server);
	await first.end();
	const starts = [];
	for (let n = 0; n < bench.count(7, 2); n++) {
		const one = await started(options, services);
		starts.push(one.ms);
		await one.end();
	}
	const idle = await started(options, services);
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

/** A gateway as a program of its own; resolves when each platform is connected. */
async function started(options, services) {
	for (const { forget } of services) forget?.();
	const begun = performance.now();
	const child = spawn(process.execPath, ["--no-wasm-tier-up", "--no-wasm-dynamic-tiering", inTests("gateway/fixtures/gateway.mjs"), JSON.stringify(options)], {
		stdio: ["ignore", "ignore", "inherit"],
	});
	const ended = new Promise((resolve) => child.once("exit", resolve));
	await within(
		60_000,
		"a gateway that connects",
		holds(() => services.every(({ connected }) => connected())),
	);
	const ms = performance.now() - begun;
	return {
		ms,
		pid: child.pid,
		end: async () => {
			child.kill("SIGTERM");
			await ended;
			await within(
				10_000,
				"a line that is cut",
				holds(() => services.every(({ connected, forget }) => forget || !connected())),
			);
		},
	};
}

async function holds(condition) {
	while (!condition()) await sleep(1);
}

/** A message in each chat, and more in some, which are timed: by then the conversation is open. */
async function conversations(chats, server) {
	const delays = [];
	for (const { service, n } of chats) {
		for (const text of n % 4 === 0 ? ["first", "second", "third"] : ["first"]) {
			const arrives = server.arrived(server.requests.length + 1);
			const begun = performance.now();
			service.say(n, text);
			await arrives;
			if (text !== "first") delays.push(performance.now() - begun);
			await within(
				30_000,
				"an answer",
				holds(() => service.texts(n).includes(`answer to ${text}`)),
			);
		}
	}
	return delays;
}

const double = async (file, name) => new (await runnerImport(inTests(`gateway/platforms/doubles/${file}.ts`))).module[name]();

async function telegram() {
	const bot = await double("telegram", "TelegramDouble");
	const apiRoot = await bot.listen();
	const person = (n) => String(1_000 + n);
	return {
		...{ name: "telegram", settings: { apiRoot }, secrets: { token: "1:TEST" }, person, close: () => bot.close() },
		say: (n, text) => bot.say(1_000 + n, text),
		texts: (n) => bot.sent.filter(({ chat }) => chat.id === 1_000 + n).map(({ text }) => text),
		forget: () => void bot.calls.splice(0),
		connected: () => bot.calls.some(({ method }) => method === "getUpdates"),
	};
}

async function slack() {
	const app = await double("slack", "SlackDouble");
	const apiUrl = await app.listen();
	const person = (n) => `U${n}`;
	return {
		...{ name: "slack", settings: { apiUrl }, secrets: { appToken: "xapp-TEST", botToken: "xoxb-TEST" }, person, close: () => app.close() },
		say: (n, text) => app.say(`D${n}`, person(n), text),
		texts: (n) => app.posts.filter(({ channel, bot_id }) => channel === `D${n}` && bot_id).map(({ text }) => text),
		connected: () => app.connected,
	};
}

async function discord() {
	const bot = await double("discord", "DiscordDouble");
	const api = await bot.listen();
	const channel = (n) => String(100_000 + n);
	const person = (n) => String(900_000 + n);
	return {
		...{ name: "discord", settings: { api }, secrets: { token: "x.y.z" }, person, close: () => bot.close() },
		say: (n, text) => bot.say(channel(n), person(n), text),
		texts: (n) => bot.messages.filter(({ channel_id, author }) => channel_id === channel(n) && author.bot).map(({ content }) => content),
		connected: () => bot.connected,
	};
}

/** User and system time, in ticks. */
const ticksOf = (pid) => {
	const [, rest = ""] = fs.readFileSync(path.join("/proc", String(pid), "stat"), "utf8").split(/\) (?=\w )/);
	const fields = rest.split(" ");
	return Number(fields[11]) + Number(fields[12]);
};
