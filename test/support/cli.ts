import { execFile, spawn } from "node:child_process";
import fs from "node:fs";
import path from "node:path";
import { promisify } from "node:util";
import { atEnd, tempDir } from "./home.js";

const SHOWN_MS = 100_000; // on a busy machine a program may take its time to start
const LOOK_MS = 20; // each look is a program too

export const CLI = path.resolve("dist/bin/holdfast.js");

export interface CliResult {
	readonly code: number | null;
	readonly stdout: string;
	readonly stderr: string;
}

/** Run the built CLI on a home. */
export function cli(
	home: string,
	args: readonly string[],
	options: { input?: string; env?: NodeJS.ProcessEnv; cwd?: string; prefix?: readonly string[] } = {},
): Promise<CliResult> {
	return new Promise((resolve, reject) => {
		const [program, ...rest] = [...(options.prefix ?? []), process.execPath, CLI, ...args] as [string, ...string[]];
		const child = spawn(program, rest, {
			env: { ...process.env, HOLDFAST_HOME: home, ...options.env },
			cwd: options.cwd,
			stdio: ["pipe", "pipe", "pipe"],
		});
		let stdout = "";
		let stderr = "";
		child.stdout.setEncoding("utf8").on("data", (text: string) => {
			stdout += text;
		});
		child.stderr.setEncoding("utf8").on("data", (text: string) => {
			stderr += text;
		});
		child.on("error", reject);
		child.on("close", (code) => resolve({ code, stdout, stderr }));
		child.stdin.on("error", () => {}); // it need not read what we send
		child.stdin.end(options.input ?? "");
	});
}

export const hasTmux = fs.existsSync("/usr/bin/tmux");

/** A person's terminal: a private tmux server with one window. */
export class Terminal {
	readonly #socket: string;

	constructor(command: string, env: Record<string, string>) {
		this.#socket = path.join(tempDir("tmux"), "s");
		this.#started = this.#tmux(
			"-f",
			"/dev/null",
			"new-session",
			"-d",
			"-x",
			"100",
			"-y",
			"30",
			...Object.entries(env).flatMap(([name, value]) => ["-e", `${name}=${value}`]),
			command,
			";",
			"set-option",
			"-g",
			"remain-on-exit",
			"on",
		);
		atEnd(async () => {
			await this.#started;
			await this.#tmux("kill-server").catch(() => {}); // it may be gone with its last window
		});
	}

	readonly #started: Promise<unknown>;

	async type(...keys: string[]): Promise<void> {
		await this.#started;
		await this.#tmux("send-keys", ...keys);
	}

	async resize(cols: number, rows: number): Promise<void> {
		await this.#tmux("resize-window", "-x", String(cols), "-y", String(rows));
	}

	async screen(): Promise<string> {
		await this.#started;
		return (await this.#tmux("capture-pane", "-p")).stdout;
	}

	/** Wait until the screen shows it. */
	async shows(text: string | RegExp): Promise<string> {
		let screen = "";
		const found = () => (typeof text === "string" ? screen.includes(text) : text.test(screen));
		const deadline = performance.now() + SHOWN_MS;
		for (screen = await this.screen(); !found() && performance.now() < deadline; screen = await this.screen())
			await new Promise((resolve) => setTimeout(resolve, LOOK_MS));
		if (!found()) throw new Error(`the terminal never showed ${text}:\n${screen}`);
		return screen;
	}

	#tmux(...args: string[]): Promise<{ stdout: string }> {
		return promisify(execFile)("tmux", ["-S", this.#socket, ...args], { env: { ...process.env, TMUX: "" } });
	}
}
