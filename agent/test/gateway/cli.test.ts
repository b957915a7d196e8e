/** The command line: setting a platform up, running the gateway on it, letting people in, the service. With the real library and a double of Telegram. */
import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import fs from "node:fs";
import { type AddressInfo, createServer } from "node:net";
import path from "node:path";
import { createInterface } from "node:readline";
import { expect, test } from "vitest";
import { type ModelServer, modelServer } from "../model-server/index.js";
import { atEnd, tempDir, until } from "../support/dirs.js";
import { configFor, MAIN, newWorld, run, sit, type World } from "../support/seat.js";
import { TelegramDouble } from "./platforms/doubles/telegram.js";

const TOKEN = "123456:planted-token-of-the-bot";

interface Started {
	readonly child: ChildProcess;
	readonly ended: Promise<number | null>;
	printed(): string;
}

function startGateway(world: World, env: Readonly<Record<string, string>> = {}): Started {
	const child = spawn(process.execPath, [MAIN, "gateway"], {
		cwd: world.work,
		env: { ...world.env, TEST_ROOT: process.env.TEST_ROOT ?? "", ...env },
		stdio: ["ignore", "pipe", "pipe"],
	});
	let out = "";
	for (const stream of [child.stdout, child.stderr]) stream?.on("data", (chunk: Buffer) => (out += chunk.toString("utf8")));
	const ended = new Promise<number | null>((resolve) => child.once("exit", resolve));
	atEnd(async () => {
		child.kill("SIGKILL");
		await ended;
	});
	return { child, ended, printed: () => out };
}

async function telegram(): Promise<{ readonly double: TelegramDouble; readonly url: string }> {
	const double = new TelegramDouble();
	double.token = TOKEN;
	const url = await double.listen();
	atEnd(async () => {
		await double.close();
		expect(double.strange).toEqual([]);
	});
	return { double, url };
}

const texts = (double: TelegramDouble): string[] => double.sent.map(({ text }) => text ?? "");
const configured = (server: ModelServer, url: string): Record<string, unknown> =>
	configFor(server, { gateway: { platforms: { telegram: { apiRoot: url } }, metricsPort: 0 } });

test("setup tries the token before anything is saved; the gateway answers, lets people in, says how it is, and shows its token to nobody", async () => {
	const { double, url } = await telegram();
	await using server = await modelServer({ script: (request) => `Answer to ${request.said}: ${TOKEN}` });
	const world = newWorld(configFor(server, { gateway: { metricsPort: 0 } }));
	const answers = (token: string, more: object = {}) =>
		JSON.stringify({ platform: { kind: "telegram", settings: { apiRoot: url }, keys: { token }, ...more } });
	const wrong = await run(world, ["setup", "--json", "-"], { input: answers("999:wrong-token") });
	expect(wrong.code).toBe(1);
	expect(wrong.stderr).toMatch(/not ok: .*token/i);
	expect(fs.readdirSync(world.file("keys"))).toEqual([]);
	const right = await run(world, ["setup", "--json", "-"], { input: answers(TOKEN, { owner: "7" }) });
	expect(right.stderr).toContain("ok: Telegram knows the account");
	expect(fs.statSync(world.file("keys/telegram-token")).mode & 0o777).toBe(0o600);
	expect(fs.readFileSync(world.file("agent.json"), "utf8")).not.toContain(TOKEN);

	const gateway = startGateway(world);
	await until("it runs", () => /The gateway runs on telegram; http:\/\/127\.0\.0\.1:\d+\/metrics/.test(gateway.printed()));
	double.say(7, "hello");
	await until("it answered", () => texts(double).some((text) => text.startsWith("Answer to hello")), 60_000);
	double.say(8, "let me in");
	await until("a code was told", () => texts(double).some((text) => /pairing approve [A-Z0-9]{8}/.test(text)), 60_000);
	const listed = await run(world, ["pairing", "list"]);
	expect(listed.stdout).toMatch(/telegram\/7 +admin +agent\.json[\s\S]*telegram\/8 +\(waits\) +Jo/);
	const code = /pairing approve ([A-Z0-9]{8})/.exec(texts(double).join("\n"))?.[1] ?? "";
	expect((await run(world, ["pairing", "approve", code, "--role", "approve"])).stdout).toBe("Jo (telegram/8) may approve now.\n");
	double.say(8, "hi");
	await until("it answered him", () => texts(double).some((text) => text.startsWith("Answer to hi")), 60_000);
	expect((await run(world, ["pairing", "revoke", "telegram/8"])).stdout).toContain("may not write any more");

	const second = startGateway(world);
	expect(await second.ended).toBe(78);
	expect(second.printed()).toContain(`telegram is in use by gateway (pid ${gateway.child.pid})`);
	// Another home with the same token, under another name.
	const config = JSON.parse(fs.readFileSync(world.file("agent.json"), "utf8"));
	config.gateway.platforms = { work: { ...config.gateway.platforms.telegram, kind: "telegram" } };
	const other = newWorld(config);
	fs.cpSync(world.file("keys"), other.file("keys"), { recursive: true });
	const third = startGateway(other, { HOME: world.env.HOME ?? "" });
	expect(await third.ended).toBe(78);
	expect(third.printed()).toContain(`work is in use by gateway of ${world.env.HOLDFAST_AGENT_HOME} (pid ${gateway.child.pid})`);
	const counters = /http:\S+\/metrics/.exec(gateway.printed())?.[0] ?? "";
	const metrics = await (await fetch(counters)).text();
	expect(await (await fetch(new URL("/health", counters))).json()).toMatchObject({ ok: true, platforms: [{ name: "telegram", up: true }] });
	expect(metrics).toMatch(/holdfast_gateway_received_total\{platform="telegram"\} 2\n/);
	expect(metrics).toMatch(/holdfast_gateway_up\{platform="telegram"\} 1\n/);
	await until(
		"its status is written",
		() => fs.existsSync(world.file("gateway/status.json")) && /"up":true/.test(fs.readFileSync(world.file("gateway/status.json"), "utf8")),
	);
	const status = await run(world, ["gateway", "status"]);
	expect(status.code).toBe(0);
	expect(status.stdout).toMatch(/It runs \(pid \d+\)\.\ntelegram {2}connected/);

	gateway.child.kill("SIGTERM");
	expect(await gateway.ended).toBe(0);
	// The model said the token: it is masked in the chat, and nowhere but in its own file.
	expect(texts(double).join("\n")).not.toContain(TOKEN);
	expect(`${gateway.printed()}${metrics}${status.stdout}`).not.toContain(TOKEN);
	const places = spawnSync("grep", ["-rl", TOKEN, world.file("gateway"), world.file("inbox"), world.file("logs"), world.file("keys")], { encoding: "utf8" })
		.stdout.trim()
		.split("\n");
	expect(places).toEqual([world.file("keys/telegram-token")]);
});

test("the wizard proves the token, waits for the first message, and offers its writer as the owner", async () => {
	const { double, url } = await telegram();
	await using server = await modelServer({ script: [] });
	const world = newWorld(configured(server, url));
	const seat = await sit(world, ["setup", "platform"], { cols: 120, rows: 40 });
	await seat.shows("Which platform?");
	await seat.type("<ENTER>");
	await seat.shows("Bot token");
	await seat.type("1:wrong<ENTER>");
	await seat.shows("Enter it again?");
	await seat.type("<ENTER>");
	await seat.shows(/Bot token[\s\S]*Bot token/);
	await seat.type(`${TOKEN}<ENTER>`);
	await seat.shows(/Write to .*holdfast_bot now/);
	double.say(42, "it is me");
	await seat.shows("Jo (42) has written");
	await seat.type("<ENTER>");
	await seat.shows("Save this?");
	expect(fs.existsSync(world.file("keys/telegram-token"))).toBe(false);
	await seat.type("<ENTER>");
	expect(await seat.ended()).toBe(0);
	const { gateway } = JSON.parse(fs.readFileSync(world.file("agent.json"), "utf8")) as { gateway: Record<string, unknown> };
	expect(gateway).toEqual({
		platforms: { telegram: { apiRoot: url, keys: { token: { file: "telegram-token" } } } },
		metricsPort: 0,
		people: { "telegram/42": "admin" },
	});
	expect(seat.printed()).not.toContain(TOKEN);
});

test("install shows the unit, then writes it; systemd takes it, and is told when the gateway runs", async () => {
	const { url } = await telegram();
	await using server = await modelServer({ script: [] });
	const world = newWorld(configured(server, url));
	const config = JSON.parse(fs.readFileSync(world.file("agent.json"), "utf8"));
	config.gateway.platforms.telegram.keys = { token: { file: "telegram-token" } };
	fs.writeFileSync(world.file("agent.json"), JSON.stringify(config));
	fs.mkdirSync(world.file("keys"), { recursive: true, mode: 0o700 });
	fs.writeFileSync(world.file("keys/telegram-token"), TOKEN, { mode: 0o600 });
	const file = path.join(world.env.XDG_CONFIG_HOME ?? "", "systemd/user/holdfast-agent-gateway.service");
	const shown = await run(world, ["gateway", "install"]);
	expect(shown.code).toBe(2);
	expect(shown.stdout).toMatch(/\nKillMode=process\n[\s\S]*Restart=always/);
	expect(fs.existsSync(file)).toBe(false);
	expect((await run(world, ["gateway", "install", "--yes", "--no-start"])).code).toBe(0);
	expect(fs.readFileSync(file, "utf8")).toContain("Type=notify");
	const verified = spawnSync("systemd-analyze", ["--user", "--man=no", "verify", file], {
		env: { ...process.env, XDG_RUNTIME_DIR: tempDir("run") },
		encoding: "utf8",
	});
	expect(verified).toMatchObject({ status: 0, stdout: "", stderr: "" });

	const socket = path.join(tempDir("sd"), "notify");
	const listener = spawn("perl", [
		"-MIO::Socket::UNIX",
		"-e",
		'$s = IO::Socket::UNIX->new(Type => SOCK_DGRAM, Local => $ARGV[0]) or die; $| = 1; print "open\\n"; $s->recv($m, 4096); print "$m\\n"',
		socket,
	]);
	atEnd(() => void listener.kill("SIGKILL"));
	const lines = createInterface({ input: listener.stdout })[Symbol.asyncIterator]();
	expect((await lines.next()).value).toBe("open");
	// Another program has the port of the counters: that stops nothing.
	const other = createServer();
	await new Promise<void>((resolve) => other.listen(0, "127.0.0.1", resolve));
	atEnd(() => void other.close());
	config.gateway.metricsPort = (other.address() as AddressInfo).port;
	fs.writeFileSync(world.file("agent.json"), JSON.stringify(config));
	const gateway = startGateway(world, { NOTIFY_SOCKET: socket });
	expect((await lines.next()).value).toBe("READY=1");
	expect(gateway.printed()).toMatch(/runs without counters \(listen EADDRINUSE/);
	gateway.child.kill("SIGTERM");
	expect(await gateway.ended).toBe(0);
});
