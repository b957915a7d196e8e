/**
 * The registry is the directory tree. A process is found by its id; `live` has a file for each one not yet known to have
 * ended, `ended` one for each that has, by the hour of its end. Whoever sees an end first moves the file, and thereby
 * settles it for everybody. What is old is never looked at, so it costs nothing.
 */
import fs from "node:fs";
import path from "node:path";
import { type End, noteEnd } from "../audit/index.js";
import { errno, HoldfastError } from "../base/errors.js";
import { namesIn, removeDir, unlinkIfThere } from "../base/files.js";
import type { Home } from "../base/home.js";
import { idPrefix, isId, taskKey } from "../base/ids.js";
import type { Cgroups } from "../keeper/cgroup.js";
import { procDir, readState, segmentStarts } from "../keeper/layout.js";
import type { Box } from "../places/far/box.js";
import { Process } from "./process.js";
import { readSpec, type Spec } from "./spec.js";
import { isOver, plainlyRuns, readStatus, type Status } from "./status.js";

export const HOUR_MS = 3_600_000;
export const SHOWN_AFTER_EXIT_MS = 30 * 60_000;

/** A file in `ended`. Its name is all there is to it. */
export interface EndedTicket {
	readonly file: string;
	readonly endedAt: number;
	readonly id: string;
	readonly task: string; // taskKey
	readonly bytes: number;
}

export class Registry {
	readonly home: Home;
	readonly #cgroups: Cgroups | undefined;
	readonly #specs = new Map<string, Spec>(); // of live ones only: what was written once need not be read again

	/** Told of each end that is settled here. */
	onEnd: ((id: string) => void) | undefined;

	readonly #boxOf: (spec: Spec) => Box | undefined;

	/** `boxOf`: the machine that a process is on, if that is not this one. */
	constructor(home: Home, cgroups: Cgroups | undefined, boxOf: (spec: Spec) => Box | undefined = () => undefined) {
		this.home = home;
		this.#cgroups = cgroups;
		this.#boxOf = boxOf;
	}

	/** Running ones, and with a task only its own. Ends that nobody has noticed yet are settled on the way. */
	running(task?: string): Process[] {
		const found: Process[] = [];
		const names = namesIn(this.home.live).filter(isId);
		const there = new Set(names);
		for (const id of this.#specs.keys()) if (!there.has(id)) this.#specs.delete(id);
		for (const id of names) {
			const spec = this.#specOf(id);
			if (!spec || (task !== undefined && spec.task !== task)) continue;
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

	/** How many could be running, at most: what is in `live`, whether its end has been noticed or not. */
	mayRun(): number {
		return namesIn(this.home.live).length;
	}

	/** Those that ended in the last half hour. */
	recent(task?: string, now = Date.now()): Process[] {
		const since = now - SHOWN_AFTER_EXIT_MS;
		const key = task === undefined ? undefined : taskKey(task);
		const found: Process[] = [];
		for (let hour = Math.floor(since / HOUR_MS); hour <= Math.floor(now / HOUR_MS); hour++) {
			for (const ticket of this.ended(String(hour))) {
				if (ticket.endedAt < since || (key !== undefined && ticket.task !== key)) continue;
				const spec = this.#specs.get(ticket.id) ?? this.#read(ticket.id);
				if (spec) found.push(this.#process(spec));
			}
		}
		return found;
	}

	/** By id, or by a unique beginning of it (4 digits or more). */
	find(text: string): Process {
		const found = this.matching(text);
		if (!found)
			throw new HoldfastError(
				"NOT_FOUND",
				`"${text}" is not a process id; ids look like proc_0123456789ab, and 4 digits of one are enough (names are for lists only)`,
			);
		if (found.length > 1)
			throw new HoldfastError("NOT_FOUND", `"${text}" fits ${found.length} processes: ${found.map((process) => process.id).join(", ")}; give more digits`);
		if (!found[0]) throw new HoldfastError("NOT_FOUND", `there is no process "${text}"; \`holdfast ps --all\` lists those there are`);
		return found[0];
	}

	/** All whose id is, or begins with, this; undefined when it can be no id. */
	matching(text: string): Process[] | undefined {
		const digits = idPrefix(String(text));
		if (!digits) return undefined;
		const shelf = path.join(this.home.procs, digits.charAt(0));
		const matches = digits.length === 12 ? [`proc_${digits}`] : namesIn(shelf).filter((name) => isId(name) && name.startsWith(`proc_${digits}`));
		return matches.map((id) => this.#open(id)).filter((process) => process !== undefined);
	}

	/** The tickets of one hour, oldest first. */
	ended(hour: string): EndedTicket[] {
		const tickets: EndedTicket[] = [];
		for (const name of namesIn(path.join(this.home.ended, hour))) {
			const [ms, id, task, bytes] = name.split(".");
			if (ms && id && isId(id) && task && bytes)
				tickets.push({ file: path.join(this.home.ended, hour, name), endedAt: Number(ms), id, task, bytes: Number(bytes) });
		}
		return tickets.sort((a, b) => a.endedAt - b.endedAt);
	}

	process = (spec: Spec): Process => {
		if (!spec.within) this.#specs.set(spec.id, spec); // a shell's log may serve another command next
		return this.#process(spec);
	};

	/** Move the ticket of an ended process from `live` to `ended`. Of all who try, one succeeds: true. */
	settle(process: Process, status: Status): boolean {
		const live = path.join(this.home.live, process.id);
		const endedAt = "endedAt" in status ? status.endedAt : Date.now();
		const hour = path.join(this.home.ended, String(Math.floor(endedAt / HOUR_MS)));
		const bounds = process.log.bounds();
		const name = `${Math.floor(endedAt)}.${process.id}.${taskKey(process.spec.task)}.${bounds.end - bounds.first}`;
		try {
			fs.renameSync(live, path.join(hour, name));
		} catch (error) {
			if (errno(error) !== "ENOENT") throw error;
			if (!fs.existsSync(live)) return false; // settled before
			fs.mkdirSync(hour, { recursive: true, mode: 0o700 });
			return this.settle(process, status);
		}
		noteEnd(this.home, { ...endOf(process.spec, status), task: process.spec.task, dir: process.dir });
		this.#specs.delete(process.id);
		const { limits, cgroup, within } = process.spec;
		if (limits?.group) this.#cgroups?.remove(limits.group);
		else if (cgroup && !within) this.#cgroups?.remove(process.id); // of an earlier version
		this.onEnd?.(process.id);
		if (process.spec.within) {
			const box = this.#boxOf(process.spec);
			if (box)
				void box.tell(process.id, "release").catch(() => {}); // out of reach: it lets go by itself some day
			else letGo(process.dir);
		}
		if (readState(process.dir).kind === "closed") process.log.release();
		return true;
	}

	/** Remove a process for good: its directory, then its ticket, so that a crash in between leaves the ticket to find it by. */
	remove(id: string, ticket: string): void {
		const spec = this.#specs.get(id) ?? this.#read(id);
		if (spec?.box !== undefined) this.#boxOf(spec)?.forget(id);
		removeDir(procDir(this.home, id));
		unlinkIfThere(ticket);
	}

	/** Remove one whose end somebody has noted, not long ago. */
	forget(id: string, now = Date.now()): void {
		for (const hour of [now, now - HOUR_MS].map((time) => String(Math.floor(time / HOUR_MS))))
			for (const ticket of this.ended(hour)) if (ticket.id === id) this.remove(id, ticket.file);
	}

	#process(spec: Spec): Process {
		const onEnd = (process: Process, status: Status) => {
			try {
				this.settle(process, status);
			} catch {
				// housekeeping, which a full or read-only disk must not let a status fail for; the ticket stays in `live`
			}
		};
		return new Process(procDir(this.home, spec.id), spec, onEnd, this.#boxOf(spec));
	}

	#open(id: string): Process | undefined {
		const spec = this.#specs.get(id) ?? readSpec(procDir(this.home, id));
		return spec && this.#process(spec);
	}

	/** The spec of a live one. One that cannot be read is left out: `doctor` names it. */
	#specOf(id: string): Spec | undefined {
		const known = this.#specs.get(id);
		if (known) return known;
		const spec = this.#read(id);
		if (spec && !spec.within) this.#specs.set(id, spec);
		return spec;
	}

	#read(id: string): Spec | undefined {
		try {
			return readSpec(procDir(this.home, id));
		} catch {
			return undefined; // corrupt; `get` says so, and `doctor`
		}
	}

	/** Live tickets whose directory cannot be used: no spec, or one that cannot be read. */
	broken(): string[] {
		return namesIn(this.home.live).filter((id) => isId(id) && this.#specOf(id) === undefined);
	}

	/** Processes that belong to another host or pid namespace that shares this home. */
	elsewhere(): Spec[] {
		return namesIn(this.home.live)
			.filter(isId)
			.map((id) => this.#specOf(id))
			.filter((spec) => spec !== undefined && readStatus(procDir(this.home, spec.id), spec).status === "elsewhere") as Spec[];
	}

	/** The machines that kept processes and shells are on, besides this one, those that have ended included. Reads all there are. */
	boxes(): Set<string> {
		const ids = namesIn(this.home.live).filter(isId);
		for (const hour of namesIn(this.home.ended)) ids.push(...this.ended(hour).map(({ id }) => id));
		return new Set(ids.flatMap((id) => (this.#specs.get(id) ?? this.#read(id))?.box ?? []));
	}

	/** Bytes of output a process has on disk. */
	diskUse(id: string): number {
		const dir = procDir(this.home, id);
		return segmentStarts(dir).reduce(
			(sum, start) => sum + (fs.statSync(path.join(dir, `out.${String(start).padStart(15, "0")}`), { throwIfNoEntry: false })?.size ?? 0),
			0,
		);
	}
}

/** An end in the words of the audit. */
export function endOf({ id, startedAt }: Spec, status: Status): Omit<End, "task" | "dir"> {
	return {
		id,
		startedAt,
		status: status.status,
		exitCode: "exitCode" in status ? status.exitCode : null,
		signal: "signal" in status ? status.signal : null,
		endedAt: "endedAt" in status ? status.endedAt : null,
	};
}

/** The log of a foreground command is held open by its collector until somebody says that the command has ended. */
function letGo(dir: string): void {
	try {
		const fd = fs.openSync(path.join(dir, "ctl"), fs.constants.O_WRONLY | fs.constants.O_NONBLOCK);
		fs.writeSync(fd, "\nrelease\n");
		fs.closeSync(fd);
	} catch (error) {
		if (errno(error) !== "ENXIO" && errno(error) !== "ENOENT") throw error; // ENXIO: it has closed already
	}
}
