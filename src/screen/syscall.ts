/** What a thread is blocked in, from /proc/PID/task/TID/syscall, which only those may read who may trace it. */
import fs from "node:fs";
import { readProc } from "../base/proc.js";

/** `watched`: the descriptors it wants to read from, undefined where its memory cannot be read. `timed`: it looks up by itself within a second. */
export type Call =
	| { readonly kind: "read"; readonly name: string; readonly fd: number }
	| { readonly kind: "watch"; readonly name: string; readonly watched: readonly number[] | undefined; readonly timed: boolean }
	| { readonly kind: "other" }
	| { readonly kind: "unreadable" };

type Name = "read" | "readv" | "poll" | "ppoll" | "select" | "pselect6" | "epoll_wait" | "epoll_pwait" | "epoll_pwait2" | "restart_syscall";

const X64: Readonly<Record<number, Name>> = {
	...{ 0: "read", 19: "readv", 7: "poll", 271: "ppoll", 23: "select", 270: "pselect6" },
	...{ 232: "epoll_wait", 281: "epoll_pwait", 441: "epoll_pwait2", 219: "restart_syscall" },
};
const GENERIC: Readonly<Record<number, Name>> = {
	...{ 63: "read", 65: "readv", 73: "ppoll", 72: "pselect6", 22: "epoll_pwait", 441: "epoll_pwait2", 128: "restart_syscall" },
};
const TABLES: Partial<Record<string, Readonly<Record<number, Name>>>> = { x64: X64, arm64: GENERIC, riscv64: GENERIC, loong64: GENERIC };

const POLL_IN = 0x1 | 0x40; // POLLIN, POLLRDNORM
const MOST_FDS = 65_536;

export function callOf(pid: number, tid = pid): Call {
	const text = readProc(`/proc/${pid}/task/${tid}/syscall`);
	const table = TABLES[process.arch];
	if (text === undefined || table === undefined) return { kind: "unreadable" };
	const [number, ...rest] = text.trim().split(" "); // "running", or the number (-1: in no call) and the arguments
	const name = /^\d+$/.test(number ?? "") ? table[Number(number)] : undefined;
	if (name === undefined) return { kind: "other" };
	const args = rest.slice(0, 6).map((word) => BigInt(word));
	switch (name) {
		case "restart_syscall": // a call that a signal interrupted and that goes on; its arguments are no longer to be seen
			return { kind: "unreadable" };
		case "read":
		case "readv":
			return { kind: "read", name, fd: int(args[0]) };
		case "poll":
			return { kind: "watch", name, watched: polled(pid, args[0], int(args[1])), timed: isSoon(int(args[2])) };
		case "ppoll":
			return { kind: "watch", name, watched: polled(pid, args[0], int(args[1])), timed: isSoon(time(pid, args[2], 1e6)) };
		case "select":
		case "pselect6":
			return { kind: "watch", name, watched: selected(pid, int(args[0]), args[1]), timed: isSoon(time(pid, args[4], name === "select" ? 1e3 : 1e6)) };
		case "epoll_wait":
		case "epoll_pwait":
			return { kind: "watch", name, watched: inEpoll(pid, int(args[0])), timed: isSoon(int(args[3])) };
		case "epoll_pwait2":
			return { kind: "watch", name, watched: inEpoll(pid, int(args[0])), timed: isSoon(time(pid, args[3], 1e6)) };
	}
}

const int = (arg: bigint | undefined): number => Number(BigInt.asIntN(32, arg ?? 0n));

const isSoon = (ms: number): boolean => ms >= 0 && ms < 1_000;

/** A struct timeval or timespec, two 64-bit numbers, in milliseconds; -1 for none, 0 for one that cannot be read. */
function time(pid: number, address: bigint | undefined, perMs: number): number {
	if (address === 0n) return -1;
	const memory = readMemory(pid, address, 16);
	return memory ? Number(memory.readBigInt64LE(0)) * 1_000 + Number(memory.readBigInt64LE(8)) / perMs : 0;
}

/** An array of struct pollfd { int fd; short events; short revents }. */
function polled(pid: number, address: bigint | undefined, count: number): number[] | undefined {
	const memory = readMemory(pid, address, count * 8);
	if (!memory) return undefined;
	const fds: number[] = [];
	for (let at = 0; at < memory.length; at += 8) if (memory.readInt16LE(at + 4) & POLL_IN) fds.push(memory.readInt32LE(at));
	return fds;
}

/** An fd_set: one bit a descriptor. */
function selected(pid: number, count: number, address: bigint | undefined): number[] | undefined {
	if (address === 0n) return [];
	const memory = readMemory(pid, address, Math.ceil(count / 8));
	if (!memory) return undefined;
	const fds: number[] = [];
	for (let fd = 0; fd < count; fd++) if ((memory[fd >> 3] as number) & (1 << (fd & 7))) fds.push(fd);
	return fds;
}

/** The kernel lists what an epoll watches: `tfd: 17 events: 19 …`. */
function inEpoll(pid: number, epoll: number): number[] | undefined {
	const text = readProc(`/proc/${pid}/fdinfo/${epoll}`);
	if (text === undefined) return undefined;
	const fds: number[] = [];
	for (const [, fd, events] of text.matchAll(/^tfd:\s*(\d+)\s+events:\s*([0-9a-f]+)/gm))
		if (Number.parseInt(events as string, 16) & POLL_IN) fds.push(Number(fd));
	return fds;
}

function readMemory(pid: number, address: bigint | undefined, bytes: number): Buffer | undefined {
	if (address === undefined || bytes < 0 || bytes > MOST_FDS * 8) return undefined;
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
