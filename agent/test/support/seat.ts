/** A person's seat: the built command line on one of Holdfast's own terminals, typed at with keys and read as a screen. */
import { spawn } from "node:child_process";
import fs from "node:fs";
import path from "node:path";
import { openRuntime, type Task } from "holdfast";
import { testRuntime } from "holdfast/testing";
import type { ModelServer } from "../model-server/index.js";
import { atEnd, tempDir } from "./dirs.js";

export const MAIN = path.resolve("agent/dist/cli/main.js");

export interface World {
	readonly dir: string;
	/** Where the agent's shell starts. */
	readonly work: string;
	readonly env: Readonly<Record<string, string>>;
	/** In the agent's home. */
	file(name: string): string;
}

/** Homes of their own for the agent and the core; whatever runs in them is gone after the test. */
export function newWorld(config?: Readonly<Record<string, unknown>>): World {
	const dir = tempDir("world");
	const inside = (name: string) => path.join(dir, name);
	for (const name of ["agent", "work", "home", "xdg"]) fs.mkdirSync(inside(name), { mode: 0o700 });
	const core = inside("core");
	atEnd(() => endAll(core));
	if (config) fs.writeFileSync(inside("agent/agent.json"), JSON.stringify(config), { mode: 0o600 });
	return {
		dir,
		work: inside("work"),
		env: { HOLDFAST_HOME: core, HOLDFAST_AGENT_HOME: inside("agent"), XDG_CONFIG_HOME: inside("xdg"), HOME: inside("home"), PATH: process.env.PATH ?? "" },
		file: (name) => inside(`agent/${name}`),
	};
}

/** Settings for a scripted server. */
export const configFor = (server: ModelServer, more: Readonly<Record<string, unknown>> = {}): Record<string, unknown> => ({
	endpoints: { scripted: { url: server.url, window: 100_000 } },
	model: "scripted",
	toolsets: ["terminal", "file", "todo", "ask"],
	...more,
});

async function endAll(home: string): Promise<void> {
	if (!fs.existsSync(home)) return;
	const runtime = await openRuntime({ home, warm: 0 });
	const all = runtime.list({ task: null, shells: true });
	await Promise.all(all.map((process) => process.kill({ graceMs: 0 })));
	for (const task of new Set(all.map(({ spec }) => spec.task))) await runtime.endTask(task);
	await runtime.close();
}

export interface Ran {
	readonly code: number | null;
	readonly stdout: string;
	readonly stderr: string;
}

/** Runs the command line without a terminal. */
export function run(
	world: World,
	args: readonly string[],
	options: { readonly input?: string | Buffer; readonly env?: Readonly<Record<string, string>> } = {},
): Promise<Ran> {
	return new Promise((resolve, reject) => {
		const env = { ...world.env, TEST_ROOT: process.env.TEST_ROOT ?? "", ...options.env };
		const child = spawn(process.execPath, [MAIN, ...args], { cwd: world.work, env, stdio: ["pipe", "pipe", "pipe"] });
		atEnd(() => void child.kill("SIGKILL"));
		const out = { stdout: "", stderr: "" };
		for (const name of ["stdout", "stderr"] as const)
			child[name].setEncoding("utf8").on("data", (text: string) => {
				out[name] += text;
			});
		child.on("error", reject);
		child.on("close", (code) => resolve({ code, ...out }));
		child.stdin.on("error", () => {}); // it need not read what it is sent
		child.stdin.end(options.input ?? "");
	});
}

export interface SeatOptions {
	readonly cols?: number;
	readonly rows?: number;
	readonly env?: Readonly<Record<string, string>>;
	/** What runs the program, before its own words: as another user. */
	readonly prefix?: readonly string[];
}

export interface Seat {
	/** Text and `<KEY>` tokens. */
	type(keys: string): Promise<void>;
	/** Bytes as a terminal sends them: a paste. */
	send(bytes: string): Promise<void>;
	screen(): Promise<string>;
	/** Waits until the screen has it, and returns the screen. */
	shows(text: string | RegExp): Promise<string>;
	resize(cols: number, rows: number): Promise<void>;
	/** All that was ever printed, escape sequences included. */
	printed(): string;
	/** Waits until the program has ended; its exit code. */
	ended(): Promise<number | null>;
}

const SHOWN_MS = 100_000;
const LOOK_MS = 20;
/** Of a program that reads lines it cannot be told whether it waits: `shows` waits for what is to come. */
const REACT_SECONDS = 1;

/** Sits down: the command line runs on a terminal of another home, as a person would have it. */
export async function sit(world: World, args: readonly string[], { cols = 80, rows = 30, env = {}, prefix = [] }: SeatOptions = {}): Promise<Seat> {
	const runtime = await testRuntime({ task: "seat", warm: 0 });
	atEnd(() => runtime.close());
	const task: Task = runtime.task("seat", { cwd: world.work });
	// A script, since a rule of the outer home has a word to say about commands that name the inner one.
	const script = path.join(world.dir, `seat-${Math.random().toString(16).slice(2)}.sh`);
	const all = { ...world.env, TEST_ROOT: process.env.TEST_ROOT ?? "", ...env };
	const quoted = (text: string) => `'${text.replaceAll("'", `'\\''`)}'`;
	const exports = Object.entries(all).map(([name, value]) => `export ${name}=${quoted(value)}`);
	fs.writeFileSync(script, `${exports.join("\n")}\nexec ${[...prefix, process.execPath, MAIN, ...args].map(quoted).join(" ")}\n`);
	const started = await task.terminal({ command: `sh ${script}`, background: true, pty: true, cols, rows });
	if (started.session_id === undefined) throw new Error(`the seat was not started: ${started.error ?? started.output}`);
	const session_id = started.session_id;
	const process_ = runtime.get(session_id);

	const screen = async () => (await task.process({ action: "screen", session_id })).screen ?? "";
	return {
		async type(data) {
			const { error } = await task.process({ action: "keys", session_id, data, timeout: REACT_SECONDS });
			if (error) throw new Error(error);
		},
		send: async (bytes) => void (await process_.write(bytes)),
		screen,
		resize: async (cols, rows) => void (await task.process({ action: "resize", session_id, cols, rows })),
		async shows(text) {
			const has = (shown: string) => (typeof text === "string" ? shown.includes(text) : text.test(shown));
			const deadline = Date.now() + SHOWN_MS;
			let shown = await screen();
			for (; !has(shown) && Date.now() < deadline; shown = await screen()) await new Promise((resolve) => setTimeout(resolve, LOOK_MS));
			if (!has(shown)) throw new Error(`the terminal never showed ${text}:\n${shown}`);
			return shown;
		},
		printed: () => process_.read(0, 64 * 1024 * 1024).bytes.toString("utf8"),
		async ended() {
			const { exit_code, status } = await task.process({ action: "wait", session_id, timeout: SHOWN_MS / 1_000 });
			if (status === "running") throw new Error(`the program never ended:\n${await screen()}`);
			return exit_code ?? null;
		},
	};
}
