/**
 * Ending a process with everything it started, and proof. TERM to all, a grace, then KILL until a look finds nobody.
 * How the tree is found, best first: its control group; the subreaper above it, which every orphan goes to; or a walk
 * over parents and sessions. The walk is helped by a marker in the environment and by who holds the log or stdin open.
 */
import fs from "node:fs";
import path from "node:path";
import { isLiving, type Kernel } from "../base/kernel.js";
import { type Parts, readExit, readParts } from "../keeper/layout.js";
import type { Spec, Within } from "./spec.js";
import { commandOf, markKilled } from "./status.js";
import { type Snapshot, snapshot } from "./tree.js";

export interface KillResult {
	readonly status: "killed" | "already_exited" | "error";
	readonly method: Spec["kill"];
	/** Everybody who was sent a signal. */
	readonly signalled: readonly number[];
	/** Who is still there after all. Empty is proof only as far as the method reaches: see `method`. */
	readonly survivors: readonly number[];
}

export const KILL_GRACE_MS = 2_000;
const LOOKS_AFTER_KILL = 20;
const EARLY = 2; // ticks, since clocks differ

export async function killTree(kernel: Kernel, dir: string, spec: Spec, options: { over: boolean; graceMs?: number }): Promise<KillResult> {
	const signalled = new Set<number>();
	const method = methodOf(spec, readParts(dir)); // now: whoever settles the end removes the group
	let now = await snapshot(kernel);
	let left = members(now, dir, spec);
	const look = async () => {
		now = await snapshot(kernel);
		left = members(now, dir, spec);
	};
	const send = async (pids: readonly number[], signal: NodeJS.Signals) => {
		// An interactive bash ignores TERM, and would go on with what comes after the child that does not.
		const fitting = (pid: number) => (signal === "SIGTERM" && pid === spec.within?.bash.pid ? "SIGKILL" : signal);
		const delivered = await kernel.signal(pids.map((pid) => ({ pid, signal: fitting(pid), of: now.stats.get(pid) })));
		return pids.filter((_, at) => delivered[at] === "sent");
	};
	const end = async (pids: readonly number[], signal: "SIGTERM" | "SIGKILL") => {
		for (const pid of await send(pids, signal)) signalled.add(pid);
	};

	for (const [at, pid] of left.entries()) {
		await end([pid], "SIGTERM");
		if (signalled.size === 0) continue;
		if (!options.over) markKilled(dir);
		await end(left.slice(at + 1), "SIGTERM");
		break;
	}
	const stopped = [...signalled].filter((pid) => now.table.statOf(pid)?.state === "T");
	if (stopped.length > 0) await send(stopped, "SIGCONT"); // a stopped process cannot act on TERM

	const deadline = Date.now() + (options.graceMs ?? KILL_GRACE_MS);
	for (let pause = 1; left.length > 0 && Date.now() < deadline; pause = Math.min(pause * 2, 50)) {
		await sleep(pause);
		await look();
	}

	for (let looks = 0; left.length > 0 && looks < LOOKS_AFTER_KILL; looks++) {
		await send(left, "SIGSTOP"); // everybody first: nobody forks between our look and the signal
		await look();
		await end(left, "SIGKILL");
		if (spec.cgroup && !spec.sandbox) killCgroup(spec.cgroup); // there the keepers of a terminal are in it too
		await sleep(Math.min(2 ** looks, 50));
		await look();
	}
	return { status: left.length > 0 ? "error" : options.over ? "already_exited" : "killed", method, signalled: [...signalled], survivors: left };
}

/** Everybody who belongs to this process and is alive, our own parts excluded. The command itself comes first. */
export function members(now: Snapshot, dir: string, spec: Spec): number[] {
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
	if (command && now.stats.get(command.pid)?.start === command.start) {
		add(command.pid);
		for (const pid of now.sessionOf(command.pid)) add(pid);
	}
	if (parts.terminal && ours.has(parts.terminal.pid)) for (const pid of now.sessionOf(parts.terminal.pid)) add(pid);
	for (const pid of [...cgroupProcs(spec.cgroup), ...now.inNamespace(parts.namespace)]) if (!ours.has(pid)) found.add(pid);
	if (spec.kill === "subreaper" && parts.keeper && ours.has(parts.keeper.pid)) for (const pid of now.childrenOf(parts.keeper.pid)) if (!ours.has(pid)) add(pid);
	if (!inCgroup(spec)) for (const pid of now.marked(spec.id)) add(pid);
	return [...found].filter((pid) => isRunning(now, pid));
}

/**
 * Of a shell's command: what carries its mark or holds its output; and as long as it is `current`, that is, no other
 * command has begun since, what hangs below bash and is not older than the command, and what else has come into the
 * shell's group since it began. bash itself is among them: it runs the command.
 */
export function membersWithin(now: Snapshot, dir: string, spec: Spec, { bash, older, group }: Within, current: boolean): number[] {
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
	for (const pid of now.marked(spec.id)) if (runs || pid !== bash.pid) add(pid);
	return [...found].filter((pid) => isRunning(now, pid));
}

/** Our own parts beside a process, the copier below the collector included. */
function keepersOf(now: Snapshot, parts: Parts, spec: Spec): Set<number> {
	const ours = new Set<number>();
	for (const part of [parts.keeper, parts.collector, parts.terminal, spec.terminal || spec.within || parts.entered ? parts.child : undefined]) {
		if (!part || !now.isAlive(part)) continue;
		ours.add(part.pid);
		if (part === parts.collector) for (const pid of now.childrenOf(part.pid)) for (const own of [pid, ...now.childrenOf(pid)]) ours.add(own);
	}
	return ours;
}

/** What a kept process starts through Holdfast is kept itself: a kill stops at its keeper. */
function isForeignKeeper(now: Snapshot, pid: number): boolean {
	if (now.stats.get(pid)?.session !== pid) return false; // keepers lead their session
	const argv = now.table.argvOf(pid);
	return argv.some((word, at) => word.endsWith("/keeper/keeper.sh") && argv[at + 1] === "keep"); // of whatever installation
}

const isRunning = (now: Snapshot, pid: number): boolean => {
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
		return []; // removed: nobody was in it
	}
}

function killCgroup(group: string): void {
	try {
		fs.writeFileSync(path.join(group, "cgroup.kill"), "1");
	} catch {
		// removed meanwhile: then nobody was left in it; the look afterwards tells
	}
}

const sleep = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));
