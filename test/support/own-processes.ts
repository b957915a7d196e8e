/** Finds the processes of a run's directory, among all of a machine, at the cost of those that are new since the last look. */
import fs from "node:fs";
import path from "node:path";
import { type Identity, parseStat, readProc } from "../../src/base/proc.js";

export interface Found extends Identity {
	readonly id: string;
	readonly argv: string;
}

const SETTLED_TICKS = 500; // five seconds: by then what was forked has called exec
const PID_MAX = Number(readProc("/proc/sys/kernel/pid_max"));

/** Processes of others that stay what they are. A number is looked at again once the kernel may have given it to another process. */
const strangers = new Set<string>();
let given = { pid: 0, forks: 0 };

/** Processes that have this directory in their arguments or environment. */
export function processesOf(root: string): Found[] {
	forgetReused();
	const found: Found[] = [];
	const there = new Set(fs.readdirSync("/proc").filter((name) => name >= "0" && name <= "9z"));
	for (const pid of strangers) if (!there.has(pid)) strangers.delete(pid);
	const now = Number((readProc("/proc/uptime") ?? "").split(" ")[0]) * 100;
	for (const pid of there) {
		if (strangers.has(pid) || pid === String(process.pid) || pid === String(process.ppid)) continue;
		const argv = readProc(`/proc/${pid}/cmdline`) ?? "";
		const environ = readProc(`/proc/${pid}/environ`) ?? "";
		const isOurs = argv.includes(`${root}/`) || environ.includes(`TEST_ROOT=${root}`);
		if (!isOurs && isOfAnotherWorker(environ, root)) {
			strangers.add(pid);
			continue;
		}
		const stat = parseStat(readProc(`/proc/${pid}/stat`) ?? "");
		if (!stat) continue;
		const { start, state } = stat;
		if (!isOurs && now - Number(start) > SETTLED_TICKS) strangers.add(pid);
		if (isOurs && state !== "Z" && state !== "X") found.push({ id: `${pid} ${start}`, pid: stat.pid, start, argv: argv.replaceAll("\0", " ").slice(0, 200) });
	}
	return found;
}

/** Numbers are given in a circle: since the last look those between the last one then and the last one now. */
function forgetReused(): void {
	const pid = Number((readProc("/proc/loadavg") ?? "").split(" ")[4]);
	const forks = Number(/^processes (\d+)/m.exec(readProc("/proc/stat") ?? "")?.[1]);
	const inOneTurn = pid >= given.pid && forks - given.forks < PID_MAX / 4; // threads have numbers, too, and count as forks
	if (!inOneTurn) strangers.clear();
	else for (const known of strangers) if (Number(known) > given.pid && Number(known) <= pid) strangers.delete(known);
	given = { pid, forks };
}

/** Every worker marks what it starts; what has the mark of another one will not become ours. */
function isOfAnotherWorker(environ: string, root: string): boolean {
	const at = environ.indexOf(`TEST_ROOT=${path.dirname(root)}/worker-`);
	return at >= 0 && !environ.startsWith(`TEST_ROOT=${root}`, at);
}

let throughDaemon = false;
/** To be called where an engine that another worker may have started runs processes for a test: this process starts none for that. */
export const startsThroughDaemon = (): void => {
	throughDaemon = true;
};

/**
 * Tells whether this process has started another one: while the answer stays the same, it has not. Undefined when it has a child now, or when
 * others start processes for it. The kernel counts the page faults of every child that has ended, and none runs without any.
 */
export function startedSoFar(): string | undefined {
	if (throughDaemon || fs.readdirSync("/proc/self/task").some((thread) => readProc(`/proc/self/task/${thread}/children`))) return undefined;
	const stat = readProc("/proc/self/stat") ?? "";
	return stat.slice(stat.lastIndexOf(")") + 2).split(" ")[8];
}
