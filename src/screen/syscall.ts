/** Reads the system call that a thread is blocked in from /proc/PID/task/TID/syscall, which needs the right to trace the thread. */
import type { Kernel } from "../base/index.js";

/** `watched`: the descriptors that it wants to read from; undefined if its memory is unreadable. `timed`: it wakes by itself within a second. */
export type Syscall =
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

export async function callOf(kernel: Kernel, pid: number, tid = pid): Promise<Syscall> {
	const [[text], arch] = await Promise.all([kernel.read([`/proc/${pid}/task/${tid}/syscall`]), kernel.arch()]);
	const table = TABLES[arch];
	if (text === undefined || table === undefined) return { kind: "unreadable" };
	const [number, ...rest] = text.trim().split(" "); // "running", or the number (-1: in no call) and the arguments
	if (!/^\d+$/.test(number ?? "")) return { kind: "other" };
	if (BigInt(rest[6] ?? 0) < 2n ** 32n) return { kind: "unreadable" }; // its stack is below 4 GiB: a 32-bit program, whose calls have other numbers
	const name = table[Number(number)];
	if (name === undefined) return { kind: "other" };
	const args = rest.slice(0, 6).map((word) => BigInt(word));
	const memory: Memory = (address, bytes) => readMemory(kernel, pid, address, bytes);
	const watch = async (watched: Promise<number[] | undefined>, ms: Promise<number> | number): Promise<Syscall> => {
		const [fds, timeout] = await Promise.all([watched, ms]);
		return { kind: "watch", name, watched: fds, timed: timeout >= 0 && timeout < 1_000 };
	};
	switch (name) {
		case "restart_syscall": // a call that continues after a signal; its arguments are no longer visible
			return { kind: "unreadable" };
		case "read":
		case "readv":
			return { kind: "read", name, fd: int(args[0]) };
		case "poll":
			return watch(polled(memory, args[0], int(args[1])), int(args[2]));
		case "ppoll":
			return watch(polled(memory, args[0], int(args[1])), time(memory, args[2], 1e6));
		case "select":
		case "pselect6":
			return watch(selected(memory, int(args[0]), args[1]), time(memory, args[4], name === "select" ? 1e3 : 1e6));
		case "epoll_wait":
		case "epoll_pwait":
			return watch(inEpoll(kernel, pid, int(args[0])), int(args[3]));
		case "epoll_pwait2":
			return watch(inEpoll(kernel, pid, int(args[0])), time(memory, args[3], 1e6));
	}
}

/** Reads bytes of a process's memory at an address. */
type Memory = (address: bigint | undefined, bytes: number) => Promise<Buffer | undefined>;

const int = (arg: bigint | undefined): number => Number(BigInt.asIntN(32, arg ?? 0n));

/** Reads a struct timeval or timespec, two 64-bit numbers. Returns milliseconds; -1 for none, 0 if it is unreadable. */
async function time(memory: Memory, address: bigint | undefined, perMs: number): Promise<number> {
	if (address === 0n) return -1;
	const bytes = await memory(address, 16);
	return bytes ? Number(bytes.readBigInt64LE(0)) * 1_000 + Number(bytes.readBigInt64LE(8)) / perMs : 0;
}

/** Reads an array of struct pollfd { int fd; short events; short revents }. */
async function polled(memory: Memory, address: bigint | undefined, count: number): Promise<number[] | undefined> {
	const bytes = await memory(address, count * 8);
	if (!bytes) return undefined;
	const fds: number[] = [];
	for (let at = 0; at < bytes.length; at += 8) if (bytes.readInt16LE(at + 4) & POLL_IN) fds.push(bytes.readInt32LE(at));
	return fds;
}

/** Reads an fd_set: one bit per descriptor. */
async function selected(memory: Memory, count: number, address: bigint | undefined): Promise<number[] | undefined> {
	if (address === 0n) return [];
	const bytes = await memory(address, Math.ceil(count / 8));
	if (!bytes) return undefined;
	const fds: number[] = [];
	for (let fd = 0; fd < count; fd++) if ((bytes[fd >> 3] as number) & (1 << (fd & 7))) fds.push(fd);
	return fds;
}

/** Returns the descriptors that an epoll watches, as the kernel lists them: `tfd: 17 events: 19 …`. */
async function inEpoll(kernel: Kernel, pid: number, epoll: number): Promise<number[] | undefined> {
	const [text] = await kernel.read([`/proc/${pid}/fdinfo/${epoll}`]);
	if (text === undefined) return undefined;
	const fds: number[] = [];
	for (const [, fd, events] of text.matchAll(/^tfd:\s*(\d+)\s+events:\s*([0-9a-f]+)/gm))
		if (Number.parseInt(events as string, 16) & POLL_IN) fds.push(Number(fd));
	return fds;
}

async function readMemory(kernel: Kernel, pid: number, address: bigint | undefined, bytes: number): Promise<Buffer | undefined> {
	if (address === undefined || bytes < 0 || bytes > MOST_FDS * 8) return undefined;
	return (await kernel.memory([{ pid, address, bytes }]))[0];
}
