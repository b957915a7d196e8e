/**
 * A program that restarts a server when its files change (nodemon and others) has an event loop that also reads the terminal, for a word such as `rs`.
 * It does not wait for input: its children decide.
 */
import type { Kernel, Stat } from "../base/index.js";
import type { Blocked } from "./blocked.js";

/** `serving`: a process in the foreground accepts connections. `working`: the program has started one that does not, or not yet. */
export type Beside = "serving" | "working" | "none";

export async function besideOf(kernel: Kernel, who: Stat, blocked: Blocked, members: readonly Stat[]): Promise<Beside> {
	if (blocked.kind !== "watching" || !blocked.how.startsWith("epoll") || !members.some(({ ppid }) => ppid === who.pid)) return "none";
	const others = members.filter(({ pid }) => pid !== who.pid).map(({ pid }) => pid);
	return (await anyListens(kernel, others)) ? "serving" : "working";
}

async function anyListens(kernel: Kernel, pids: readonly number[]): Promise<boolean> {
	const names = await kernel.names(pids.map((pid) => `/proc/${pid}/fd`));
	const links = await kernel.links(pids.flatMap((pid, at) => (names[at] ?? []).map((fd) => `/proc/${pid}/fd/${fd}`)));
	const sockets = new Set(links.map((link) => /^socket:\[(\d+)\]$/.exec(link ?? "")?.[1]));
	const tables = await kernel.read([`/proc/${pids[0]}/net/tcp`, `/proc/${pids[0]}/net/tcp6`]);
	return tables.some((table) => table?.split("\n").some((row) => isListening(row.trim().split(/\s+/), sockets)));
}

/** Checks a row of /proc/net/tcp: number, local and remote address, state (0A: listening), …, and as the tenth field the socket. */
const isListening = (row: readonly string[], sockets: ReadonlySet<string | undefined>): boolean =>
	row[3] === "0A" && row[9] !== undefined && sockets.has(row[9]);
