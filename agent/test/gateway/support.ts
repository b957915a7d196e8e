/** A gateway on a home of its own, with the real core, the scripted model server and the chat double. */
import { spawn } from "node:child_process";
import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import { openRuntime, type Runtime } from "holdfast";
import { type FakeClock, testRuntime } from "holdfast/testing";
import { type AgentHome, type Clock, loadAgentConfig, openAgentHome } from "../../src/base/index.js";
import { Gateway, type GatewayOptions } from "../../src/gateway/index.js";
import { PlatformError, type PlatformTraits } from "../../src/gateway/platforms/platform.js";
import { type ModelServer, modelServer, type Script } from "../model-server/index.js";
import { atEnd, tempDir, until } from "../support/dirs.js";
import { type DoubleChats, DoubleServer } from "./double.js";
import { DoublePlatform } from "./fixtures/double.mjs";

export interface GateWorld {
	readonly dir: string;
	readonly home: AgentHome;
	readonly runtime: Runtime;
	readonly model: ModelServer;
	readonly double: DoubleServer;
	/** The first platform. */
	readonly chats: DoubleChats;
	readonly problems: string[];
	start(options?: Partial<GatewayOptions>): Promise<Gateway>;
	/** Waits until a chat shows a text that fits. */
	shows(fits: string | RegExp | ((texts: readonly string[]) => boolean), chat?: string, chats?: DoubleChats): Promise<void>;
}

export interface GateOptions {
	readonly script?: Script;
	readonly traits?: Partial<PlatformTraits>;
	readonly gateway?: Record<string, unknown>;
	readonly config?: Record<string, unknown>;
	readonly platforms?: readonly string[];
	readonly clock?: Clock;
	/** By which the core tells of processes. */
	readonly noticeClock?: FakeClock;
	readonly broken?: "expected";
}

export async function gateWorld(options: GateOptions = {}): Promise<GateWorld> {
	const dir = tempDir("gate");
	const home = openAgentHome(path.join(dir, "home"));
	const work = path.join(dir, "work");
	fs.mkdirSync(work);
	const double = await DoubleServer.start();
	const model = await modelServer({ script: options.script ?? [], ...(options.broken ? { broken: options.broken } : {}) });
	const runtime = await testRuntime({ task: "unused", clock: options.noticeClock });
	const names = options.platforms ?? ["tele"];
	const config = {
		...{ endpoints: { scripted: { url: model.url, window: 100_000 } }, model: "scripted", toolsets: ["terminal", "file", "ask"] },
		gateway: { people: { [`${names[0]}/jo`]: "admin", [`${names[0]}/tim`]: "talk", [`${names[0]}/ann`]: "approve" }, ...options.gateway },
		...options.config,
	};
	fs.writeFileSync(home.config, JSON.stringify(config), { mode: 0o600 });
	const all = names.map((name) => double.platform(name, options.traits));
	const problems: string[] = [];
	const running: Gateway[] = [];
	atEnd(async () => {
		for (const gateway of running) await gateway.stop();
		for (const task of new Set(runtime.list({ task: null, shells: true }).map(({ spec }) => spec.task))) await runtime.endTask(task);
		await runtime.close();
		await double.close();
		await model[Symbol.asyncDispose]();
	});
	return {
		...{ dir, home, runtime, model, double, problems, chats: all[0] as DoubleChats },
		async start(more = {}) {
			const gateway = await Gateway.start({
				settings: { home, flags: [], ...loadAgentConfig(home) },
				platforms: all.map(({ name, traits }) => ({ name, platform: new DoublePlatform({ url: double.url, name, traits, PlatformError }) })),
				...{ runtime, cwd: work, firstWaitMs: 20, report: (text: string) => problems.push(text) },
				...(options.clock ? { clock: options.clock } : {}),
				...more,
			});
			running.push(gateway);
			return gateway;
		},
		async shows(fits, chat = "c1", chats = all[0] as DoubleChats) {
			const holds = (): boolean => {
				const texts = chats.texts(chat);
				return typeof fits === "function" ? fits(texts) : texts.some((text) => (typeof fits === "string" ? text === fits : fits.test(text)));
			};
			try {
				await until(`${chat} shows ${fits}`, holds, 30_000);
			} catch (error) {
				throw new Error(`${error}\nshown: ${JSON.stringify(chats.messages, null, 1)}\nproblems: ${problems.join("\n")}`, { cause: error });
			}
		},
	};
}

const FIXTURE = path.resolve("agent/test/gateway/fixtures/gateway.mjs");

/** One of the platforms of the product, in place of the chat double. */
export interface RealPlatform {
	readonly name: string;
	readonly kind: string;
	readonly settings: Readonly<Record<string, unknown>>;
	readonly secrets: Readonly<Record<string, string>>;
}

export interface GateProgram {
	readonly pid: number;
	/** Resolves when it is connected, with false if it has ended before. */
	readonly ready: Promise<boolean>;
	readonly ended: Promise<number | string>;
	/** What it said on stdout. */
	said(): string;
	kill(signal?: NodeJS.Signals): Promise<number | string>;
}

/** The gateway of this world as a program of its own, on a core home of its own; it may be killed. */
export function gateProgram(world: ProgramWorld, more: { readonly crashes?: number; readonly platforms?: readonly RealPlatform[] } = {}): GateProgram {
	const options = {
		home: world.home.root,
		core: world.core,
		url: world.double.url,
		platforms: world.platforms.map(({ name, traits }) => ({ name, traits })),
		cwd: world.work,
		...more,
	};
	const child = spawn(process.execPath, ["--no-wasm-tier-up", "--no-wasm-dynamic-tiering", FIXTURE, JSON.stringify(options)], {
		stdio: ["ignore", "pipe", "pipe"],
		env: { ...process.env, XDG_CONFIG_HOME: world.xdg },
	});
	let out = "";
	const ended = new Promise<number | string>((resolve) => child.once("exit", (code, signal) => resolve(signal ?? (code as number))));
	const ready = new Promise<boolean>((resolve) => {
		child.stdout.on("data", (chunk: Buffer) => {
			out += chunk.toString("utf8");
			if (out.includes("ready\n")) resolve(true);
		});
		void ended.then(() => resolve(false));
	});
	child.stderr.on("data", (chunk: Buffer) => world.problems.push(chunk.toString("utf8").trim()));
	const kill = (signal: NodeJS.Signals = "SIGKILL"): Promise<number | string> => {
		child.kill(signal);
		return ended;
	};
	world.programs.push(kill);
	return { pid: child.pid ?? 0, ready, ended, said: () => out, kill };
}

export interface ProgramWorld {
	readonly dir: string;
	readonly work: string;
	readonly home: AgentHome;
	/** The core's home. */
	readonly core: string;
	/** Where the core's config.json is: questions wait for a day, however slow the machine is. */
	readonly xdg: string;
	readonly model: ModelServer;
	readonly double: DoubleServer;
	readonly platforms: readonly DoubleChats[];
	readonly problems: string[];
	readonly programs: (() => Promise<unknown>)[];
}

export async function programWorld(
	options: GateOptions & { readonly all?: readonly { name: string; traits: Partial<PlatformTraits> }[] } = {},
): Promise<ProgramWorld> {
	const dir = tempDir("gate");
	const home = openAgentHome(path.join(dir, "home"));
	const work = path.join(dir, "work");
	fs.mkdirSync(work);
	const xdg = path.join(dir, "xdg");
	fs.mkdirSync(path.join(xdg, "holdfast"), { recursive: true });
	fs.writeFileSync(path.join(xdg, "holdfast", "config.json"), '{ "approvals": { "expires": 86400 } }');
	const core = fs.mkdtempSync(path.join(fs.realpathSync(os.tmpdir()), "holdfast-test-gate-")); // sockets have short names
	const double = await DoubleServer.start();
	const model = await modelServer({ script: options.script ?? [] });
	const wanted = options.all ?? [{ name: "tele", traits: options.traits ?? {} }];
	const people = Object.fromEntries(wanted.map(({ name }) => [`${name}/jo`, "admin"]));
	const config = {
		...{ endpoints: { scripted: { url: model.url, window: 100_000 } }, model: "scripted", toolsets: ["terminal", "file", "ask"] },
		gateway: { people, ...options.gateway },
		...options.config,
	};
	fs.writeFileSync(home.config, JSON.stringify(config), { mode: 0o600 });
	const programs: (() => Promise<unknown>)[] = [];
	atEnd(async () => {
		for (const kill of programs) await kill();
		await endAll(core);
		fs.rmSync(core, { recursive: true, force: true });
		await double.close();
		await model[Symbol.asyncDispose]();
	});
	const platforms = wanted.map(({ name, traits }) => double.platform(name, traits));
	return { dir, work, home, core, xdg, model, double, platforms, problems: [], programs };
}

async function endAll(core: string): Promise<void> {
	const runtime = await openRuntime({ home: core, warm: 0 });
	const all = runtime.list({ task: null, shells: true });
	await Promise.all(all.map((process) => process.kill({ graceMs: 0 })));
	for (const task of new Set(all.map(({ spec }) => spec.task))) await runtime.endTask(task);
	await runtime.close();
}
