/** The kernel of this machine: /proc, read directly. Each call does all its work at once, before it returns its promise. */
import { spawn } from "node:child_process";
import fs from "node:fs";
import os from "node:os";
import { errno } from "./errors.js";
import { type Delivery, type Inode, isLiving, isThere, type Kernel, keptIn, markerIn, namesKeeper, type Piece, type Sent, type Table } from "./kernel.js";
import { linkOf, parseStat, readProc, readStat, type Stat } from "./proc.js";

const PATH = "/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin";

export const localKernel: Kernel = {
	arch: async () => process.arch,
	read: async (paths) => paths.map(readProc),
	links: async (paths) => paths.map(linkOf),
	inodes: async (paths) => paths.map(inodeOf),
	names: async (directories) => directories.map(namesOf),
	memory: async (pieces) => pieces.map(memoryOf),
	terminal: sttyOf,
	family: async (pid, most) => family(pid, most),
	processes: async () => localTable(),
	signal: async (sent) => sent.map(deliver),
};

const PASSES = 4;

export function localTable(): Table {
	const stats = readStats();
	let own: string | undefined;
	return {
		stats,
		self: process.pid,
		statOf: readStat,
		ticksAt: (time) => Math.floor((time - (Date.now() - os.uptime() * 1000)) / 10),
		markerOf: (pid) => markerIn(readProc(`/proc/${pid}/environ`) ?? ""),
		standardOf: (pid) => [0, 1, 2].map((fd) => linkOf(`/proc/${pid}/fd/${fd}`)).filter((link) => link !== undefined),
		isKeeper(pid) {
			const dir = keptIn((readProc(`/proc/${pid}/cmdline`) ?? "").split("\0"));
			const stat = stats.get(pid);
			return dir !== undefined && stat !== undefined && namesKeeper(readProc(`${dir}/meta`) ?? "", stat);
		},
		namespaceOf(pid) {
			own ??= linkOf("/proc/self/ns/uts");
			const namespace = linkOf(`/proc/${pid}/ns/uts`);
			return namespace === own ? null : namespace && `${namespace} ${linkOf(`/proc/${pid}/ns/pid`)}`;
		},
	};
}

/** Goes over the names again for what was forked meanwhile: a look at a thousand processes takes long enough to miss one that forks and exits all the time. */
function readStats(): Map<number, Stat> {
	const stats = new Map<number, Stat>();
	const seen = new Set<string>();
	for (let pass = 0; pass < PASSES; pass++) {
		const fresh = fs.readdirSync("/proc").filter((name) => name >= "0" && name <= "9z" && !seen.has(name));
		if (fresh.length === 0) break;
		for (const name of fresh) {
			seen.add(name);
			const text = readProc(`/proc/${name}/stat`);
			const stat = text === undefined ? undefined : parseStat(text);
			if (stat && isLiving(stat)) stats.set(stat.pid, stat);
		}
	}
	return stats;
}

function inodeOf(path: string): Inode | undefined {
	try {
		return fs.statSync(path);
	} catch {
		return undefined; // being refused is an answer like "not there": other people's processes are none of our business
	}
}

function namesOf(directory: string): string[] {
	try {
		return fs.readdirSync(directory);
	} catch {
		return []; // as above
	}
}

function memoryOf({ pid, address, bytes }: Piece): Buffer | undefined {
	try {
		const fd = fs.openSync(`/proc/${pid}/mem`, "r");
		try {
			const buffer = Buffer.alloc(bytes);
			return fs.readSync(fd, buffer, 0, bytes, address) === bytes ? buffer : undefined;
		} finally {
			fs.closeSync(fd);
		}
	} catch {
		return undefined; // gone, or not allowed: the caller has less to go by
	}
}

/** A walk down finds them in a few reads however many processes the machine has. */
function family(pid: number, most = Number.POSITIVE_INFINITY): Stat[] {
	const found: Stat[] = [];
	const queue = [pid];
	for (let next = queue.shift(); next !== undefined && found.length < most; next = queue.shift()) {
		const stat = readStat(next);
		if (!stat) continue;
		found.push(stat);
		// A child belongs to the thread that made it; Go makes them in any.
		for (const tid of namesOf(`/proc/${next}/task`)) queue.push(...numbers(readProc(`/proc/${next}/task/${tid}/children`)));
	}
	return found;
}

const numbers = (text: string | undefined): number[] => (text ? text.trim().split(" ").filter(Boolean).map(Number) : []);

function deliver({ pid, signal, of }: Sent): Delivery {
	if (of && !isThere(readStat(of.pid), of)) return "gone";
	try {
		process.kill(pid, signal);
		return "sent";
	} catch (error) {
		return errno(error) === "ESRCH" ? "gone" : "refused";
	}
}

/**
 * No file says what modes a terminal is in and Node cannot ask, so stty(1) does, which takes a few milliseconds. We open
 * the terminal for it, with O_NOCTTY: a daemon without a terminal must not get this one.
 */
async function sttyOf(path: string): Promise<string> {
	let fd: number;
	try {
		fd = fs.openSync(path, fs.constants.O_RDONLY | fs.constants.O_NOCTTY | fs.constants.O_NONBLOCK);
	} catch {
		return ""; // hung up meanwhile, or not ours to open
	}
	try {
		return await stty(fd);
	} finally {
		fs.closeSync(fd);
	}
}

/** Returns what stty says of the terminal on its stdin; empty if there is no stty or it fails. */
function stty(fd: number): Promise<string> {
	return new Promise((resolve) => {
		const child = spawn("stty", ["-a"], { stdio: [fd, "pipe", "ignore"], env: { PATH, LC_ALL: "C" }, timeout: 5_000 });
		let text = "";
		child.stdout?.setEncoding("utf8").on("data", (piece: string) => {
			text += piece;
		});
		child.on("error", () => resolve(""));
		child.on("close", () => resolve(text));
	});
}
