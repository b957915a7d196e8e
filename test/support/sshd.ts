/** A real sshd on loopback, for one test or for all of a file: keys, homes and users of its own, hidden from other programs on the machine. */
import { type ChildProcess, execFileSync, spawn, spawnSync } from "node:child_process";
import fs from "node:fs";
import net from "node:net";
import path from "node:path";
import { type Identity, isAlive, readStat } from "../../src/base/proc.js";
import type { SshOptions } from "../../src/places/ssh/index.js";
import { ProcessSnapshot } from "../../src/process/tree.js";
import { atEnd, tempDir, testRoot, until } from "./home.js";
import { freePort } from "./ports.js";

/** Why there can be none here; undefined when there can. The users are in a passwd file that only this sshd sees: a mount of its own. */
export const noSshd: string | undefined =
	process.getuid?.() !== 0
		? "needs root"
		: !fs.existsSync("/usr/sbin/sshd") || !fs.existsSync("/usr/bin/ssh")
			? "needs openssh-server and openssh-client"
			: spawnSync("unshare", ["--mount", "true"]).status !== 0
				? "needs mount namespaces"
				: undefined;

/** A login without rights, which exists for this sshd alone. */
export const PLAIN_USER = "hfplain";
export const PLAIN_ID = 54_321;

export interface SshdOptions {
	/** Lines of sshd_config, before ours: the first of each counts. */
	readonly config?: readonly string[];
	readonly shell?: string;
	/** For more than one test: its starter calls `end`. */
	readonly lasting?: boolean;
}

export interface Sshd {
	readonly port: number;
	/** Keys (`user`, `host`), `known_hosts`, `ssh_config`, and whatever a test puts there. */
	readonly dir: string;
	/** The homes of root and of PLAIN_USER. */
	readonly home: string;
	readonly plainHome: string;
	/** How to reach it: with a configuration of its own, so that nothing of the person's is read or written. */
	readonly options: SshOptions;
	/** Its log so far. */
	log(): string;
	/** The listener and every session: all connections break. */
	stop(): Promise<void>;
	/** Again, on the same port. */
	start(): Promise<void>;
	/** Stop it for good, with all its files. The end of a test does so, unless it is a lasting one. */
	end(): Promise<void>;
}

export async function startSshd({ config = [], shell = "/bin/bash", lasting = false }: SshdOptions = {}): Promise<Sshd> {
	const dir = lasting ? fs.mkdtempSync(path.join(path.dirname(testRoot()), "sshd-")) : tempDir("sshd"); // beside what is looked through after each test
	for (const open of [testRoot(), dir]) fs.chmodSync(open, 0o711); // PLAIN_USER has to get through
	const [home, plainHome] = [path.join(dir, "root"), path.join(dir, "plain")];
	for (const made of [home, plainHome]) fs.mkdirSync(made, { mode: 0o700 });
	fs.chownSync(plainHome, PLAIN_ID, PLAIN_ID);
	fs.mkdirSync("/run/sshd", { recursive: true }); // sshd wants it, and the package makes it only when its service starts
	for (const key of ["host", "user"]) makeKey(path.join(dir, key));
	fs.copyFileSync(path.join(dir, "user.pub"), path.join(dir, "authorized_keys"));
	const others = (file: string) =>
		fs
			.readFileSync(file, "utf8")
			.split("\n")
			.filter((line) => line !== "" && !line.startsWith("root:"));
	const users = [`root:*:0:0::${home}:${shell}`, `${PLAIN_USER}:*:${PLAIN_ID}:${PLAIN_ID}::${plainHome}:${shell}`];
	fs.mkdirSync(path.join(dir, "etc"));
	write("etc/passwd", [...users, ...others("/etc/passwd")]);
	write(
		"etc/shadow",
		["root", PLAIN_USER].map((name) => `${name}:*:19000:0:99999:7:::`),
	);

	const port = await freePort();
	write("sshd_config", [
		...config,
		...[`Port ${port}`, "ListenAddress 127.0.0.1", `HostKey ${dir}/host`, "PidFile none", `AuthorizedKeysFile ${dir}/authorized_keys`],
		...["PermitRootLogin prohibit-password", "PasswordAuthentication no", "KbdInteractiveAuthentication no", "UsePAM no", "StrictModes no"],
		...["MaxStartups 100:30:200", "Subsystem sftp internal-sftp", `SetEnv TEST_ROOT=${testRoot()}`], // so that what is left there is found: leaks.ts
	]);
	write("known_hosts", [`[127.0.0.1]:${port} ${fs.readFileSync(path.join(dir, "host.pub"), "utf8").trim()}`]);
	write("ssh_config", [
		...[`IdentityFile ${dir}/user`, "IdentitiesOnly yes", "IdentityAgent none", "GlobalKnownHostsFile none"],
		...[`UserKnownHostsFile ${dir}/known_hosts`, "StrictHostKeyChecking yes"],
	]);

	function write(name: string, lines: readonly string[]): void {
		fs.writeFileSync(path.join(dir, name), `${lines.join("\n")}\n`, { mode: name === "etc/shadow" ? 0o600 : 0o644 });
	}

	let listener: ChildProcess | undefined;
	const log = () => fs.readFileSync(path.join(dir, "log"), "utf8");
	const start = async () => {
		// All of /etc, not two files of it: a mount on a file goes when somebody replaces that file, as useradd does, in whatever namespace.
		const mounts = `mount -t overlay -o 'lowerdir=${dir}/etc:/etc' overlay /etc`;
		const out = fs.openSync(path.join(dir, "log"), "a");
		const child = spawn("unshare", ["--mount", "sh", "-c", `${mounts} && exec /usr/sbin/sshd -D -e -f '${dir}/sshd_config'`], {
			stdio: ["ignore", out, out],
			detached: true,
			...(lasting ? { env: { PATH: process.env.PATH } } : {}), // without TEST_ROOT: it is not something that a test has left behind
		});
		fs.closeSync(out);
		listener = child;
		let up = false;
		while (!up) {
			if (child.exitCode !== null || child.signalCode !== null) throw new Error(`sshd did not start: ${log()}`);
			up = await listens(port);
			if (!up) await new Promise((resolve) => setTimeout(resolve, 5));
		}
	};
	const stop = async () => {
		if (listener?.pid === undefined) return;
		const pids = sshdsOf(listener.pid);
		for (const { pid } of pids) kill(pid);
		listener = undefined;
		await until("sshd is gone", () => !pids.some(isAlive));
	};
	const end = async () => {
		await stop();
		fs.rmSync(dir, { recursive: true, force: true });
	};
	if (!lasting) atEnd(stop);
	await start();
	const options: SshOptions = { host: "127.0.0.1", port, user: "root", configFile: path.join(dir, "ssh_config") };
	return { port, dir, home, plainHome, options, log, stop, start, end };
}

export function makeKey(file: string, passphrase = ""): void {
	execFileSync("ssh-keygen", ["-q", "-t", "ed25519", "-N", passphrase, "-C", "test", "-f", file]);
}

/** The listener, and the processes of sshd below it; not what people run in their sessions. */
function sshdsOf(pid: number): Identity[] {
	const found = new Set([pid]);
	const { stats } = new ProcessSnapshot();
	for (let before = 0; before !== found.size; ) {
		before = found.size;
		for (const stat of stats.values()) if (stat.comm === "sshd" && found.has(stat.ppid)) found.add(stat.pid);
	}
	return [...found].flatMap((id) => readStat(id) ?? []);
}

function kill(pid: number): void {
	try {
		process.kill(pid, "SIGKILL");
	} catch {
		// gone with the one before it
	}
}

const listens = (port: number): Promise<boolean> =>
	new Promise((resolve) => {
		const socket = net.connect(port, "127.0.0.1");
		socket.once("connect", () => resolve(true));
		socket.once("error", () => resolve(false));
		socket.once("connect", () => socket.destroy());
	});
