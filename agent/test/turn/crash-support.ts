/** Runs the agent as a program of its own, which a test kills. */
import { type ChildProcess, spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { openRuntime } from "holdfast";
import { type AgentHome, openAgentHome } from "../../src/base/index.js";
import { Log } from "../../src/talk/index.js";
import { type ModelServer, modelServer, type Script } from "../model-server/index.js";

const FIXTURE = fileURLToPath(new URL("fixtures/agent.mjs", import.meta.url));
/** As the command line has them: a program that has parsed a command waits at its end for what optimises the parser. */
const FLAGS = ["--no-wasm-tier-up", "--no-wasm-dynamic-tiering"];

export interface RunOptions {
	readonly id?: string | undefined;
	readonly says?: readonly (readonly [message: string, text: string])[];
	readonly crash?: string;
	readonly crashes?: number;
	/** Esc as soon as a turn goes on. */
	readonly interrupt?: boolean;
}

export interface AgentRun {
	readonly child: ChildProcess;
	readonly events: readonly Record<string, unknown>[];
	/** Resolves when an event fits, or the program has ended. */
	until(fits: (event: Record<string, unknown>) => boolean): Promise<Record<string, unknown> | undefined>;
	/** Resolves with how it ended: a code, or the signal. */
	readonly over: Promise<number | string>;
	kill(): Promise<void>;
}

export interface CrashBench extends AsyncDisposable {
	readonly dir: string;
	readonly home: AgentHome;
	readonly server: ModelServer;
	run(options?: RunOptions): AgentRun;
	log(id: string): Log;
}

export async function crashBench(script: Script): Promise<CrashBench> {
	const dir = path.join(process.env.TEST_ROOT as string, `crash-${randomBytes(4).toString("hex")}`);
	const home = openAgentHome(path.join(dir, "home"));
	const core = fs.mkdtempSync(path.join(fs.realpathSync(os.tmpdir()), "holdfast-test-agent-core-")); // sockets have short names
	const server = await modelServer({ script });
	const run = ({ id, says = [], ...more }: RunOptions = {}): AgentRun => {
		const options = { home: home.root, core, url: server.url, id, says, ...more };
		const child = spawn(process.execPath, [...FLAGS, FIXTURE, JSON.stringify(options)], { cwd: dir, stdio: ["ignore", "pipe", "inherit"] });
		const events: Record<string, unknown>[] = [];
		const waiting = new Set<() => void>();
		let ended = false;
		const poke = (): void => {
			for (const look of [...waiting]) look();
		};
		createInterface({ input: child.stdout as NodeJS.ReadableStream }).on("line", (line) => {
			events.push(JSON.parse(line) as Record<string, unknown>);
			poke();
		});
		const over = new Promise<number | string>((resolve) =>
			child.once("exit", (code, signal) => {
				ended = true;
				poke();
				resolve(signal ?? (code as number));
			}),
		);
		const until: AgentRun["until"] = (fits) =>
			new Promise((resolve) => {
				const look = (): void => {
					const found = events.find(fits);
					if (!found && !ended) return;
					waiting.delete(look);
					resolve(found);
				};
				waiting.add(look);
				look();
			});
		const kill = async (): Promise<void> => {
			child.kill("SIGKILL");
			await over;
		};
		return { child, events, until, over, kill };
	};
	return {
		dir,
		home,
		server,
		run,
		log: (id) => Log.read(home, id),
		async [Symbol.asyncDispose]() {
			const runtime = await openRuntime({ home: core, warm: 0 });
			const tasks = new Set(runtime.list({ task: null, shells: true }).map(({ spec }) => spec.task));
			for (const task of tasks) await runtime.endTask(task);
			await runtime.close();
			fs.rmSync(core, { recursive: true, force: true });
			fs.rmSync(dir, { recursive: true, force: true });
			await server[Symbol.asyncDispose]();
		},
	};
}

/** Messages of a request, as far as a script needs them. */
export function saidIn(body: Record<string, unknown>): { readonly role: string; readonly text: string }[] {
	return (body.messages as { role: string; content?: unknown }[]).map(({ role, content }) => ({
		role,
		text: typeof content === "string" ? content : JSON.stringify(content),
	}));
}
