/**
 * Kills a process with everything it started, and verifies that. The whole tree is stopped, gets TERM and is continued; after a grace period, it is
 * stopped again and gets KILL, until a snapshot shows nothing. halt.ts says why. How the tree is found, best first: by its cgroup; by the subreaper
 * above it, which adopts every orphan; by a walk over parents and sessions. The walk also uses a marker in the environment, and finds processes that
 * hold the log or stdin open.
 */
import fs from "node:fs";
import path from "node:path";
import { isLiving, type Kernel } from "../base/index.js";
import { commandOf, type Parts, readExit, readParts, type Spec, type Within } from "../keeper/index.js";
import { continuedBut, deafParents, type Halted, halt, haltBefore, type Members, remembering, to } from "./halt.js";
import { markKilled } from "./killing.js";
import { type ProcessSnapshot, snapshot } from "./tree.js";

export interface KillResult {
	readonly status: "killed" | "already_exited" | "error";
	readonly method: Spec["kill"];
	/** All processes that were sent TERM or KILL. */
	readonly signalled: readonly number[];
	/** Processes that are still alive. An empty list is proof only as far as `method` reaches. */
	readonly survivors: readonly number[];
}

export const KILL_GRACE_MS = 2_000;
const LOOKS_AFTER_KILL = 20;
const KILL_MS = 10_000; // in total
const MORE_LOOKS = 10; // if something forks all the time, one empty snapshot is no proof
const EARLY = 2; // ticks, since clocks differ

export interface Ending {
	readonly kernel: Kernel;
	readonly find: (now: ProcessSnapshot) => Members;
	readonly graceMs: number;
	/** An interactive bash of Holdfast: it ignores TERM, so it gets KILL at once. */
	readonly bash?: number | undefined;
	/** Called once, when a signal has reached the tree and no process has acted on it yet. */
	readonly reached?: (now: ProcessSnapshot, signalled: ReadonlySet<number>) => void;
	/** An additional way to kill the whole tree. */
	readonly killAll?: () => void;
}

export async function killTree(kernel: Kernel, dir: string, spec: Spec, options: { over: boolean; graceMs?: number }): Promise<KillResult> {
	const method = methodOf(spec, readParts(dir)); // read now: the program that settles the end removes the cgroup
	let over = options.over;
	const { signalled, survivors } = await endTree({
		kernel,
		find: (now) => membersOf(now, dir, spec),
		graceMs: options.graceMs ?? KILL_GRACE_MS,
		bash: spec.within?.bash.pid,
		reached: (now, signalled) => {
			over ||= hasEnded(now, signalled, dir, spec);
			if (!over) markKilled(dir);
		},
		killAll: () => {
			if (spec.cgroup && !spec.sandbox) killCgroup(spec.cgroup); // in a sandbox, the cgroup also contains the keepers of a terminal
		},
	});
	return { status: survivors.length > 0 ? "error" : over ? "already_exited" : "killed", method, signalled, survivors };
}

/** Ends everything that `find` returns. */
export async function endTree({ kernel, graceMs, bash, reached, killAll, ...tree }: Ending): Promise<Pick<KillResult, "signalled" | "survivors">> {
	const find = remembering(tree.find);
	const signalled = new Set<number>();
	let left: readonly number[] = [];
	let elusive = false; // something in the tree forks all the time, or may: it was gone before any signal
	const stop = async (signal: "SIGTERM" | "SIGKILL") => {
		const halted = signal === "SIGTERM" ? await haltBefore(kernel, find, signal, bash) : await halt(kernel, find);
		const vanished = signalled.size === 0 && left.some((pid) => !halted.pids.includes(pid));
		elusive ||= halted.looks > 2 || vanished;
		left = halted.pids;
		return halted;
	};
	const look = async () => {
		for (let looks = 0; looks < (elusive ? MORE_LOOKS : 1); looks++) {
			const { pids } = find(await snapshot(kernel));
			elusive ||= pids.some((pid) => !left.includes(pid));
			left = pids;
			if (left.length > 0) return;
		}
	};
	const end = async ({ now }: Halted, pids: readonly number[], signal: "SIGTERM" | "SIGKILL") => {
		const first = signalled.size === 0;
		const delivered = await kernel.signal(to(now, pids, signal));
		for (const [at, pid] of pids.entries()) if (delivered[at] === "sent") signalled.add(pid);
		if (first && signalled.size > 0) reached?.(now, signalled);
	};

	if (graceMs > 0) {
		const halted = await stop("SIGTERM");
		const heeding = left.filter((pid) => pid !== bash);
		await end(halted, heeding, "SIGTERM");
		const deaf = await deafParents(kernel, { ...halted, pids: heeding }, "SIGTERM");
		if (heeding.length < left.length) await end(halted, [bash as number], "SIGKILL");
		await kernel.signal([...continuedBut(halted, deaf), ...halted.others]);
		const deadline = Date.now() + graceMs;
		for (let pause = 1; left.some((pid) => !deaf.has(pid)) && Date.now() < deadline; pause = Math.min(pause * 2, 50)) {
			await sleep(pause);
			await look();
		}
	} else left = find(await snapshot(kernel)).pids; // nothing was seen before, so what is seen now is not new

	const giveUp = Date.now() + KILL_MS;
	for (let looks = 0; left.length > 0 && looks < LOOKS_AFTER_KILL && Date.now() < giveUp; looks++) {
		const halted = await stop("SIGKILL");
		await end(halted, left.toReversed(), "SIGKILL"); // children first: when a parent ends, the kernel continues a stopped group
		killAll?.();
		if (halted.others.length > 0) await kernel.signal(halted.others);
		await sleep(Math.min(2 ** looks, 50));
		await look();
	}
	return { signalled: [...signalled], survivors: left };
}

/** Returns true if the command has exited by itself and the kill only ends its leftovers. */
function hasEnded(now: ProcessSnapshot, signalled: ReadonlySet<number>, dir: string, spec: Spec): boolean {
	const parts = readParts(dir);
	const command = commandOf(parts, spec);
	return command !== undefined && !signalled.has(command.pid) && command.pid !== spec.within?.bash.pid && !keepersOf(now, parts, spec).has(command.pid);
}

/** Returns the living members of a kept process, the command first, without Holdfast's own processes. */
export const members = (now: ProcessSnapshot, dir: string, spec: Spec): number[] => membersOf(now, dir, spec).pids.filter((pid) => isRunning(now, pid));

/** Returns the members in a snapshot. Does not drop those that have exited since: a process that forks and exits all the time always has a successor. */
function membersOf(now: ProcessSnapshot, dir: string, spec: Spec): Members {
	if (spec.within) return membersWithin(now, dir, spec, spec.within, readExit(dir) === undefined);
	const parts = readParts(dir);
	const ours = keepersOf(now, parts, spec);
	const found = new Set<number>();
	const add = (pid: number) => {
		if (pid <= 1 || pid === now.table.self || found.has(pid) || !now.stats.has(pid) || isForeignKeeper(now, pid)) return;
		if (!ours.has(pid)) found.add(pid);
		for (const child of now.childrenOf(pid)) if (!ours.has(child)) add(child);
	};
	const command = commandOf(parts, spec);
	const lives = command !== undefined && now.stats.get(command.pid)?.start === command.start;
	if (lives) {
		add(command.pid);
		for (const pid of now.sessionOf(command.pid)) add(pid);
	}
	if (parts.terminal && ours.has(parts.terminal.pid)) for (const pid of now.sessionOf(parts.terminal.pid)) add(pid);
	for (const pid of [...cgroupProcs(spec.cgroup), ...inNamespace(now, parts, spec, lives)]) if (!ours.has(pid)) found.add(pid);
	if (spec.kill === "subreaper" && parts.keeper && ours.has(parts.keeper.pid)) for (const pid of now.childrenOf(parts.keeper.pid)) if (!ours.has(pid)) add(pid);
	if (!inCgroup(spec)) for (const pid of now.marked(spec.id)) add(pid);
	return { pids: [...found], ours, present: inCgroup(spec) && !spec.sandbox ? () => cgroupProcs(spec.cgroup) : undefined };
}

/**
 * Returns the processes in the namespace of a command in a sandbox. The kernel reuses the number of an empty namespace: after the end of the command the
 * number may belong to another container, or to the next command of the same sandbox. Then the cgroup tells what is left, also one that was removed,
 * because it was empty. Without a cgroup, processes of another command are left out: those with its marker, and those in the session of its keeper,
 * which have no marker.
 */
function inNamespace(now: ProcessSnapshot, { namespace, ...parts }: Parts, spec: Spec, lives: boolean): number[] {
	if (!lives && spec.cgroup !== undefined) return [];
	const found = now.inNamespace(namespace);
	const command = commandOf(parts, spec);
	if (lives && command && now.isAlive(command)) return found; // it lived while the namespaces were read
	return found.filter((pid) => {
		const marker = now.table.markerOf(pid);
		const session = now.stats.get(pid)?.session;
		return (marker === undefined || marker === spec.id) && !(session !== undefined && now.table.isKeeper(session));
	});
}

/**
 * Returns the members of a shell's command: processes that carry its marker or hold its output. While it is `current` (no other command has begun
 * since), also the processes below bash that are not older than the command, and those that have joined the shell's cgroup since it began. bash itself
 * is one of them: it runs the command.
 */
export function membersWithin(now: ProcessSnapshot, dir: string, spec: Spec, { bash, older, group, slot }: Within, current: boolean): Members {
	const ours = keepersOf(now, readParts(dir), spec);
	const found = new Set<number>();
	const add = (pid: number) => {
		if (pid <= 1 || pid === now.table.self || found.has(pid) || ours.has(pid) || older.includes(pid)) return;
		if (!now.stats.has(pid) || isForeignKeeper(now, pid)) return;
		found.add(pid);
		if (pid !== bash.pid) for (const child of now.childrenOf(pid)) add(child);
	};
	const runs = current && now.stats.get(bash.pid)?.start === bash.start;
	if (runs) {
		add(bash.pid);
		for (const pid of now.childrenOf(bash.pid)) add(pid);
		const since = now.table.ticksAt(spec.startedAt) - EARLY;
		for (const pid of cgroupProcs(group)) {
			const marker = now.table.markerOf(pid);
			if (Number(now.stats.get(pid)?.start) >= since && (marker === undefined || marker === spec.id)) add(pid);
		}
	}
	for (const pid of now.marked(spec.id, slot)) if (runs || pid !== bash.pid) add(pid);
	if (now.isAlive(bash)) ours.add(bash.pid); // its group may be stopped for a moment, even if bash runs another command
	return { pids: [...found], ours };
}

/** Returns Holdfast's own processes beside a process, including the copier below the collector. */
function keepersOf(now: ProcessSnapshot, parts: Parts, spec: Spec): Set<number> {
	const ours = new Set<number>();
	for (const part of [parts.keeper, parts.collector, parts.terminal, spec.terminal || spec.within || parts.entered ? parts.child : undefined]) {
		if (!part || now.stats.get(part.pid)?.start !== part.start) continue;
		ours.add(part.pid);
		if (part === parts.collector) for (const pid of now.childrenOf(part.pid)) for (const own of [pid, ...now.childrenOf(pid)]) ours.add(own);
	}
	return ours;
}

/** Returns true for the keeper of a process that the kept process has started through Holdfast: a kill stops there. */
function isForeignKeeper(now: ProcessSnapshot, pid: number): boolean {
	return now.stats.get(pid)?.session === pid && now.table.isKeeper(pid); // keepers lead their session
}

const isRunning = (now: ProcessSnapshot, pid: number): boolean => {
	const stat = now.table.statOf(pid);
	return stat !== undefined && isLiving(stat);
};

const inCgroup = (spec: Spec): boolean => spec.cgroup !== undefined && fs.existsSync(spec.cgroup);

/** Returns the method in use. If another program removed the cgroup, the walk remains. */
function methodOf(spec: Spec, { namespace }: Parts): Spec["kill"] {
	if (spec.kill === "namespace" || (spec.kill === "cgroup" && !inCgroup(spec))) return namespace ? "namespace" : "walk";
	return spec.kill;
}

function cgroupProcs(group: string | undefined): number[] {
	if (!group) return [];
	try {
		return fs.readFileSync(path.join(group, "cgroup.procs"), "utf8").split("\n").filter(Boolean).map(Number);
	} catch {
		return []; // removed, so it was empty
	}
}

function killCgroup(group: string): void {
	try {
		fs.writeFileSync(path.join(group, "cgroup.kill"), "1");
	} catch {
		// removed meanwhile, so it was empty; the next snapshot verifies that
	}
}

const sleep = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));
