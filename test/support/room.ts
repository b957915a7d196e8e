/**
 * Where a machine of a double really runs: namespaces of its own (pid, mount, ipc, uts, net), its files an overlay in memory over a directory.
 * Its first process waits for the end of its stdin, so nothing is left when the test program is killed. Needs root.
 */
import { type ChildProcessWithoutNullStreams, spawn, spawnSync } from "node:child_process";
import fs from "node:fs";
import path from "node:path";
import { readProc, readStat } from "../../src/base/proc.js";
import { testRoot, until } from "./home.js";
import { makeRootfs } from "./images.js";

/** Why there can be none here; undefined when there can. */
export const noRoom: string | undefined =
	process.getuid?.() !== 0
		? "rooms of a double can only be made by root"
		: !fs.existsSync("/bin/busybox")
			? "busybox is not installed (package busybox-static)"
			: spawnSync("unshare", ["--mount", "--pid", "--fork", "true"]).status !== 0
				? "namespaces cannot be made"
				: undefined;

const HOLD = `
set -e
mount -t tmpfs -o mode=755 tmpfs /mnt; cd /mnt; mkdir up work root
mount -t overlay -o "lowerdir=$1,upperdir=up,workdir=work" overlay root
cd root; mkdir -p proc dev tmp root .old; mount -t proc proc proc; mount --rbind /dev dev
for dir in $2; do mkdir -p ".$dir"; mount --bind "$dir" ".$dir"; done
pivot_root . .old; umount -l /.old; cd /; ip link set lo up 2>/dev/null || busybox ip link set lo up
mkdir -m 1777 -p /var/lib/holdfast
echo ready; exec cat >/dev/null`;

export interface Room {
	/** Its first process, as this machine numbers it. */
	readonly pid: number;
	readonly over: Promise<void>;
	exec(argv: readonly string[], options?: { env?: Readonly<Record<string, string>>; cwd?: string }): ChildProcessWithoutNullStreams;
	/** Stops all that is in it, or lets it go on. */
	signal(name: "SIGSTOP" | "SIGCONT"): void;
	stop(): void;
}

/** `shown`: directories that are in it at the same path. */
export async function makeRoom(rootfs: string, shown: readonly string[] = []): Promise<Room> {
	const flags = ["--fork", "--pid", "--mount", "--ipc", "--uts", "--net", "--kill-child", "--propagation", "private"];
	const holder = spawn("unshare", [...flags, "sh", "-c", HOLD, "hold", rootfs, shown.join(" ")], {
		stdio: ["pipe", "pipe", "pipe"],
		env: { PATH: process.env.PATH, TEST_ROOT: testRoot() },
	});
	let said = "";
	holder.stderr.on("data", (bytes: Buffer) => {
		said += bytes;
	});
	holder.stdin.on("error", () => {});
	const over = new Promise<void>((resolve) => holder.once("exit", () => resolve()));
	await Promise.race([
		new Promise<void>((resolve) => holder.stdout.once("data", () => resolve())),
		over.then(() => Promise.reject(new Error(`a room could not be made: ${said.trim()}`))),
	]);
	const pid = Number(readProc(`/proc/${holder.pid}/task/${holder.pid}/children`)?.trim());
	const mine = () => fs.readdirSync("/proc").filter((name) => /^\d+$/.test(name) && namespaceOf(name) === namespaceOf(String(pid)));
	return {
		pid,
		over,
		exec: (argv, { env = {}, cwd = "/root" } = {}) => {
			const words = [
				"-t",
				String(pid),
				"-a",
				"-r",
				`--wd=/proc/${pid}/root${cwd}`,
				"--",
				"env",
				"-i",
				...Object.entries(env).map(([name, value]) => `${name}=${value}`),
				...argv,
			];
			const child = spawn("nsenter", words, { stdio: "pipe", env: { PATH: process.env.PATH, TEST_ROOT: testRoot() } });
			for (const end of [child.stdin, child.stdout, child.stderr]) end.on("error", () => {});
			return child;
		},
		signal: (name) => {
			// nsenter stops itself with what it has started, and has to be woken too.
			const doors = name === "SIGCONT" ? fs.readdirSync("/proc").filter((one) => readProc(`/proc/${one}/cmdline`)?.startsWith(`nsenter\0-t\0${pid}\0`)) : [];
			for (const one of [...mine(), ...doors]) if (readStat(Number(one))) spawnSync("kill", [`-${name.slice(3)}`, one]);
		},
		stop: () => {
			holder.kill("SIGKILL");
		},
	};
}

function namespaceOf(pid: string): string | undefined {
	try {
		return fs.readlinkSync(`/proc/${pid}/ns/pid`);
	} catch {
		return undefined;
	}
}

/** The files of the images of doubles: made once for the run, and removed with it. */
export async function rootfsOf(what: "full" | "busybox"): Promise<string> {
	const dir = path.join(path.dirname(testRoot()), `rootfs-${what}`);
	const ready = `${dir}.ready`;
	try {
		fs.mkdirSync(dir);
	} catch {
		await until("another worker has made the files", () => fs.existsSync(ready));
		return dir;
	}
	makeRootfs(dir, what);
	fs.writeFileSync(ready, "");
	return dir;
}
