/** A real server for the tests of a file: in a directory of its own, on loopback, ended by its process id. */
import { type ChildProcess, spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import fs from "node:fs";
import net from "node:net";
import path from "node:path";

/** Beside the directory of the worker, which must be empty after each test; scripts/test.mjs ends whatever names it when a run is over. */
export function serverDir(name: string): string {
	const dir = path.join(path.dirname(process.env.TEST_ROOT ?? ""), `${name}-${randomBytes(4).toString("hex")}`);
	fs.mkdirSync(dir, { mode: 0o755 });
	return dir;
}

/** Why the tests of a server are skipped: the first of its programs that is missing. */
export const missing = (programs: Readonly<Record<string, string>>): string | undefined => {
	const [name] = Object.entries(programs).find(([, file]) => !fs.existsSync(file)) ?? [];
	return name && `${name} is not installed`;
};

export class Daemon {
	readonly #child: ChildProcess;
	#said = "";

	constructor(argv: readonly [string, ...string[]], dir: string, env: NodeJS.ProcessEnv = {}) {
		const { TEST_ROOT: _, ...rest } = process.env;
		this.#child = spawn(argv[0], argv.slice(1), { cwd: dir, env: { ...rest, ...env }, stdio: ["ignore", "pipe", "pipe"] });
		for (const stream of [this.#child.stdout, this.#child.stderr]) stream?.on("data", (chunk) => (this.#said = (this.#said + chunk).slice(-4000)));
	}

	/** Waits until the port answers. */
	async listens(port: number): Promise<void> {
		for (const deadline = Date.now() + 60_000; ; await new Promise((resolve) => setTimeout(resolve, 20))) {
			if (this.#child.exitCode !== null) throw new Error(`the server ended with ${this.#child.exitCode}: ${this.#said}`);
			const socket = net.connect(port, "127.0.0.1");
			const answers = await new Promise<boolean>((resolve) => socket.once("connect", () => resolve(true)).once("error", () => resolve(false)));
			socket.destroy();
			if (answers) return;
			if (Date.now() > deadline) throw new Error(`the server does not listen on ${port}: ${this.#said}`);
		}
	}

	signal(name: NodeJS.Signals): void {
		this.#child.kill(name);
	}

	async end(): Promise<void> {
		if (this.#child.exitCode !== null || this.#child.signalCode !== null) return;
		const ended = once(this.#child, "exit");
		this.#child.kill("SIGTERM");
		const force = setTimeout(() => this.#child.kill("SIGKILL"), 5000);
		await ended;
		clearTimeout(force);
	}
}

export async function freePort(): Promise<number> {
	const [first = 0] = fs.readFileSync("/proc/sys/net/ipv4/ip_local_port_range", "utf8").trim().split(/\s+/).map(Number);
	const end = first > 20_000 ? first : 60_000;
	for (;;) {
		const port = 10_000 + Math.floor(Math.random() * (end - 10_000));
		const server = net.createServer();
		const free = await new Promise<boolean>((resolve) => server.once("error", () => resolve(false)).listen(port, "127.0.0.1", () => resolve(true)));
		if (free) await new Promise((resolve) => server.close(resolve));
		if (free) return port;
	}
}
