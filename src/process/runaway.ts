/**
 * Kills runaways. A cgroup that stays at its process limit is a runaway: nothing can start in it, in a shell not even the next
 * command. The kernel only makes fork(2) fail. cgroup v2 reports that by a change of a file in the cgroup; v1 has no event, so one number per task is
 * checked every second while a process runs. If forks were refused, and two checks in a row find the cgroup full or new refusals, the process is
 * killed with all its descendants; in a shell's cgroup, all but the shell.
 */
import fs from "node:fs";
import path from "node:path";
import { readProc, readStat, sendSignalTo } from "../base/index.js";
import { type Cgroups, PIDS_EVENTS, readExit, writeRecord } from "../keeper/index.js";
import type { Process } from "./process.js";
import { isOver } from "./status.js";

const LOOK_MS = 1_000;
const FULL = 0.95; // of the limit
const BUSY = 0.5; // below that, no closer check
const KILLS = 100;
const TIDY_EVERY = 60;

interface Watched {
	readonly process: Process;
	readonly group: string;
	readonly stop: () => void;
	strikes: number;
	/** Refused forks at the last check. */
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

	/** Watches a process from its start until its cgroup is empty or this runtime closes. */
	watch(process: Process): void {
		const { limits } = process.spec;
		const tree = limits?.group && (limits.process.pids ?? limits.task.pids) ? this.#cgroups?.treeOf("pids") : undefined;
		if (!tree || !limits?.group || this.#watched.has(process.id)) return;
		const group = path.join(tree.base, limits.group);
		const stop = tree.version === 2 ? listen(group, this.#look) : () => {};
		this.#watched.set(process.id, { process, group, stop, strikes: 0, refused: 0, over: false });
		if (tree.version === 1) this.#look();
	}

	/** Marks a process as ended. Its leftovers may still be a runaway; the cgroup is removed with the last of them. */
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
			if (entry.strikes > 1) void this.#end(entry).catch(() => {}); // it is gone
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
		for (const { process, over } of this.#watched.values()) if (!over) process.status(); // settles an unnoticed end
	}
}

/** Watches for refused forks. The kernel notifies the cgroup in which fork failed; since 6.11, the cgroup that has the limit. */
function listen(group: string, told: () => void): () => void {
	const watchers: fs.FSWatcher[] = [];
	for (const dir of [group, path.dirname(group)]) {
		try {
			const watcher = fs.watch(path.join(dir, PIDS_EVENTS), { persistent: false }, told);
			watcher.on("error", () => {}); // removed with its cgroup
			watchers.push(watcher);
		} catch {
			// already ended, or no inotify watches left: the kernel enforces the limit anyway
		}
	}
	return () => {
		for (const watcher of watchers) watcher.close();
	};
}

/** Records the limit for later callers, even if the command had ended and only its leftovers ran away. */
function note(dir: string): void {
	writeRecord(dir, "limit", "pids");
	const exit = readExit(dir);
	if (exit?.kind !== "exit" || exit.limit) return; // otherwise the keeper records the end with the limit
	writeRecord(dir, "exit", `exit ${exit.code} ${exit.signal ?? "-"} limit`);
	fs.utimesSync(path.join(dir, "exit"), exit.at / 1000, exit.at / 1000); // keeps the time of the end
}

async function killAllBut(process: Process, group: string): Promise<void> {
	for (let round = 0; round < KILLS; round++) {
		const seen = pidsIn(group).flatMap((pid) => readStat(pid) ?? []);
		const now = new Set(pidsIn(group)); // in the cgroup before and after the start time was read, so the start time belongs to a member
		const left = seen.filter(({ pid }) => pid !== process.pid && now.has(pid));
		if ([...now].every((pid) => pid === process.pid)) return;
		for (const signal of ["SIGSTOP", "SIGKILL"] as const) for (const each of left) sendSignalTo(each, signal);
		await new Promise((resolve) => setTimeout(resolve, 5));
	}
}

const pidsIn = (group: string): number[] => (readProc(path.join(group, "cgroup.procs")) ?? "").split("\n").filter(Boolean).map(Number);

const numberIn = (group: string, name: string): number => Number(readProc(path.join(group, name)) ?? Number.NaN);

const isAt = (group: string, share: number): boolean => numberIn(group, "pids.current") >= Math.floor(numberIn(group, "pids.max") * share);

/**
 * Returns true if the cgroup is full or has refused more forks since the last check: the members of a fork bomb come and go, so few may be alive at
 * the moment of a check.
 */
function isFull(entry: Watched, group: string): boolean {
	const before = entry.refused;
	entry.refused = refusals(entry.group) + refusals(path.dirname(entry.group));
	return entry.refused > 0 && (entry.refused > before || isAt(group, FULL));
}

/** Returns the refused forks of a cgroup. Depending on its version, the kernel counts in the cgroup that forked or in the one that has the limit. */
const refusals = (group: string): number => Number(/^max (\d+)/m.exec(readProc(path.join(group, PIDS_EVENTS)) ?? "")?.[1] ?? 0);

function isLargest(group: string, above: string): boolean {
	const own = numberIn(group, "pids.current");
	return fs
		.readdirSync(above, { withFileTypes: true })
		.every((entry) => !entry.isDirectory() || !(numberIn(path.join(above, entry.name), "pids.current") > own));
}
