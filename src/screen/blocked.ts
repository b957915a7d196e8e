/** Determines whether one process is blocked until its terminal gets input, as exactly as the kernel shows. */
import { type Kernel, parseStat, type Stat } from "../base/index.js";
import { callOf, type Syscall } from "./syscall.js";
import { anyIsTty, type Tty } from "./tty.js";

/**
 * - `reading`: in a read of the terminal.
 * - `watching`: in a select, poll or epoll that includes the terminal. `sure`: seen, not guessed.
 * - `hidden`: asleep, and the kernel does not say in which call.
 * - `busy`: anything else; it would not take input now.
 */
export type Blocked =
	| { readonly kind: "reading"; readonly how: string; readonly tid: number }
	| {
			readonly kind: "watching";
			readonly how: string;
			readonly tid: number;
			readonly sure: boolean;
			readonly timed: boolean;
			/** The process also watches sockets, as servers do. */
			readonly sockets: boolean;
	  }
	| { readonly kind: "hidden"; readonly how: string }
	| { readonly kind: "busy" };

const BUSY: Blocked = { kind: "busy" };
// Names of kernel functions, from several kernel versions. wait_woken is the terminal's read, and that of a TCP socket.
const READS = /^(wait_woken|n_tty_read|tty_read)$/;
const WATCHES = /^(poll_schedule_timeout|do_select|do_poll|do_sys_poll|ep_poll|do_epoll_wait)/;

export async function blockedIn(kernel: Kernel, stat: Stat, tty: Tty): Promise<Blocked> {
	if (stat.state !== "S") return BUSY;
	const thread = (tid: number): Thread => ({ kernel, tty, pid: stat.pid, tid });
	const own = await judge(thread(stat.pid));
	if (own.kind !== "busy") return own;
	// Go and Java read in any thread, while the first one sleeps. If one thread is at work, the process does not wait.
	const [names = []] = await kernel.names([`/proc/${stat.pid}/task`]);
	const tids = names.map(Number).filter((tid) => tid !== stat.pid);
	if (tids.length === 0) return BUSY;
	const stats = await kernel.read(tids.map((tid) => `/proc/${stat.pid}/task/${tid}/stat`));
	if (!stats.every((text) => parseStat(text ?? "")?.state === "S")) return BUSY;
	const found = await Promise.all(tids.map((tid) => judge(thread(tid))));
	return found.find((one) => one.kind === "reading" || (one.kind === "watching" && one.sure)) ?? BUSY;
}

/** A thread of a process that has a terminal. */
interface Thread {
	readonly kernel: Kernel;
	readonly tty: Tty;
	readonly pid: number;
	readonly tid: number;
}

async function judge(thread: Thread): Promise<Blocked> {
	const { kernel, tty, pid, tid } = thread;
	const call = await callOf(kernel, pid, tid);
	switch (call.kind) {
		case "other":
			return BUSY;
		case "read":
			return (await anyIsTty(kernel, pid, [call.fd], tty)) ? { kind: "reading", how: call.name, tid } : BUSY;
		case "watch":
			return watching(thread, call);
		case "unreadable":
			return byWchan(thread);
	}
}

async function watching(thread: Thread, call: Extract<Syscall, { kind: "watch" }>): Promise<Blocked> {
	const { kernel, tty, pid, tid } = thread;
	const { watched, name: how, timed } = call;
	const base = { kind: "watching" as const, how, tid, timed };
	if (!watched) return (await holds(thread)).terminal ? { ...base, sure: false, sockets: false } : BUSY;
	const [terminal, sockets] = await Promise.all([anyIsTty(kernel, pid, watched, tty), anyIsSocket(kernel, pid, watched)]);
	return terminal ? { ...base, sure: true, sockets } : BUSY;
}

/** Guesses from the name of the kernel function, which may be readable where tracing is forbidden (Yama, a container). */
async function byWchan(thread: Thread): Promise<Blocked> {
	const { kernel, pid, tid } = thread;
	const wchan = (await kernel.read([`/proc/${pid}/task/${tid}/wchan`]))[0]?.trim();
	if (!wchan || wchan === "0") return { kind: "hidden", how: "asleep, and the kernel does not say in what" };
	const how = `the kernel function ${wchan}`;
	const { terminal, sockets } = READS.test(wchan) || WATCHES.test(wchan) ? await holds(thread) : { terminal: false, sockets: false };
	if (!terminal) return BUSY;
	if (WATCHES.test(wchan)) return { kind: "watching", how, tid, sure: false, timed: false, sockets };
	return sockets ? { kind: "hidden", how: `asleep in ${how}, of its terminal or of a socket` } : { kind: "reading", how, tid };
}

async function holds({ kernel, tty, pid }: Thread): Promise<{ terminal: boolean; sockets: boolean }> {
	const [fds = []] = await kernel.names([`/proc/${pid}/fd`]);
	const [terminal, sockets] = await Promise.all([anyIsTty(kernel, pid, fds, tty), anyIsSocket(kernel, pid, fds)]);
	return { terminal, sockets };
}

/**
 * Returns true for sockets that others can connect to or have connected to. An unnamed Unix socket is one end of a socketpair, with which an event
 * loop wakes itself (asyncio), or belongs to a client.
 */
async function anyIsSocket(kernel: Kernel, pid: number, fds: readonly (number | string)[]): Promise<boolean> {
	const links = await kernel.links(fds.map((fd) => `/proc/${pid}/fd/${fd}`));
	const sockets = links.flatMap((link) => /^socket:\[(\d+)\]$/.exec(link ?? "")?.[1] ?? []);
	if (sockets.length === 0) return false;
	const [table = ""] = await kernel.read([`/proc/${pid}/net/unix`]);
	const unnamed = new Set(table.split("\n").flatMap((row) => /^\S+: (?:\S+\s+){5}(\d+)\s*$/.exec(row)?.[1] ?? []));
	return sockets.some((socket) => !unnamed.has(socket));
}
