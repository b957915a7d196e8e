/** Is this one process blocked until somebody types at its terminal? As exact as the kernel lets us see. */
import { linkOf, parseStat, readProc, type Stat } from "../base/proc.js";
import { entries } from "./procfs.js";
import { type Call, callOf } from "./syscall.js";
import { isTty, type Tty } from "./tty.js";

/**
 * - `reading`: in a read of the terminal.
 * - `watching`: in a select, poll or epoll with the terminal among what it watches. `sure` when that was seen, not guessed.
 * - `hidden`: asleep, and the kernel does not say what in.
 * - `busy`: anything else; nothing typed would be taken now.
 */
export type Blocked =
	| { readonly kind: "reading"; readonly how: string; readonly tid: number }
	| {
			readonly kind: "watching";
			readonly how: string;
			readonly tid: number;
			readonly sure: boolean;
			readonly timed: boolean;
			/** It watches sockets too, as servers do. */
			readonly sockets: boolean;
	  }
	| { readonly kind: "hidden"; readonly how: string }
	| { readonly kind: "busy" };

const BUSY: Blocked = { kind: "busy" };
// Names of kernel functions, from several kernel versions. wait_woken is the terminal's read, and that of a TCP socket.
const READS = /^(wait_woken|n_tty_read|tty_read)$/;
const WATCHES = /^(poll_schedule_timeout|do_select|do_poll|do_sys_poll|ep_poll|do_epoll_wait)/;

export function blockedIn(stat: Stat, tty: Tty): Blocked {
	if (stat.state !== "S") return BUSY;
	const own = judge(stat.pid, stat.pid, tty);
	if (own.kind !== "busy") return own;
	// Go and Java read in whatever thread they like, while the first one sleeps. With one of them at work nothing is waited for.
	const tids = otherThreads(stat.pid);
	if (!tids.every((tid) => stateOf(stat.pid, tid) === "S")) return BUSY;
	for (const tid of tids) {
		const found = judge(stat.pid, tid, tty);
		if (found.kind === "reading" || (found.kind === "watching" && found.sure)) return found;
	}
	return BUSY;
}

function judge(pid: number, tid: number, tty: Tty): Blocked {
	const call = callOf(pid, tid);
	switch (call.kind) {
		case "other":
			return BUSY;
		case "read":
			return isTty(pid, call.fd, tty) ? { kind: "reading", how: call.name, tid } : BUSY;
		case "watch":
			return watching(pid, tid, tty, call);
		case "unreadable":
			return byWchan(pid, tid, tty);
	}
}

function watching(pid: number, tid: number, tty: Tty, call: Extract<Call, { kind: "watch" }>): Blocked {
	const { watched, name: how, timed } = call;
	const base = { kind: "watching" as const, how, tid, timed };
	if (!watched) return holds(pid, tty).terminal ? { ...base, sure: false, sockets: false } : BUSY;
	if (!watched.some((fd) => isTty(pid, fd, tty))) return BUSY;
	return { ...base, sure: true, sockets: watched.some((fd) => isSocket(pid, fd)) };
}

/** Tracing may be forbidden (Yama, a container) where the name of the kernel function may still be read. */
function byWchan(pid: number, tid: number, tty: Tty): Blocked {
	const wchan = readProc(`/proc/${pid}/task/${tid}/wchan`)?.trim();
	if (!wchan || wchan === "0") return { kind: "hidden", how: "asleep, and the kernel does not say in what" };
	const how = `the kernel function ${wchan}`;
	const { terminal, sockets } = READS.test(wchan) || WATCHES.test(wchan) ? holds(pid, tty) : { terminal: false, sockets: false };
	if (!terminal) return BUSY;
	if (WATCHES.test(wchan)) return { kind: "watching", how, tid, sure: false, timed: false, sockets };
	return sockets ? { kind: "hidden", how: `asleep in ${how}, of its terminal or of a socket` } : { kind: "reading", how, tid };
}

function holds(pid: number, tty: Tty): { terminal: boolean; sockets: boolean } {
	let terminal = false;
	let sockets = false;
	for (const name of entries(`/proc/${pid}/fd`)) {
		terminal ||= isTty(pid, Number(name), tty);
		sockets ||= isSocket(pid, Number(name));
	}
	return { terminal, sockets };
}

const isSocket = (pid: number, fd: number): boolean => linkOf(`/proc/${pid}/fd/${fd}`)?.startsWith("socket:") ?? false;

const otherThreads = (pid: number): number[] =>
	entries(`/proc/${pid}/task`)
		.map(Number)
		.filter((tid) => tid !== pid);

const stateOf = (pid: number, tid: number): string | undefined => parseStat(readProc(`/proc/${pid}/task/${tid}/stat`) ?? "")?.state;
