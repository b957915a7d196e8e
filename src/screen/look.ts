/** Checks, by what the kernel shows now, whether a process with a terminal waits for input. */
import { HoldfastError, isThere, type Kernel, parseStat, type Stat } from "../base/index.js";
import { readParts } from "../keeper/index.js";
import type { Process } from "../process/index.js";
import { type Blocked, blockedIn } from "./blocked.js";
import { foregroundOf, innerOf } from "./foreground.js";
import { besideOf } from "./servers.js";
import { stoppedBelow } from "./stopped.js";
import { modesOf, type Tty, type TtyModes, ttyOf } from "./tty.js";
import { decide, isRelay, type WaitVerdict } from "./verdict.js";

export interface Look {
	readonly verdict: WaitVerdict;
	/** The process found, and how often it had slept until then: the same mark twice means that nothing reached it in between. */
	readonly mark: string;
}

const NOTHING: Look = { verdict: { kind: "no" }, mark: "" };
const DEPTH = 4; // terminals inside terminals

/** Checks once. `reuse`: for periodic checks that do not follow input; see `knownModes`. */
export async function look(process: Process, { reuse = false }: { reuse?: boolean } = {}): Promise<Look> {
	if (!process.spec.terminal)
		throw new HoldfastError("NO_TERMINAL", `${process.id} has no terminal, so it cannot be seen whether it waits for input; start it with one`);
	const status = process.status();
	if (status.status === "elsewhere")
		throw new HoldfastError("NOT_HERE", `${process.id} runs on another host (${status.host}) or in another container; look there`);
	if (status.status !== "running") return NOTHING;
	const { kernel } = process;
	const { terminal, command, child: relay, collector } = readParts(process.dir);
	const pids = [command, terminal, relay].map((part) => part?.pid ?? 0);
	const [stats, copiers] = await Promise.all([statsOf(kernel, pids), collector ? copiersOf(kernel, collector.pid) : []]);
	const inside = [command, terminal].find((part, at) => part && isThere(stats[at], part));
	if (!inside || isBusy(stats[2])) return NOTHING;
	const seen = await lookAt(kernel, inside.pid, { holder: terminal?.pid, depth: DEPTH, reuse: reuse ? process.dir : undefined });
	if (seen.verdict.kind === "no") return seen;
	// Checked afterwards, in the order of the output's path: output printed before the wait has woken the next copier.
	return (await statsOf(kernel, [...(relay ? [relay.pid] : []), ...copiers])).some(isBusy) ? NOTHING : seen;
}

/** Returns the children of the collector, which run dd, and their children, the dds. */
async function copiersOf(kernel: Kernel, collector: number): Promise<number[]> {
	const runners = await childrenOf(kernel, [collector]);
	return [...runners, ...(await childrenOf(kernel, runners))];
}

const childrenOf = async (kernel: Kernel, pids: readonly number[]): Promise<number[]> =>
	(await kernel.read(pids.map((pid) => `/proc/${pid}/task/${pid}/children`))).flatMap((text) => (text ?? "").split(" ").filter(Boolean).map(Number));

const statsOf = async (kernel: Kernel, pids: readonly number[]): Promise<(Stat | undefined)[]> =>
	(await kernel.read(pids.map((pid) => `/proc/${pid}/stat`))).map((text) => parseStat(text ?? ""));

/**
 * Returns true for a process at work. While the relay or dd is at work, keys or output are in transit: the program has not reacted to those keys yet,
 * and that output is not visible yet.
 */
const isBusy = (stat: Stat | undefined): boolean => stat?.state === "R" || stat?.state === "D";

interface LookOptions {
	/** A process that has the terminal open, whatever the processes on it have done with their descriptors. */
	readonly holder?: number | undefined;
	readonly depth: number;
	readonly reuse: string | undefined;
}

/** Checks the terminal of `pid`, which is any process on it. */
async function lookAt(kernel: Kernel, pid: number, options: LookOptions): Promise<Look> {
	const { holder, depth, reuse } = options;
	const { device, members, below } = await foregroundOf(kernel, pid);
	const tty = await ttyOf(kernel, [...(holder === undefined ? [] : [holder]), pid, ...members.map((who) => who.pid)], device);
	if (!tty) return unknown("its terminal cannot be found");
	if (members.length === 0) return unknown("no process can be seen in the foreground of its terminal");
	let found = most(await Promise.all(members.map(async (who) => ({ who, blocked: await blockedIn(kernel, who, tty) }))));
	if (found.blocked.kind === "busy" && !isRelay(found.who)) {
		const other = await readerBelow(kernel, below, tty);
		const verdict = other ? undefined : await stoppedBelow(kernel, below, device);
		if (!other) return verdict ? { verdict, mark: "" } : NOTHING;
		found = other;
	}
	if (found.blocked.kind === "hidden" && members.some(({ state }) => state !== "S")) return NOTHING; // a member is at work
	const inner = found.blocked.kind !== "reading" && depth > 0 ? await innerOf(kernel, found.who.pid) : undefined;
	if (inner === "none") return unknown(`${found.who.comm} (pid ${found.who.pid}) passes keys on to a terminal on which no process can be seen`);
	if (inner !== undefined) return lookAt(kernel, inner, { depth: depth - 1, reuse });
	const asked = reuse === undefined ? modesOf(kernel, tty) : knownModes(kernel, tty, found, reuse);
	const [modes, beside] = await Promise.all([asked, besideOf(kernel, found.who, found.blocked, members)]);
	const verdict = decide(found.blocked, found.who, modes, beside);
	return { verdict, mark: await markOf(kernel, found) }; // last, so that the mark includes what reached the process during the check
}

const MOST_BELOW = 16;

/** Returns the process that reads the terminal from another session, where job control does not reach. */
async function readerBelow(kernel: Kernel, below: readonly Stat[], tty: Tty): Promise<InForeground | undefined> {
	const asleep = below.filter(({ terminal, state }) => terminal === 0 && state === "S").slice(0, MOST_BELOW);
	if (asleep.length === 0) return undefined;
	const found = most(await Promise.all(asleep.map(async (who) => ({ who, blocked: await blockedIn(kernel, who, tty) }))));
	return found.blocked.kind === "reading" || (found.blocked.kind === "watching" && found.blocked.sure) ? found : undefined;
}

interface KnownModes {
	readonly mark: string;
	readonly modes: TtyModes | undefined;
	readonly at: number;
}

/**
 * Reading the modes of a terminal takes a program. A reader that has slept since the last reading has not changed them, so a waiting terminal costs
 * one program a minute, however often it is checked; once a minute, since a background process might have changed them.
 */
const modesKnown = new Map<string, KnownModes>();
const MODES_MS = 60_000;
const MODES_KEPT = 512;

async function knownModes(kernel: Kernel, tty: Tty, found: InForeground, dir: string): Promise<TtyModes | undefined> {
	const mark = `${await markOf(kernel, found)} ${found.who.start} ${tty.rdev}`;
	const known = modesKnown.get(dir);
	if (known?.mark === mark && performance.now() - known.at < MODES_MS) return known.modes;
	const modes = await modesOf(kernel, tty);
	modesKnown.delete(dir);
	modesKnown.set(dir, { mark, modes, at: performance.now() }); // newest last
	for (const old of modesKnown.keys()) {
		if (modesKnown.size <= MODES_KEPT) break;
		modesKnown.delete(old);
	}
	return modes;
}

interface InForeground {
	readonly who: Stat;
	readonly blocked: Blocked;
}

/** Returns the most telling process of the foreground: one that reads decides, whatever the others do. */
function most(found: readonly InForeground[]): InForeground {
	const order = { reading: 0, watching: 1, hidden: 2, busy: 4 };
	const rank = ({ who, blocked }: InForeground): number => Math.min(order[blocked.kind], isRelay(who) ? 3 : 4);
	return found.toSorted((a, b) => rank(a) - rank(b))[0] as InForeground;
}

async function markOf(kernel: Kernel, { who, blocked }: InForeground): Promise<string> {
	const tid = "tid" in blocked ? blocked.tid : who.pid;
	const [status] = await kernel.read([`/proc/${who.pid}/task/${tid}/status`]);
	return `${tid} ${/^voluntary_ctxt_switches:\s*(\d+)/m.exec(status ?? "")?.[1]}`;
}

const unknown = (why: string): Look => ({ verdict: { kind: "unknown", why }, mark: "" });
