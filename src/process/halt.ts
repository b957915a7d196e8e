/**
 * Stops a tree, so that all of it can be signalled at one moment. A shell continues with the next line of its script when its child ends, so nothing
 * is signalled before everything is stopped. A stopped process keeps a pending TERM until it is continued, and acts on it before it runs any more of
 * its own code.
 *
 * Process groups are stopped as one. A fork cannot escape that: the kernel does it under the lock that fork takes. A process that forks and exits
 * every few milliseconds would be gone before a signal to its pid arrives.
 */
import { constants } from "node:os";
import { setTimeout as sleep } from "node:timers/promises";
import type { Kernel, Sent } from "../base/index.js";
import { type ProcessSnapshot, snapshot } from "./tree.js";

/** A tree in one snapshot: its living processes, and Holdfast's own beside it (its keeper, the shell that it runs in). */
export interface Members {
	readonly pids: readonly number[];
	readonly ours: ReadonlySet<number>;
	/** Returns the tree's processes at this moment, where that needs no new snapshot. */
	readonly present?: (() => readonly number[]) | undefined;
}

export interface Halted {
	readonly now: ProcessSnapshot;
	/** All processes of the tree. Each has been sent STOP. */
	readonly pids: readonly number[];
	/** Signals to send along with any signal to the tree: they continue processes that were stopped only because they share a group with it. */
	readonly others: readonly Sent[];
	/** Snapshots taken until one showed nothing new. More than two: something in the tree forks all the time. */
	readonly looks: number;
	/** From `haltBefore`: parents that were still forking when their time was over. Whether they ignore the signal is unknown. */
	readonly forking?: readonly number[];
}

const MOST_LOOKS = 20;
const FORGET_AFTER = 20; // snapshots
const FORK_MS = 5;
const FORK_ROUNDS = 5; // a parent that blocks the signal for longer does so permanently (signalfd, sigwait), and will read it
const TURNS_MS = 1_000; // in all rounds

/**
 * Extends `find`: adds other members of groups and sessions that contained only the tree in an earlier snapshot. A process that forks and exits all
 * the time is gone before its environment can be read, but its children stay in its group.
 */
export function remembering(find: (now: ProcessSnapshot) => Members): (now: ProcessSnapshot) => Members {
	const own = new Map<string, number>(); // key: a group or session; value: for how many snapshots it has been empty
	return (now) => {
		const found = find(now);
		const pids = new Set(found.pids);
		for (const [key, looks] of own) {
			const all = membersIn(now, key).filter((pid) => !found.ours.has(pid));
			for (const pid of all) pids.add(pid);
			if (all.length > 0) own.set(key, 0);
			else if (looks < FORGET_AFTER) own.set(key, looks + 1);
			else own.delete(key); // the number may have been reused
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

/** Sends STOP to everything that `find` returns, until a snapshot shows only processes that were sent it. */
export async function halt(kernel: Kernel, find: (now: ProcessSnapshot) => Members): Promise<Halted> {
	const sent = new Map<number, string>();
	const groups = new Set<number>();
	const before = new Set<number>(); // stopped by another program
	for (let looks = 1; ; looks++) {
		const now = await snapshot(kernel);
		const found = find(now);
		const fresh = found.pids.flatMap((pid) => now.stats.get(pid) ?? []).filter(({ pid, start }) => sent.get(pid) !== start);
		const halted = (): Halted => {
			const beside = [...groups].flatMap((group) => now.groupOf(group)).filter((pid) => !found.pids.includes(pid) && !before.has(pid));
			const stopped = [...found.ours].filter((pid) => now.stats.get(pid)?.state === "T"); // stopped by an interrupted kill
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
		// Others in a group may have forked since the snapshot: only the next one shows all that has to be continued.
		const isAlone = [...groups].every((group) => now.groupOf(group).every((pid) => found.pids.includes(pid)));
		if (isAlone && found.present?.().every((pid) => sent.has(pid))) return halted();
	}
}

/**
 * Halts a tree before `signal`, at a moment when the reaction of each parent is known. A shell blocks TERM and INT while it forks, and an interactive
 * bash ignores TERM only outside of a fork: stopped during a fork, it seems to accept the signal, and then drops it. So a parent that blocks the
 * signal is continued for a moment, after all below it. Where one of them must stay stopped, so must the parent: a shell with job control takes a stopped
 * child for one that it need not wait for, also if the child was stopped only a moment before the shell. On a busy machine, a process waits for its turn
 * before it stops or continues, and its mask may change until then.
 */
export async function haltBefore(kernel: Kernel, find: (now: ProcessSnapshot) => Members, signal: "SIGINT" | "SIGTERM", except?: number): Promise<Halted> {
	const deadline = Date.now() + TURNS_MS;
	const statuses = async (pids: readonly number[]) => await kernel.read(pids.map((pid) => `/proc/${pid}/status`));
	const blocked = (status = "") => blocks(status, constants.signals[signal]);
	const settled = async (pids: readonly number[], is: (status: string | undefined) => boolean) => {
		for (;;) {
			const texts = await statuses(pids);
			if (Date.now() >= deadline || texts.every(is)) return texts;
			await sleep(FORK_MS);
		}
	};
	let busy: readonly number[] = [];
	for (let round = 0; ; round++) {
		const halted = await halt(kernel, find);
		const childrenOf = childrenIn(halted);
		const parents = halted.pids.filter((pid) => pid !== except && childrenOf(pid).length > 0);
		if (parents.length === 0) return halted;
		const texts = await settled(parents, (status) => !runs(status));
		const forking = parents.filter((_, at) => blocked(texts[at]));
		if (forking.length === 0) return halted;
		const deaf = await deafParents(kernel, halted, signal);
		const hasJobs = (pid: number) => childrenOf(pid).some((child) => isJob(halted.now, child));
		const stays = (pid: number): boolean => deaf.has(pid) || (hasJobs(pid) && !forking.includes(pid)) || childrenOf(pid).some(stays);
		const withBelow = (pid: number): number[] => [pid, ...childrenOf(pid).flatMap(withBelow)];
		const free = forking.filter((pid) => !stays(pid));
		if (free.length === 0 || round === FORK_ROUNDS) return { ...halted, forking: forking.filter((pid) => busy.includes(pid) || !free.includes(pid)) };
		const again = continued(halted.now, [...new Set(free.flatMap(withBelow))]);
		await kernel.signal([...again, ...halted.others]); // the next halt would take the others for stopped by another program
		await sleep(FORK_MS);
		const isBusy = (status: string | undefined) => blocked(status) && runs(status);
		const after = await settled(free, (status) => !isBusy(status));
		busy = free.filter((_, at) => isBusy(after[at]));
	}
}

/** Returns true for a process that runs, or would if it had its turn, by its /proc/PID/status. */
const runs = (status = ""): boolean => /^State:\s*R/m.test(status);

/**
 * Returns true if a group can be stopped as one: its leader belongs to the tree or to Holdfast, or the leader is gone and all members belong. Any
 * other member (an older job of the same shell) notices nothing. Returns false for the group of this program.
 */
function isWhole(now: ProcessSnapshot, group: number, { pids, ours }: Members): boolean {
	const belongs = (pid: number) => pids.includes(pid) || ours.has(pid);
	const all = now.groupOf(group);
	if (group <= 1 || (now.table.self !== undefined && all.includes(now.table.self))) return false;
	return now.stats.has(group) ? belongs(group) : all.every(belongs);
}

/** Addresses a signal to each process, valid only while the pid belongs to the process of the snapshot. */
export const to = (now: ProcessSnapshot, pids: readonly number[], signal: NodeJS.Signals): Sent[] =>
	pids.map((pid) => ({ pid, signal, of: now.stats.get(pid) }));

/** Continues children before their parents, so that no parent sees a stopped child. */
export const continued = (now: ProcessSnapshot, pids: readonly number[]): Sent[] => to(now, pids.toReversed(), "SIGCONT");

/**
 * Continues a tree that has been sent TERM, except the parents in `deaf`. Such a parent stays stopped while its own parent does. Otherwise it is killed, and
 * before anything is continued: when its own parent ends, the kernel continues a stopped group, and a hangup is all that comes with it.
 */
export function continuedBut({ now, pids }: Pick<Halted, "now" | "pids">, deaf: ReadonlySet<number>): Sent[] {
	const tree = new Set(pids);
	const parentOf = (pid: number): number => now.stats.get(pid)?.ppid ?? 0;
	const stays = (pid: number): boolean => deaf.has(pid) && (!tree.has(parentOf(pid)) || stays(parentOf(pid)));
	const killed = pids.filter((pid) => deaf.has(pid) && !stays(pid));
	const awake = pids.filter((pid) => !deaf.has(pid));
	return [...to(now, killed.toReversed(), "SIGKILL"), ...continued(now, awake)];
}

/**
 * Returns the parents that ignore a signal that one of their children does not ignore: interactive shells ignore TERM; a background subshell and a
 * caller of system(3) ignore INT. They would continue with what follows that child, so they stay stopped until a signal that they do not ignore. So do
 * those that ignore it and have such a child, and parents that are still forking, of which that is unknown. A shell with job control has seen its child
 * stopped, or will see it end by the hangup, whatever the child ignores. `before`: parents that have lost a child to an earlier signal.
 */
export async function deafParents(
	kernel: Kernel,
	{ now, pids, forking = [] }: Pick<Halted, "now" | "pids" | "forking">,
	signal: "SIGINT" | "SIGTERM",
	before: ReadonlySet<number> = new Set(),
): Promise<Set<number>> {
	const childrenOf = childrenIn({ now, pids });
	const parents = pids.filter((pid) => before.has(pid) || childrenOf(pid).length > 0);
	const asked = [...new Set([...parents, ...parents.flatMap(childrenOf)])];
	if (asked.length === 0) return new Set();
	const texts = await kernel.read(asked.map((pid) => `/proc/${pid}/status`));
	const ignoring = new Set(asked.filter((_, at) => ignores(texts[at] ?? "", constants.signals[signal])));
	const isDeaf = (pid: number): boolean =>
		ignoring.has(pid) &&
		(before.has(pid) || childrenOf(pid).some((child) => !ignoring.has(child) || forking.includes(child) || isJob(now, child) || isDeaf(child)));
	return new Set([...forking, ...parents.filter(isDeaf)]);
}

/** Returns true for a process in another group than its parent, as a shell with job control starts them. */
function isJob(now: ProcessSnapshot, pid: number): boolean {
	const stat = now.stats.get(pid);
	return stat !== undefined && now.stats.get(stat.ppid)?.pgrp !== stat.pgrp;
}

/** Returns the children of a process that belong to the tree. */
function childrenIn({ now, pids }: Pick<Halted, "now" | "pids">): (pid: number) => readonly number[] {
	const inTree = new Set(pids);
	return (pid) => now.childrenOf(pid).filter((child) => inTree.has(child));
}

export const ignores = (status: string, signal: number): boolean => isIn("SigIgn", status, signal);
export const blocks = (status: string, signal: number): boolean => isIn("SigBlk", status, signal);

/** Reads a signal mask in /proc/PID/status, whose lowest bit is signal 1. */
function isIn(name: "SigIgn" | "SigBlk", status: string, signal: number): boolean {
	const mask = new RegExp(`^${name}:\\s*([0-9a-f]+)`, "m").exec(status)?.[1];
	return mask !== undefined && ((BigInt(`0x${mask}`) >> BigInt(signal - 1)) & 1n) === 1n;
}
