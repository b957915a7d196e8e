/**
 * Stopping a tree, so that all of it can be signalled at one moment. A shell goes on with the next line of its script when
 * its child is ended: so nothing is signalled before everything is stopped. A stopped process keeps a TERM until it is
 * continued, and acts on it before it runs any more of its own code.
 *
 * Process groups are stopped as one, which a fork cannot get away from: the kernel does it under the lock that fork takes.
 * By number, a process that forks and exits every few milliseconds is gone before its signal comes.
 */
import { constants } from "node:os";
import { setTimeout as sleep } from "node:timers/promises";
import type { Kernel, Sent } from "../base/index.js";
import { type ProcessSnapshot, snapshot } from "./tree.js";

/** A tree in one look: its living processes, and those of ours beside it (its keeper, the shell that it runs in). */
export interface Members {
	readonly pids: readonly number[];
	readonly ours: ReadonlySet<number>;
	/** Returns the tree's processes at this moment, where that can be known without another look at all processes. */
	readonly present?: (() => readonly number[]) | undefined;
}

export interface Halted {
	readonly now: ProcessSnapshot;
	/** All of the tree. Each has been sent STOP. */
	readonly pids: readonly number[];
	/** To be sent along with whatever is sent to the tree: continues those that were stopped only because they share a group with it. */
	readonly others: readonly Sent[];
	/** Looks until one found nothing new. More than two: something in it forks all the time. */
	readonly looks: number;
}

const MOST_LOOKS = 20;
const FORGET_AFTER = 20; // looks
const FORK_MS = 5;
const FORK_ROUNDS = 5; // a parent that blocks the signal for longer does so for good (signalfd, sigwait), and will read it

/**
 * What `find` finds, and what else is in groups and sessions that held nothing but the tree at an earlier look: what forks and exits
 * all the time has gone before its environment can be read, but stays in its group.
 */
export function remembering(find: (now: ProcessSnapshot) => Members): (now: ProcessSnapshot) => Members {
	const own = new Map<string, number>(); // a group or a session, and for how many looks nothing was in it
	return (now) => {
		const found = find(now);
		const pids = new Set(found.pids);
		for (const [key, looks] of own) {
			const all = membersIn(now, key).filter((pid) => !found.ours.has(pid));
			for (const pid of all) pids.add(pid);
			if (all.length > 0) own.set(key, 0);
			else if (looks < FORGET_AFTER) own.set(key, looks + 1);
			else own.delete(key); // the number may be another's by now
		}
		for (const pid of found.pids) {
			const stat = now.stats.get(pid);
			for (const key of stat ? [`group ${stat.pgrp}`, `session ${stat.session}`] : [])
				if (!own.has(key) && membersIn(now, key).every((one) => pids.has(one))) own.set(key, 0);
		}
		return { ...found, pids: [...pids] };
	};
}

function membersIn(now: ProcessSnapshot, key: string): readonly number[] {
	const [kind, number] = key.split(" ");
	return kind === "group" ? now.groupOf(Number(number)) : now.sessionOf(Number(number));
}

/** Sends STOP to all that `find` finds, until a look finds nothing that was not sent it. */
export async function halt(kernel: Kernel, find: (now: ProcessSnapshot) => Members): Promise<Halted> {
	const sent = new Map<number, string>();
	const groups = new Set<number>();
	const before = new Set<number>(); // stopped, and not by us
	for (let looks = 1; ; looks++) {
		const now = await snapshot(kernel);
		const found = find(now);
		const fresh = found.pids.flatMap((pid) => now.stats.get(pid) ?? []).filter(({ pid, start }) => sent.get(pid) !== start);
		const halted = (): Halted => {
			const beside = [...groups].flatMap((group) => now.groupOf(group)).filter((pid) => !found.pids.includes(pid) && !before.has(pid));
			const stopped = [...found.ours].filter((pid) => now.stats.get(pid)?.state === "T"); // by a kill that was cut short
			return { now, pids: found.pids, others: to(now, [...new Set([...beside, ...stopped])], "SIGCONT"), looks };
		};
		if (fresh.length === 0 || looks === MOST_LOOKS) return halted();
		const whole = new Set(fresh.map(({ pgrp }) => pgrp).filter((group) => isWhole(now, group, found)));
		for (const group of whole) {
			if (!groups.has(group)) for (const pid of now.groupOf(group)) if (now.stats.get(pid)?.state === "T") before.add(pid);
			groups.add(group);
		}
		for (const { pid, start } of fresh) sent.set(pid, start);
		const single = fresh.filter(({ pgrp }) => !whole.has(pgrp)).map(({ pid }) => pid);
		await kernel.signal([...[...whole].map((group) => ({ pid: -group, signal: "SIGSTOP" as const })), ...to(now, single, "SIGSTOP")]);
		if (found.present?.().every((pid) => sent.has(pid))) return halted();
	}
}

/**
 * Halts a tree before `signal`, at a moment when it is known what each parent will do about it. A shell blocks TERM and INT while it forks, and an
 * interactive bash ignores TERM only outside of that: stopped in between, it looks as if it heeded the signal, and then drops it. So a parent that
 * blocks the signal goes on for a moment, alone.
 */
export async function haltBefore(kernel: Kernel, find: (now: ProcessSnapshot) => Members, signal: "SIGINT" | "SIGTERM", except?: number): Promise<Halted> {
	for (let round = 1; ; round++) {
		const halted = await halt(kernel, find);
		const parents = round <= FORK_ROUNDS ? parentsIn(halted).filter((pid) => pid !== except) : [];
		const texts = parents.length > 0 ? await kernel.read(parents.map((pid) => `/proc/${pid}/status`)) : [];
		const forking = parents.filter((_, at) => blocks(texts[at] ?? "", constants.signals[signal]));
		if (forking.length === 0) return halted;
		await kernel.signal(to(halted.now, forking, "SIGCONT"));
		await sleep(FORK_MS);
	}
}

/**
 * A group that can be stopped as one: its leader is of the tree or of ours, or gone and all others are. Any other member
 * (an older job of the same shell) notices nothing. Never the group of this program.
 */
function isWhole(now: ProcessSnapshot, group: number, { pids, ours }: Members): boolean {
	const belongs = (pid: number) => pids.includes(pid) || ours.has(pid);
	const all = now.groupOf(group);
	if (group <= 1 || (now.table.self !== undefined && all.includes(now.table.self))) return false;
	return now.stats.has(group) ? belongs(group) : all.every(belongs);
}

/** A signal for each, if it is still the one that was seen. */
export const to = (now: ProcessSnapshot, pids: readonly number[], signal: NodeJS.Signals): Sent[] =>
	pids.map((pid) => ({ pid, signal, of: now.stats.get(pid) }));

/** Continues children before their parents, so that none of these sees a stopped child. */
export const continued = (now: ProcessSnapshot, pids: readonly number[]): Sent[] => to(now, pids.toReversed(), "SIGCONT");

/**
 * Those that ignore a signal while a child of theirs does not: interactive shells ignore TERM, and a background subshell and what
 * waits in system(3) ignore INT. They would go on with what comes after that child; so they stay stopped until a signal that they
 * do not ignore. `before`: those that have lost a child to an earlier signal.
 */
export async function deafParents(
	kernel: Kernel,
	{ now, pids }: Pick<Halted, "now" | "pids">,
	signal: "SIGINT" | "SIGTERM",
	before: ReadonlySet<number> = new Set(),
): Promise<Set<number>> {
	const inTree = new Set(pids);
	const childrenOf = (pid: number) => now.childrenOf(pid).filter((child) => inTree.has(child));
	const parents = [...new Set([...pids.filter((pid) => before.has(pid)), ...parentsIn({ now, pids })])];
	const asked = [...new Set([...parents, ...parents.flatMap(childrenOf)])];
	if (asked.length === 0) return new Set();
	const texts = await kernel.read(asked.map((pid) => `/proc/${pid}/status`));
	const deaf = new Set(asked.filter((_, at) => ignores(texts[at] ?? "", constants.signals[signal])));
	return new Set(parents.filter((pid) => deaf.has(pid) && (before.has(pid) || childrenOf(pid).some((child) => !deaf.has(child)))));
}

function parentsIn({ now, pids }: Pick<Halted, "now" | "pids">): number[] {
	const inTree = new Set(pids);
	return pids.filter((pid) => now.childrenOf(pid).some((child) => inTree.has(child)));
}

export const ignores = (status: string, signal: number): boolean => isIn("SigIgn", status, signal);
export const blocks = (status: string, signal: number): boolean => isIn("SigBlk", status, signal);

/** By a mask in /proc/PID/status, the lowest bit of which is signal 1. */
function isIn(name: "SigIgn" | "SigBlk", status: string, signal: number): boolean {
	const mask = new RegExp(`^${name}:\\s*([0-9a-f]+)`, "m").exec(status)?.[1];
	return mask !== undefined && ((BigInt(`0x${mask}`) >> BigInt(signal - 1)) & 1n) === 1n;
}
