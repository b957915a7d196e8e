/** A real nats-server on loopback, and the command line as collector and as workers. */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import fs from "node:fs";
import net from "node:net";
import path from "node:path";
import { atEnd, tempDir, until } from "../support/dirs.js";
import { MAIN, type World } from "../support/seat.js";

export const NATS = "/usr/sbin/nats-server";
export const noNats = fs.existsSync(NATS) ? false : "needs nats-server (Debian's package of this name)";

export interface NatsServer {
	readonly url: string;
	/** SIGKILL; its files stay. */
	kill(): Promise<void>;
	start(): Promise<void>;
	/** Everything that it has stored is gone: of a server that is not running. */
	wipe(): void;
}

export async function natsServer(): Promise<NatsServer> {
	const dir = tempDir("nats");
	const port = await freePort();
	let child: ChildProcess | undefined;
	const start = async (): Promise<void> => {
		child = spawn(NATS, ["-a", "127.0.0.1", "-p", String(port), "-js", "-sd", dir], { stdio: "ignore" });
		await until("nats-server listens", () => child?.exitCode !== null || listening(port), 30_000);
		if (child.exitCode !== null) throw new Error(`nats-server ended with ${child.exitCode}`);
	};
	const kill = async (): Promise<void> => {
		if (!child || child.exitCode !== null || child.signalCode !== null) return;
		const gone = once(child, "exit");
		child.kill("SIGKILL");
		await gone;
	};
	atEnd(kill);
	await start();
	return { url: `nats://127.0.0.1:${port}`, kill, start, wipe: () => fs.rmSync(path.join(dir, "jetstream"), { recursive: true, force: true }) };
}

async function freePort(): Promise<number> {
	const server = net.createServer().listen(0, "127.0.0.1");
	await once(server, "listening");
	const { port } = server.address() as net.AddressInfo;
	server.close();
	await once(server, "close");
	return port;
}

/** By the kernel's own list: a connection would be a client that says nothing. */
function listening(port: number): boolean {
	const hex = port.toString(16).toUpperCase().padStart(4, "0");
	return fs.readFileSync("/proc/net/tcp", "utf8").includes(`0100007F:${hex} 00000000:0000 0A`);
}

export interface Started {
	readonly child: ChildProcess;
	readonly printed: () => string;
	readonly ended: Promise<number | null>;
	kill(): Promise<void>;
}

/** The command line in the background. */
export function started(world: World, args: readonly string[]): Started {
	const child = spawn(process.execPath, [MAIN, ...args], {
		cwd: world.work,
		env: { ...world.env, TEST_ROOT: process.env.TEST_ROOT ?? "" },
		stdio: ["ignore", "pipe", "pipe"],
	});
	let printed = "";
	for (const stream of [child.stdout, child.stderr])
		stream?.setEncoding("utf8").on("data", (text: string) => {
			printed += text;
		});
	const ended = new Promise<number | null>((resolve) => child.once("close", resolve));
	const kill = async (): Promise<void> => {
		child.kill("SIGKILL");
		await ended;
	};
	atEnd(kill);
	return { child, ended, kill, printed: () => printed };
}

// biome-ignore lint/suspicious/noExplicitAny: rows of a ledger
export const ledgerOf = (world: World, dir: string): any[] =>
	fs
		.readFileSync(path.join(world.work, dir, "ledger.jsonl"), "utf8")
		.split("\n")
		.slice(0, -1)
		.map((line) => JSON.parse(line));

export const resultsOf = (world: World, dir: string) =>
	fs.existsSync(path.join(world.work, dir, "ledger.jsonl")) ? ledgerOf(world, dir).filter(({ t }) => t === "result") : [];
