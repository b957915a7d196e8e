/**
 * Ending a process with everything it started, and proof: all of it is stopped, gets TERM and is continued; after a grace, it
 * is stopped again and gets KILL, until a look finds nothing. See halt.ts for why.
 * How the tree is found, best first: its control group; the subreaper above it, which every orphan goes to; or a walk
 * over parents and sessions. The walk is helped by a marker in the environment and by who holds the log or stdin open.
 */
import fs from "node:fs";
import path from "node:path";
import { isLiving, type Kernel } from "../base/index.js";
import { commandOf, type Parts, readExit, readParts, type Spec, type Within } from "../keeper/index.js";
import { continued, deafParents, type Halted, halt, haltBefore, type Members, remembering, to } from "./halt.js";
import { markKilled } from "./killing.js";
import { type ProcessSnapshot, snapshot } from "./tree.js";

export interface KillResult {
	readonly status: "killed" | "already_exited" | "error";
	readonly method: Spec["kill"];
	/** All that were sent TERM or KILL. */
	readonly signalled: readonly number[];
	/** Those still alive after all. Empty is proof only as far as the method reaches: see `method`. */
	readonly survivors: readonly number[];
}

export const KILL_GRACE_MS = 2_000;
const LOOKS_AFTER_KILL = 20;
const KILL_MS = 10_000; // for all of them
const MORE_LOOKS = 10; // where something forks all the time, one empty look is no proof
const EARLY = 2; // ticks, since clocks differ

export interface Ending {
	readonly kernel: Kernel;
	readonly find: (now: ProcessSnapshot) => Members;
	readonly graceMs: number;
	/** An interactive bash of ours: it ignores TERM, and so gets KILL at once. */
	readonly bash?: number | undefined;
	/** Called once, when a signal has reached the tree and nothing of it has acted on that yet. */
	readonly reached?: (now: ProcessSnapshot, signalled: ReadonlySet<number>) => void;
	/** What else kills all of it. */
	readonly killAll?: () => void;
}

export async function killTree(kernel: Kernel, dir: string, spec: Spec, options: { over: boolean; graceMs?: number }): Promise<KillResult> {
	const method = methodOf(spec, readParts(dir)); // now: the program that settles the end removes the cgroup
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
			if (spec.cgroup && !spec.sandbox) killCgroup(spec.cgroup); // in a sandbox the keepers of a terminal are in it too
		},
	});
	return { status: survivors.length > 0 ? "error" : over ? "already_exited" : "killed", method, signalled, survivors };
}

/** Ends all that `find` finds. */
export async function endTree({ kernel, graceMs, bash, reached, killAll, ...tree }: Ending): Promise<Pick<KillResult, "signalled" | "survivors">> {
	const find = remembering(tree.find);
	const signalled = new Set<number>();
	let left: readonly number[] = [];
	let elusive = false; // something in it forks all the time
	const stop = async (signal: "SIGTERM" | "SIGKILL") => {
		const halted = signal === "SIGTERM" ? await haltBefore(kernel, find, signal, bash) : await halt(kernel, find);
		elusive ||= halted.looks > 2;
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
		const deaf = await deafParents(kernel, halted, "SIGTERM");
		if (heeding.length < left.length) await end(halted, [bash as number], "SIGKILL");
		await kernel.signal([
			...continued(
				halted.now,
				heeding.filter((pid) => !deaf.has(pid)),
			),
			...halted.others,
		]);
		const deadline = Date.now() + graceMs;
		for (let pause = 1; left.some((pid) => !deaf.has(pid)) && Date.now() < deadline; pause = Math.min(pause * 2, 50)) {
			await sleep(pause);
			await look();
		}
	} else await look();

	const giveUp = Date.now() + KILL_MS;
	for (let looks = 0; left.length > 0 && looks < LOOKS_AFTER_KILL && Date.now() < giveUp; looks++) {
		const halted = await stop("SIGKILL");
		await end(halted, left, "SIGKILL");
		killAll?.();
		if (halted.others.length > 0) await kernel.signal(halted.others);
		await sleep(Math.min(2 ** looks, 50));
		await look();
	}
	return { signalled: [...signalled], survivors: left };
}

/** The command has ended by itself, and the kill ends what it left. */
function hasEnded(now: ProcessSnapshot, signalled: ReadonlySet<number>, dir: string, spec: Spec): boolean {
	const parts = readParts(dir);
	const command = commandOf(parts, spec);
	return command !== undefined && !signalled.has(command.pid) && command.pid !== spec.within?.bash.pid && !keepersOf(now, parts, spec).has(command.pid);
}

/** The living processes of a kept one, the command first, without our own parts. */
export const members = (now: ProcessSnapshot, dir: string, spec: Spec): number[] => membersOf(now, dir, spec).pids.filter((pid) => isRunning(now, pid));

/** At the moment of the look, and not filtered by how things are now: of what forks and exits all the time there is always a next one. */
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
 * The kernel gives the number of a namespace to the next one as soon as it is empty, so behind the number of a command that has ended there may be a
 * stranger, even a container. Then the cgroup knows what is left; without one, nothing with another mark is taken for a part of this process.
 */
function inNamespace(now: ProcessSnapshot, { namespace }: Parts, spec: Spec, lives: boolean): number[] {
	if (!lives && inCgroup(spec)) return [];
	const isOther = (marker: string | undefined) => !lives && marker !== undefined && marker !== spec.id;
	return now.inNamespace(namespace).filter((pid) => !isOther(now.table.markerOf(pid)));
}

/**
 * Of a shell's command: what carries its mark or holds its output; and as long as it is `current`, that is, no other
 * command has begun since, what hangs below bash and is not older than the command, and what else has come into the
 * shell's group since it began. bash itself is among them: it runs the command.
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
	if (now.isAlive(bash)) ours.add(bash.pid); // its group may be stopped as one for a moment, also when it is at another command
	return { pids: [...found], ours };
}

/** Our own parts beside a process, the copier below the collector included. */
function keepersOf(now: ProcessSnapshot, parts: Parts, spec: Spec): Set<number> {
	const ours = new Set<number>();
	for (const part of [parts.keeper, parts.collector, parts.terminal, spec.terminal || spec.within || parts.entered ? parts.child : undefined]) {
		if (!part || now.stats.get(part.pid)?.start !== part.start) continue;
		ours.add(part.pid);
		if (part === parts.collector) for (const pid of now.childrenOf(part.pid)) for (const own of [pid, ...now.childrenOf(pid)]) ours.add(own);
	}
	return ours;
}

/** A process that a kept process has started through Holdfast has its own keeper: a kill stops there. */
function isForeignKeeper(now: ProcessSnapshot, pid: number): boolean {
	return now.stats.get(pid)?.session === pid && now.table.isKeeper(pid); // keepers lead their session
}

const isRunning = (now: ProcessSnapshot, pid: number): boolean => {
	const stat = now.table.statOf(pid);
	return stat !== undefined && isLiving(stat);
};

const inCgroup = (spec: Spec): boolean => spec.cgroup !== undefined && fs.existsSync(spec.cgroup);

/** A group that was removed from under us leaves the walk. */
function methodOf(spec: Spec, { namespace }: Parts): Spec["kill"] {
	if (spec.kill === "namespace" || (spec.kill === "cgroup" && !inCgroup(spec))) return namespace ? "namespace" : "walk";
	return spec.kill;
}

function cgroupProcs(group: string | undefined): number[] {
	if (!group) return [];
	try {
		return fs.readFileSync(path.join(group, "cgroup.procs"), "utf8").split("\n").filter(Boolean).map(Number);
	} catch {
		return []; // removed: it was empty
	}
}

function killCgroup(group: string): void {
	try {
		fs.writeFileSync(path.join(group, "cgroup.kill"), "1");
	} catch {
		// removed meanwhile, so it was empty; the look afterwards tells
	}
}

const sleep = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));
