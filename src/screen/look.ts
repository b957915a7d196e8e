/** One look at a process with a terminal: what the kernel says now of whether it waits for input. */
import { HoldfastError } from "../base/errors.js";
import { childrenOf, isAlive, readProc, readStat, type Stat } from "../base/proc.js";
import { type Parts, readParts } from "../keeper/layout.js";
import type { Process } from "../process/process.js";
import { type Blocked, blockedIn } from "./blocked.js";
import { foregroundOf, innerOf } from "./foreground.js";
import { modesOf, ttyOf } from "./tty.js";
import { decide, type Verdict } from "./verdict.js";

export interface Look {
	readonly verdict: Verdict;
	/** Who was found, and how often it had slept until then: the same mark twice means that nothing reached it in between. */
	readonly mark: string;
}

const NOTHING: Look = { verdict: { kind: "no" }, mark: "" };
const DEPTH = 4; // terminals inside terminals

export async function look(process: Process): Promise<Look> {
	if (!process.spec.terminal)
		throw new HoldfastError("NO_TERMINAL", `${process.id} has no terminal, so nobody can tell whether it waits for input; start it with one`);
	const status = process.status();
	if (status.status === "elsewhere")
		throw new HoldfastError("NOT_HERE", `${process.id} runs on another host (${status.host}) or in another container; look there`);
	if (status.status !== "running") return NOTHING;
	const parts = readParts(process.dir);
	const inside = [parts.terminal, parts.command].find((part) => part && isAlive(part));
	if (!inside || onTheWay(parts)) return NOTHING;
	return lookAt(inside.pid, DEPTH);
}

/**
 * While the relay or dd has something to do, keys or output are on their way. What the program does now is not yet an
 * answer to the one, and the other is not yet to be seen.
 */
function onTheWay({ child: relay, collector }: Parts): boolean {
	const pids = [...(relay ? [relay.pid] : []), ...(collector ? childrenOf(collector.pid) : [])];
	return pids.some((pid) => /^[RD]$/.test(readStat(pid)?.state ?? ""));
}

/** `pid` is any process on the terminal. */
async function lookAt(pid: number, depth: number): Promise<Look> {
	const tty = ttyOf(pid);
	if (!tty) return unknown("its terminal cannot be found");
	const members = await foregroundOf(pid);
	if (members.length === 0) return unknown("nobody can be seen in the foreground of its terminal");
	const found = most(members.map((who) => ({ who, blocked: blockedIn(who, tty) })));
	if (found.blocked.kind === "busy") return NOTHING;
	if (found.blocked.kind === "hidden" && members.some(({ state }) => state !== "S")) return NOTHING; // somebody is at work
	const inner = found.blocked.kind !== "reading" && depth > 0 ? innerOf(found.who.pid) : undefined;
	if (inner === "none") return unknown(`${found.who.comm} (pid ${found.who.pid}) passes keys on to a terminal on which nobody can be seen`);
	if (inner !== undefined) return lookAt(inner, depth - 1);
	return { verdict: decide(found.blocked, found.who, await modesOf(tty)), mark: markOf(found) };
}

interface Found {
	readonly who: Stat;
	readonly blocked: Blocked;
}

/** Of all in the foreground, the one that says most: one that reads decides, whatever the others do. */
function most(found: readonly Found[]): Found {
	const order = { reading: 0, watching: 1, hidden: 2, busy: 3 };
	return found.toSorted((a, b) => order[a.blocked.kind] - order[b.blocked.kind])[0] as Found;
}

function markOf({ who, blocked }: Found): string {
	const tid = "tid" in blocked ? blocked.tid : who.pid;
	const slept = /^voluntary_ctxt_switches:\s*(\d+)/m.exec(readProc(`/proc/${who.pid}/task/${tid}/status`) ?? "")?.[1];
	return `${tid} ${slept}`;
}

const unknown = (why: string): Look => ({ verdict: { kind: "unknown", why }, mark: "" });
