/**
 * What is at its limit of processes and stays there is a runaway: nothing can be started in its group any more, in the case of a
 * shell not even the next command. The kernel only makes fork(2) fail. In version 2 it tells of that, by a change of a file in
 * the group; in version 1 the kernel sends no event, so one number a task is looked at every second while something runs. What has been refused
 * a process, and is found full or refused again twice in a row, is killed with all it has started; of a shell's group, all but the shell.
 */
import fs from "node:fs";
import path from "node:path";
import { readProc, readStat, sendSignalTo } from "../base/index.js";
import { type Cgroups, PIDS_EVENTS, readExit, writeRecord } from "../keeper/index.js";
import type { Process } from "./process.js";
import { isOver } from "./status.js";

const LOOK_MS = 1_000;
const FULL = 0.95; // of the limit
const BUSY = 0.5; // below that there is no closer look
const KILLS = 100;
const TIDY_EVERY = 60;

interface Watched {
	readonly process: Process;
	readonly group: string;
	readonly stop: () => void;
	strikes: number;
	/** How often a process was refused, at the last look. */
	refused: number;
	over: boolean;
}

export class Runaways {
	readonly #cgroups: Cgroups | undefined;
	readonly #watched = new Map<string, Watched>();
	#timer: NodeJS.Timeout | undefined;
	#looks = 0;

	constructor(cgroups: Cgroups | undefined) {
		this.#cgroups = cgroups;
	}

	/** From its start on, until its cgroup is empty, or this runtime closes. */
	watch(process: Process): void {
		const { limits } = process.spec;
		const tree = limits?.group && (limits.process.pids ?? limits.task.pids) ? this.#cgroups?.treeOf("pids") : undefined;
		if (!tree || !limits?.group || this.#watched.has(process.id)) return;
		const group = path.join(tree.base, limits.group);
		const stop = tree.version === 2 ? listen(group, this.#look) : () => {};
		this.#watched.set(process.id, { process, group, stop, strikes: 0, refused: 0, over: false });
		if (tree.version === 1) this.#look();
	}

	/** A process has ended. What it has left running may still be a runaway; the group goes with the last of them. */
	ended(id: string): void {
		const entry = this.#watched.get(id);
		if (!entry) return;
		entry.over = true;
		if (!fs.existsSync(entry.group)) this.#forget(id);
	}

	#forget(id: string): void {
		this.#watched.get(id)?.stop();
		this.#watched.delete(id);
	}

	close(): void {
		clearTimeout(this.#timer);
		for (const id of this.#watched.keys()) this.#forget(id);
	}

	readonly #look = (): void => {
		this.#timer ??= setTimeout(() => {
			this.#timer = undefined;
			this.#now();
		}, LOOK_MS).unref();
	};

	#now(): void {
		if (++this.#looks % TIDY_EVERY === 0) this.#tidy();
		const tasks = new Map<string, boolean>();
		let again = false;
		for (const entry of this.#watched.values()) {
			const above = path.dirname(entry.group);
			if (!tasks.has(above)) tasks.set(above, isAt(above, BUSY));
			const own = entry.process.spec.limits?.process.pids !== undefined && isAt(entry.group, BUSY);
			const group = own ? entry.group : tasks.get(above) && isLargest(entry.group, above) ? above : undefined;
			const full = group !== undefined && isFull(entry, group);
			entry.strikes = full ? entry.strikes + 1 : 0;
			again ||= full;
			if (entry.over) {
				this.#cgroups?.remove(entry.process.spec.limits?.group as string);
				this.ended(entry.process.id);
			}
			if (entry.strikes > 1) void this.#end(entry).catch(() => {}); // it has gone meanwhile
		}
		again ||= [...this.#watched.values()].some(({ over }) => over);
		if (again || (this.#watched.size > 0 && this.#cgroups?.treeOf("pids")?.version === 1)) this.#look();
	}

	async #end({ process, group }: Watched): Promise<void> {
		const over = isOver(process.status());
		if (process.spec.kind === "shell" && !over) return killAllBut(process, group);
		note(process.dir);
		await process.kill({ graceMs: 0 });
	}

	#tidy(): void {
		for (const { process, over } of this.#watched.values()) if (!over) process.status(); // settles an end that was not noticed yet
	}
}

/** The kernel tells the group in which fork failed; since 6.11, the one whose limit it was. */
function listen(group: string, told: () => void): () => void {
	const watchers: fs.FSWatcher[] = [];
	for (const dir of [group, path.dirname(group)]) {
		try {
			const watcher = fs.watch(path.join(dir, PIDS_EVENTS), { persistent: false }, told);
			watcher.on("error", () => {}); // gone with its group
			watchers.push(watcher);
		} catch {
			// it has ended already, or there are no watches left: the limit holds all the same
		}
	}
	return () => {
		for (const watcher of watchers) watcher.close();
	};
}

/** Records the limit for later callers; also if the command itself had ended, and only what it left ran away. */
function note(dir: string): void {
	writeRecord(dir, "limit", "pids");
	const exit = readExit(dir);
	if (exit?.kind !== "exit" || exit.limit) return; // else the keeper writes the end with it
	writeRecord(dir, "exit", `exit ${exit.code} ${exit.signal ?? "-"} limit`);
	fs.utimesSync(path.join(dir, "exit"), exit.at / 1000, exit.at / 1000); // when it ended
}

async function killAllBut(process: Process, group: string): Promise<void> {
	for (let round = 0; round < KILLS; round++) {
		const seen = pidsIn(group).flatMap((pid) => readStat(pid) ?? []);
		const now = new Set(pidsIn(group)); // in the group before and after its start was read: that start is of one in the group
		const left = seen.filter(({ pid }) => pid !== process.pid && now.has(pid));
		if ([...now].every((pid) => pid === process.pid)) return;
		for (const signal of ["SIGSTOP", "SIGKILL"] as const) for (const each of left) sendSignalTo(each, signal);
		await new Promise((resolve) => setTimeout(resolve, 5));
	}
}

const pidsIn = (group: string): number[] => (readProc(path.join(group, "cgroup.procs")) ?? "").split("\n").filter(Boolean).map(Number);

const numberIn = (group: string, name: string): number => Number(readProc(path.join(group, name)) ?? Number.NaN);

const isAt = (group: string, share: number): boolean => numberIn(group, "pids.current") >= Math.floor(numberIn(group, "pids.max") * share);

/** Bombs come and go, some are always just ending: at the moment of a look there may be few of them, but others have been refused. */
function isFull(entry: Watched, group: string): boolean {
	const before = entry.refused;
	entry.refused = refusals(entry.group) + refusals(path.dirname(entry.group));
	return entry.refused > 0 && (entry.refused > before || isAt(group, FULL));
}

/** Each kernel counts in the group that asked, or in the one whose limit it was. */
const refusals = (group: string): number => Number(/^max (\d+)/m.exec(readProc(path.join(group, PIDS_EVENTS)) ?? "")?.[1] ?? 0);

function isLargest(group: string, above: string): boolean {
	const own = numberIn(group, "pids.current");
	return fs
		.readdirSync(above, { withFileTypes: true })
		.every((entry) => !entry.isDirectory() || !(numberIn(path.join(above, entry.name), "pids.current") > own));
}
