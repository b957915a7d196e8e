/**
 * The registry is the directory tree. A process is found by its id. `live` has a file (ticket) for each process not yet known to have ended; `ended`
 * has one for each that has, by the hour of its end. The first program that sees an end moves the ticket, and so settles the end for all programs. Old
 * entries are never read, so they cost nothing.
 */
import fs from "node:fs";
import path from "node:path";
import { noteEnd, type ProcessEnd } from "../audit/index.js";
import { errno, HoldfastError, type Home, idPrefix, isId, namesIn, ownerOf, perHome, removeDir, taskKey, unlinkIfThere } from "../base/index.js";
import { type Cgroups, findRange, HOUR_MS, procDir, type Range, readRanges, readSpec, readState, type Spec, segmentStarts } from "../keeper/index.js";
import type { Machine } from "../places/index.js";
import { forgetForBoot } from "./boot.js";
import { noteRemoved } from "./call-record.js";
import { Process } from "./process.js";
import { whenRemoved } from "./removed.js";
import { isOver, plainlyRuns, readStatus, type Status } from "./status.js";

export const SHOWN_AFTER_EXIT_MS = 30 * 60_000;

/** A file in `ended`. All its data is in its name. */
export interface EndedTicket {
	readonly file: string;
	readonly endedAt: number;
	readonly id: string;
	readonly task: string; // taskKey
	readonly bytes: number;
	/** A slot that has served commands, not a process: a part of the transcript. */
	readonly ranges: boolean;
}

/** Ids of commands whose answer this program is sending: they are removed once it is sent, and until then are in no list. */
export const answeredIn = perHome(() => new Set<string>());

export class Registry {
	readonly home: Home;
	readonly #cgroups: Cgroups | undefined;
	readonly #specs = new Map<string, Spec>(); // of live processes only: a cache, since specs do not change

	/** Called for each end that this registry settles. */
	onEnd: ((id: string) => void) | undefined;

	readonly #machineOf: (spec: Spec) => Machine;

	/** `machineOf`: returns the machine of a process. */
	constructor(home: Home, cgroups: Cgroups | undefined, machineOf: (spec: Spec) => Machine) {
		this.home = home;
		this.#cgroups = cgroups;
		this.#machineOf = machineOf;
	}

	/** Returns the running processes, of one task if given. Settles ends that were not noticed yet. `shells: false`: looks at those of commands only. */
	running(task?: string, { shells = true }: { readonly shells?: boolean } = {}): Process[] {
		const found: Process[] = [];
		const answered = answeredIn(this.home);
		const names = namesIn(this.home.live).filter((id) => isId(id) && !answered.has(id));
		const there = new Set(names);
		for (const id of this.#specs.keys()) if (!there.has(id)) this.#specs.delete(id);
		for (const id of names) {
			const spec = this.#specOf(id);
			if (!spec || (task !== undefined && spec.task !== task) || (!shells && spec.kind !== undefined)) continue;
			const process = this.#process(spec);
			if (plainlyRuns(process.dir, spec)) {
				found.push(process);
				continue;
			}
			const status = process.status();
			if (!isOver(status) && status.status !== "elsewhere") found.push(process);
		}
		return found;
	}

	/** Returns an upper bound of the running processes: the number of tickets in `live`. */
	mayRun(): number {
		return namesIn(this.home.live).length;
	}

	/** Returns the processes that ended in the last half hour. */
	recent(task?: string, now = Date.now()): Process[] {
		const since = now - SHOWN_AFTER_EXIT_MS;
		const key = task === undefined ? undefined : taskKey(task);
		const answered = answeredIn(this.home);
		const found: Process[] = [];
		for (let hour = Math.floor(since / HOUR_MS); hour <= Math.floor(now / HOUR_MS); hour++) {
			for (const ticket of this.ended(String(hour))) {
				if (ticket.ranges || answered.has(ticket.id) || ticket.endedAt < since || (key !== undefined && ticket.task !== key)) continue;
				const process = this.endedProcess(ticket);
				if (process) found.push(process);
			}
		}
		return found;
	}

	/** Finds a process by its id or a unique prefix of it (4 digits or more). Throws NOT_FOUND. */
	find(text: string): Process {
		const found = this.matching(text);
		if (!found)
			throw new HoldfastError(
				"NOT_FOUND",
				`"${text}" is not a process id; ids look like proc_0123456789ab, and 4 digits of one are enough (names are for lists only)`,
			);
		if (found.length > 1)
			throw new HoldfastError("NOT_FOUND", `"${text}" fits ${found.length} processes: ${found.map((process) => process.id).join(", ")}; give more digits`);
		if (!found[0])
			throw new HoldfastError("NOT_FOUND", `${this.whenRemoved(text) ?? `there is no process "${text}"`}; \`holdfast ps --all\` lists those there are`);
		return found[0];
	}

	/** Returns a sentence if a process with this full id was pruned. */
	whenRemoved(text: string): string | undefined {
		const digits = idPrefix(text);
		return digits?.length === 12 ? whenRemoved(this.home, `proc_${digits}`) : undefined;
	}

	/** Returns all processes whose id is, or begins with, this text; undefined if the text cannot be an id. */
	matching(text: string): Process[] | undefined {
		const digits = idPrefix(String(text));
		if (!digits) return undefined;
		const matches = digits.length === 12 ? [`proc_${digits}`] : this.#beginning(digits);
		const found = matches.map((id) => this.#open(id)).filter((process) => process !== undefined);
		const now = found.filter(({ spec }) => !spec.past);
		return now.length > 0 ? now : found;
	}

	/** Returns the ids that begin with these digits, of directories and of commands that they may have served. */
	#beginning(digits: string): string[] {
		const ids = new Set<string>();
		for (const shelf of namesIn(this.home.procs)) {
			for (const name of namesIn(path.join(this.home.procs, shelf))) {
				if (!isId(name)) continue;
				if (name.startsWith(`proc_${digits}`)) ids.add(name);
				else if (name.startsWith(digits.slice(2), 7)) ids.add(`proc_${digits.slice(0, 2)}${name.slice(7)}`);
			}
		}
		return [...ids];
	}

	/** Returns all directories, each as the id that it was created with. */
	directories(): string[] {
		return namesIn(this.home.procs).flatMap((shelf) => namesIn(path.join(this.home.procs, shelf)).filter(isId));
	}

	/**
	 * Returns the directories that contain nothing a task began since `since`, according to their tickets: processes of other tasks, or processes that
	 * ended before. A slot may have served several tasks, so for a slot only the time counts.
	 */
	endedOtherwise(task: string, since: number): Set<string> {
		const key = taskKey(task);
		const found = new Set<string>();
		for (const hour of namesIn(this.home.ended))
			for (const ticket of this.ended(hour)) if (ticket.endedAt < since || (!ticket.ranges && ticket.task !== key)) found.add(ticket.id);
		return found;
	}

	/** Returns the ticket of the process of each task that ended last, by the key of the task's name. */
	lastEnded(): Map<string, EndedTicket> {
		const last = new Map<string, EndedTicket>();
		for (const hour of namesIn(this.home.ended))
			for (const ticket of this.ended(hour)) if (!ticket.ranges && (last.get(ticket.task)?.endedAt ?? 0) <= ticket.endedAt) last.set(ticket.task, ticket);
		return last;
	}

	/** Returns all that a directory has served for a task, in order: commands of a shell, and its current process or command. */
	servedFor(task: string, id: string): Process[] {
		const dir = procDir(this.home, id);
		let spec: Spec | undefined;
		try {
			spec = readSpec(dir);
		} catch {
			return []; // corrupt: `doctor` reports it
		}
		if (!spec) return [];
		const ranges = readRanges(dir);
		const last = ranges.at(-1);
		const isNoted = last?.id === spec.id && last.startedAt === spec.startedAt;
		const past = ranges.filter((range) => range.task === task).map((range) => pastOf(range, spec));
		const now = spec.task === task && spec.kind === undefined && !isNoted ? [spec] : [];
		return [...past, ...now].map((one) => this.#process(one));
	}

	/** Returns the tickets of one hour, oldest first. */
	ended(hour: string): EndedTicket[] {
		const tickets: EndedTicket[] = [];
		for (const name of namesIn(path.join(this.home.ended, hour))) {
			const [ms, id, task, bytes, kind] = name.split(".");
			if (ms && id && isId(id) && task && bytes)
				tickets.push({ file: path.join(this.home.ended, hour, name), endedAt: Number(ms), id, task, bytes: Number(bytes), ranges: kind === "ranges" });
		}
		return tickets.sort((a, b) => a.endedAt - b.endedAt);
	}

	/** Returns the process of a ticket; undefined if its directory is gone or unreadable. */
	endedProcess({ id }: EndedTicket): Process | undefined {
		const spec = this.#specs.get(id) ?? this.#read(id);
		return spec && this.#process(spec);
	}

	process = (spec: Spec): Process => {
		if (!spec.within) this.#specs.set(spec.id, spec); // a slot may serve another command next
		return this.#process(spec);
	};

	/** Moves the ticket of an ended process from `live` to `ended`. Returns true for exactly one of several callers. */
	settle(process: Process, status: Status): boolean {
		const live = path.join(this.home.live, process.id);
		const endedAt = "endedAt" in status ? status.endedAt : Date.now();
		const hour = path.join(this.home.ended, String(Math.floor(endedAt / HOUR_MS)));
		const name = `${Math.floor(endedAt)}.${process.id}.${taskKey(process.spec.task)}.${this.diskUse(process.id)}`;
		try {
			fs.renameSync(live, path.join(hour, name));
		} catch (error) {
			if (errno(error) !== "ENOENT") throw error;
			if (!fs.existsSync(live)) return false; // already settled
			fs.mkdirSync(hour, { recursive: true, mode: 0o700 });
			return this.settle(process, status);
		}
		noteEnd(this.home, { ...endOf(process.spec, status), task: process.spec.task, dir: process.dir });
		this.#specs.delete(process.id);
		const { limits, cgroup, within } = process.spec;
		if (limits?.group) this.#cgroups?.remove(limits.group);
		else if (cgroup && !within) this.#cgroups?.remove(process.id); // started by an earlier version
		this.onEnd?.(process.id);
		// The collector holds the log of a foreground command open until it is told that the command has ended.
		if (within) process.machine.processes.tell(process.id, "release").catch(() => {}); // unreachable: the collector eventually lets go by itself
		if (readState(process.dir).kind === "closed") process.log.release();
		return true;
	}

	/** Removes a process: its directory, then its ticket, so that a crash in between leaves the ticket to find it by. */
	remove(id: string, ticket: string): void {
		const spec = this.#specs.get(id) ?? this.#read(id);
		if (spec) this.#machineOf(spec).processes.forget(id);
		if (spec?.call !== undefined) noteRemoved(this.home, spec);
		if (spec?.restart) forgetForBoot(this.home, id);
		removeDir(procDir(this.home, id));
		unlinkIfThere(ticket);
	}

	/** Removes a process whose end was recorded recently. */
	forget(id: string): void {
		const ticket = this.#ticketOf(id);
		if (ticket) this.remove(id, ticket.file);
	}

	/** Does the same for a command that stays in the transcript: keeps its directory as a slot. */
	retire(id: string): void {
		const ticket = this.#ticketOf(id);
		if (!ticket) return;
		const spec = this.#read(id);
		if (spec) this.#machineOf(spec).processes.forget(id);
		const owner = path.basename(procDir(this.home, id));
		fs.renameSync(ticket.file, path.join(path.dirname(ticket.file), `${ticket.endedAt}.${owner}.${ticket.task}.${ticket.bytes}.ranges`));
	}

	#ticketOf(id: string, now = Date.now()): EndedTicket | undefined {
		const hours = [now, now - HOUR_MS].map((time) => String(Math.floor(time / HOUR_MS)));
		return hours.flatMap((hour) => this.ended(hour)).find((ticket) => ticket.id === id && !ticket.ranges);
	}

	#process(spec: Spec): Process {
		const onEnd = (process: Process, status: Status) => {
			try {
				this.settle(process, status);
			} catch {
				// a full or read-only disk must not make a status fail; the ticket stays in `live`
			}
		};
		return new Process(procDir(this.home, spec.within?.slot ?? spec.id), spec, this.#machineOf(spec), onEnd);
	}

	#open(id: string): Process | undefined {
		const spec = this.#specs.get(id) ?? this.#specAt(id);
		return spec && this.#process(spec);
	}

	/** Returns the spec of a process, or of a command that its slot has served. Throws if the file is unreadable. */
	#specAt(id: string): Spec | undefined {
		const dir = procDir(this.home, id);
		const spec = readSpec(dir);
		if (!spec) return undefined;
		const isCurrent = spec.id === id;
		const hasOwnSlot = spec.within !== undefined && spec.within.slot === undefined; // a range of it says that the rest of its directory is gone
		const range = isCurrent && !hasOwnSlot ? undefined : findRange(dir, id);
		return range ? pastOf(range, spec) : isCurrent ? spec : undefined;
	}

	/** Returns the spec of a live process; undefined if it is unreadable, which `doctor` reports. */
	#specOf(id: string): Spec | undefined {
		const known = this.#specs.get(id);
		if (known) return known;
		const spec = this.#read(id);
		if (spec && !spec.within) this.#specs.set(id, spec);
		return spec;
	}

	#read(id: string): Spec | undefined {
		try {
			const spec = readSpec(procDir(this.home, id));
			return spec?.id === id ? spec : undefined; // otherwise the slot now serves another command
		} catch {
			return undefined; // corrupt: `get` and `doctor` report it
		}
	}

	/** Returns the live tickets whose spec is missing or unreadable. */
	broken(): string[] {
		return namesIn(this.home.live).filter((id) => isId(id) && this.#specOf(id) === undefined);
	}

	/** Returns the processes of another host or pid namespace that shares this home. */
	ofOtherHosts(): Spec[] {
		return namesIn(this.home.live)
			.filter(isId)
			.map((id) => this.#specOf(id))
			.filter((spec) => spec !== undefined && readStatus(procDir(this.home, spec.id), spec).status === "elsewhere") as Spec[];
	}

	/** Returns the keys of the remote machines of all kept processes and shells, including ended ones. Reads every spec. */
	machines(): Set<string> {
		const ids = namesIn(this.home.live).filter(isId);
		for (const hour of namesIn(this.home.ended)) ids.push(...this.ended(hour).map(({ id }) => id));
		return new Set(ids.flatMap((id) => (this.#specs.get(id) ?? this.#read(id))?.box ?? []));
	}

	/** Returns the bytes of output that a process has on disk. */
	diskUse(id: string): number {
		const dir = procDir(this.home, id);
		return segmentStarts(dir).reduce(
			(sum, start) => sum + (fs.statSync(path.join(dir, `out.${String(start).padStart(15, "0")}`), { throwIfNoEntry: false })?.size ?? 0),
			0,
		);
	}
}

/** Returns a command that a slot has served, as a spec. Its other properties are those of the slot's last command. */
function pastOf({ id, task, call, command, cwd, from, to, code, status, startedAt, endedAt }: Range, last: Spec): Spec {
	const { limits: _limits, call: _call, ...rest } = last;
	const within = last.within && { ...last.within, name: "", slot: ownerOf(id), from };
	const own = { id, task, ...(call === undefined ? {} : { call }), command, cwd, startedAt };
	return { ...rest, ...own, ...(within ? { within } : {}), past: { to, code, status: status ?? "exited", endedAt } };
}

/** Returns an end in the terms of the audit. */
export function endOf({ id, startedAt }: Spec, status: Status): Omit<ProcessEnd, "task" | "dir"> {
	return {
		id,
		startedAt,
		status: status.status,
		exitCode: "exitCode" in status ? status.exitCode : null,
		signal: "signal" in status ? status.signal : null,
		endedAt: "endedAt" in status ? status.endedAt : null,
	};
}
