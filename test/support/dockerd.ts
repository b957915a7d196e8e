/**
 * A real Docker engine for tests: dockerd on a private socket in a directory of its own, with images made here, nothing fetched.
 * `sharedEngine` is one for the whole run, started by whoever needs it first and stopped by the global teardown; `ownEngine` is for a
 * test that restarts it, and ends with the test. Needs root, and the packages docker.io, busybox-static and openssl.
 */
import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import fs from "node:fs";
import path from "node:path";
import { isAlive, readStat } from "../../src/base/proc.js";
import { makeCertificates } from "./certificates.js";
import { TestDocker } from "./docker-client.js";
import { atEnd, testRoot, until } from "./home.js";
import { buildImages } from "./images.js";
import { startsThroughDaemon } from "./own-processes.js";
import { freePort } from "./ports.js";

/** Bash, dash, coreutils, util-linux, perl; users root and agent (1000). */
export const FULL_IMAGE = "holdfast/full:1";
/** Busybox and nothing else. */
export const BUSYBOX_IMAGE = "holdfast/busybox:1";

export interface TestEngine {
	readonly dir: string;
	/** For DOCKER_HOST. */
	readonly address: string;
	readonly docker: TestDocker;
	/** False: its containers end when it is started again. */
	readonly liveRestore?: boolean;
}

/** Why there can be none here; undefined when there can. */
export function noEngine(): string | undefined {
	if (process.getuid?.() !== 0) return "a Docker engine for tests can only be started by root";
	if (!fs.existsSync("/usr/sbin/dockerd")) return "dockerd is not installed (package docker.io)";
	if (!fs.existsSync("/usr/bin/openssl")) return "openssl is not installed";
	if (!fs.existsSync("/bin/busybox")) return "busybox is not installed (package busybox-static)";
	return undefined;
}

const SHARED = "docker";

export async function sharedEngine(): Promise<TestEngine> {
	const dir = path.join(path.dirname(testRoot()), SHARED); // beside the workers' directories: it outlives every test
	const ready = path.join(dir, "ready");
	try {
		fs.mkdirSync(dir, { mode: 0o700 });
	} catch {
		await until("another worker has started the engine", () => fs.existsSync(ready));
		return engineAt(dir);
	}
	const tls = path.join(dir, "tls");
	fs.mkdirSync(tls);
	makeCertificates(tls);
	fs.writeFileSync(path.join(tls, "port"), String(await freePort()));
	const engine = await startEngine(dir);
	fs.writeFileSync(ready, "");
	return engine;
}

/** Where the shared engine also listens, and the directory with the certificates for it. */
export const overTls = ({ dir }: TestEngine): { address: string; certificates: string } => ({
	address: `tcp://127.0.0.1:${fs.readFileSync(path.join(dir, "tls/port"), "utf8")}`,
	certificates: path.join(dir, "tls"),
});

/** For test/support/global.ts. */
export async function stopSharedEngine(root: string): Promise<void> {
	const dir = path.join(root, SHARED);
	if (fs.existsSync(dir)) await stopEngine(engineAt(dir));
}

let count = 0;

export async function ownEngine(options: Pick<TestEngine, "liveRestore"> = {}): Promise<TestEngine> {
	const dir = path.join(path.dirname(testRoot()), `own-docker-${process.pid}-${count++}`);
	fs.mkdirSync(dir, { mode: 0o700 });
	atEnd(() => stopEngine(engineAt(dir)));
	return await startEngine(dir, options);
}

function engineAt(dir: string): TestEngine {
	startsThroughDaemon();
	const socket = path.join(dir, "docker.sock");
	return { dir, address: `unix://${socket}`, docker: new TestDocker(socket) };
}

async function startEngine(dir: string, options: Pick<TestEngine, "liveRestore"> = {}): Promise<TestEngine> {
	const engine = { ...engineAt(dir), ...options };
	await startDaemon(engine);
	await buildImages(engine, { full: FULL_IMAGE, busybox: BUSYBOX_IMAGE });
	return engine;
}

/** dockerd alone; containers that run go on without it, and with live-restore also when it is back. */
export async function startDaemon(engine: TestEngine): Promise<void> {
	const { dir, docker, liveRestore = true } = engine;
	const at = (name: string) => path.join(dir, name);
	const pem = { tlscacert: "ca.pem", tlscert: "server-cert.pem", tlskey: "server-key.pem" };
	const secure = fs.existsSync(at("tls"))
		? ["-H", overTls(engine).address, "--tlsverify", ...Object.entries(pem).map(([flag, file]) => `--${flag}=${at("tls")}/${file}`)]
		: [];
	const log = fs.openSync(at("log"), "a");
	const daemon: ChildProcess = spawn(
		"/usr/sbin/dockerd",
		[
			...["-H", `unix://${at("docker.sock")}`, "--data-root", at("data"), "--exec-root", at("run"), "-p", at("docker.pid")],
			...["--storage-driver=overlay2", "--bridge=none", "--iptables=false", "--ip6tables=false", "--ip-forward=false", "--ip-masq=false"],
			...["--userland-proxy=false", ...(liveRestore ? ["--live-restore"] : []), "--shutdown-timeout=2"],
			...secure,
		],
		// Without TEST_ROOT: it is not something that a test has left behind.
		{ detached: true, stdio: ["ignore", log, log], env: { PATH: process.env.PATH, HOME: dir } },
	);
	fs.closeSync(log);
	daemon.unref();
	fs.writeFileSync(at("identity"), JSON.stringify({ pid: daemon.pid, start: readStat(daemon.pid as number)?.start }));
	const deadline = Date.now() + 30_000;
	for (;;) {
		if (daemon.exitCode !== null || Date.now() > deadline) throw new Error(`dockerd did not start:\n${fs.readFileSync(at("log"), "utf8").slice(-3000)}`);
		if (await docker.ping().catch(() => undefined)) return;
		await new Promise((resolve) => setTimeout(resolve, 25));
	}
}

export async function stopDaemon({ dir }: TestEngine, signal: "SIGTERM" | "SIGKILL" = "SIGTERM"): Promise<void> {
	const daemon = JSON.parse(fs.readFileSync(path.join(dir, "identity"), "utf8"));
	if (isAlive(daemon)) process.kill(daemon.pid, signal);
	await until("dockerd is gone", () => !isAlive(daemon));
	// Its containerd goes a moment later, or is killed with it; what it leaves would be taken by a new dockerd for one that runs.
	const pidFile = path.join(dir, "run/containerd/containerd.pid");
	const known = fs.existsSync(pidFile) ? readStat(Number(fs.readFileSync(pidFile, "utf8"))) : undefined;
	if (known?.comm === "containerd") {
		if (signal === "SIGKILL" && isAlive(known)) process.kill(known.pid, "SIGTERM");
		await until("containerd is gone", () => !isAlive(known));
	}
	fs.rmSync(pidFile, { force: true });
}

async function stopEngine(engine: TestEngine): Promise<void> {
	try {
		if (!(await engine.docker.ping().catch(() => undefined))) {
			await stopDaemon(engine);
			await startDaemon(engine); // only it can end what is left of containers
		}
		for (const { Id } of await engine.docker.listContainers()) await engine.docker.getContainer(Id).remove({ force: true, v: true });
	} finally {
		await stopDaemon(engine);
		await unmountUnder(engine.dir);
		fs.rmSync(engine.dir, { recursive: true, force: true });
	}
}

/** What has just ended there may hold a mount for another moment. */
export async function unmountUnder(dir: string): Promise<void> {
	let said = "";
	const deadline = Date.now() + 10_000;
	for (let mounts = mountsUnder(dir); mounts.length > 0; mounts = mountsUnder(dir)) {
		for (const mount of mounts) said = spawnSync("umount", [mount], { encoding: "utf8" }).stderr || said;
		if (Date.now() > deadline) throw new Error(`still mounted: ${mountsUnder(dir).join(", ")}: ${said}`);
		await new Promise((resolve) => setTimeout(resolve, 20));
	}
}

/** Deepest first. */
function mountsUnder(dir: string): string[] {
	const mounts = fs.readFileSync("/proc/self/mountinfo", "utf8").split("\n");
	return mounts
		.map((line) => line.split(" ")[4] ?? "")
		.filter((mount) => mount.startsWith(`${dir}/`))
		.sort((a, b) => b.length - a.length);
}
