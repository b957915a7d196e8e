/**
 * Everything that a task did, in the order of time: its commands and processes from what they have left in the home, the rest from its audit. What is read
 * at once is where each command is, and the audit, which has 16 MiB at most; commands and output are read one at a time.
 */
import { createHash } from "node:crypto";
import { type AuditEvent, readAudit } from "../audit/index.js";
import { commandIn, type Process, type Runtime, ServedCommands } from "../process/index.js";
import { knowShellSecrets } from "../shell/index.js";
import type { EntryKind, TranscriptEntry } from "./entry.js";

export interface TranscriptQuery {
	/** Only what was from then on, in milliseconds. */
	readonly since?: number | undefined;
	readonly signal?: AbortSignal | undefined;
}

/** An entry, and the process whose output belongs to it. */
export interface EntryOfProcess {
	readonly entry: TranscriptEntry;
	readonly process?: Process;
}

/** The line `run` of a command, and how the audit says that it ended. */
interface Run {
	readonly run: AuditEvent;
	readonly end?: AuditEvent;
}

interface Placed {
	readonly at: number;
	readonly id: string;
	readonly key: string;
	readonly open: () => EntryOfProcess | undefined;
}

/** The line `run` is written a moment before its process has a start time. */
const BEFORE_MS = 60_000;

export class TaskTranscript {
	readonly task: string;
	readonly #entries: readonly Placed[];

	private constructor(task: string, entries: readonly Placed[]) {
		this.task = task;
		this.#entries = entries;
	}

	/** Reads the transcript as it is now. */
	static async of(runtime: Runtime, task: string, { since = 0, signal }: TranscriptQuery = {}): Promise<TaskTranscript> {
		const commands = await ServedCommands.of(runtime, task, { since, signal });
		const events = readAudit(runtime.home, { task, since: Math.max(0, since - BEFORE_MS) }, () => undefined);
		const runs = runsIn(events);
		const placed: Placed[] = commands.entries.map((entry) => {
			const run = takeNearest(runs.get(entry.id), entry.startedAt);
			const open = (): EntryOfProcess | undefined => {
				const process = commands.open(entry);
				if (process) knowShellSecrets(runtime.home, process.spec);
				return process ? tellOf(process, run) : run && { entry: gone(runtime, run) };
			};
			const id = idOfCommand(entry.startedAt, entry.id);
			return { at: entry.startedAt, id, key: id, open };
		});
		for (const left of runs.values()) for (const run of left) placed.push({ ...placeOf(run.run), open: () => ({ entry: gone(runtime, run) }) });
		for (const event of events) {
			if (isPartOfCommand(event)) continue;
			const place = placeOf(event);
			placed.push({ ...place, open: () => ({ entry: entryOf(event, place.id) }) });
		}
		return new TaskTranscript(task, sorted(placed, since));
	}

	get length(): number {
		return this.#entries.length;
	}

	/** How many entries are before this one, or before where it was. */
	positionOf(id: string): number {
		const at = this.#entries.findIndex((entry) => entry.id === id);
		if (at >= 0) return at;
		const time = Number(id.split(".", 1)[0]);
		const later = this.#entries.findIndex((entry) => entry.at >= time);
		return later < 0 || Number.isNaN(time) ? this.#entries.length : later;
	}

	/** How many entries are before the one that follows this. */
	behind(id: string): number {
		const at = this.positionOf(id);
		return this.#entries[at]?.id === id ? at + 1 : at;
	}

	/** Yields those from one position to another, oldest first; what was removed meanwhile is left out. */
	*read(from = 0, to = this.length): Generator<EntryOfProcess, void> {
		for (const { open } of this.#entries.slice(from, to)) {
			const told = open();
			if (told) yield told;
		}
	}
}

function sorted(placed: readonly Placed[], since: number): Placed[] {
	const seen = new Set<string>();
	return placed
		.filter(({ at, key }) => {
			if (at < since || seen.has(key)) return false;
			seen.add(key);
			return true;
		})
		.sort((a, b) => a.at - b.at);
}

const isPartOfCommand = ({ event }: AuditEvent): boolean => event === "run" || event === "ended";

/** The commands in the audit, by the id of their process, oldest first. */
function runsIn(events: readonly AuditEvent[]): Map<string, Run[]> {
	const ends = new Map(events.flatMap((event) => (event.event === "ended" && event.run !== undefined ? [[event.run, event] as const] : [])));
	const runs = new Map<string, Run[]>();
	for (const run of events) {
		if (run.event !== "run" || run.session_id === undefined) continue;
		const end = ends.get(run.run ?? "");
		runs.set(run.session_id, [...(runs.get(run.session_id) ?? []), { run, ...(end ? { end } : {}) }]);
	}
	return runs;
}

/** Takes the line that a process was put on record with: on another machine one id may have been several commands', of which the last is there. */
function takeNearest(runs: Run[] | undefined, startedAt: number): Run | undefined {
	if (!runs || runs.length === 0) return undefined;
	const away = runs.map(({ run }) => Math.abs(Date.parse(run.at) - startedAt));
	return runs.splice(away.indexOf(Math.min(...away)), 1)[0];
}

const idOfCommand = (startedAt: number, id: string): string => `${startedAt}.${id}`;

/** `key`: two lines with the same one are the same. A notice that was found again after a crash has another time. */
function placeOf(event: AuditEvent): { readonly at: number; readonly id: string; readonly key: string } {
	const at = Date.parse(event.at);
	const id = `${at}.${createHash("sha256").update(JSON.stringify(event)).digest("hex").slice(0, 12)}`;
	return { at, id, key: event.notice_id ?? id };
}

/** A command or process with its record. */
export function tellOf(process: Process, { run, end }: Partial<Run> = {}): EntryOfProcess | undefined {
	const known = commandIn(process);
	if (!known) return undefined;
	const { id, task, call, command, cwd, place, pty, status, exit_code, started_at, ended_at, bytes } = known;
	const duration_ms = end?.duration_ms ?? (ended_at === null ? null : Date.parse(ended_at) - Date.parse(started_at));
	const entry: TranscriptEntry = {
		entry_id: idOfCommand(process.spec.startedAt, id),
		at: started_at,
		kind: "command",
		task,
		session_id: id,
		...(call === undefined ? {} : { call }),
		command,
		cwd,
		place,
		...pick(run, ["user", "by", "rule", "approval_id"]),
		pty,
		status,
		exit_code,
		...pick(end, ["signal"]),
		ended_at,
		duration_ms,
		bytes,
	};
	return { entry, process };
}

/** A command whose record is gone: what the audit has of it. On another machine one that printed nothing has none, and its id is the next one's. */
function gone({ home, registry }: Runtime, { run, end }: Run): TranscriptEntry {
	const id = run.session_id as string;
	const removed = registry.whenRemoved(id);
	const where = run.place === undefined || run.place === "local" ? "" : `: it ran on ${home.secrets.redact(run.place)}`;
	const silent = end?.bytes === 0;
	const unkept = removed ?? (silent ? undefined : `the output of ${id} is not kept${where}`);
	return {
		entry_id: placeOf(run).id,
		at: run.at,
		kind: "command",
		task: run.task,
		...(silent && removed === undefined ? {} : { session_id: id }),
		...pick(run, ["call", "command", "cwd", "place", "user", "by", "rule", "approval_id"]),
		status: end?.status ?? "unknown",
		exit_code: end?.exit_code ?? null,
		...pick(end, ["signal"]),
		ended_at: end ? (end.ended_at ?? end.at) : null,
		duration_ms: end?.duration_ms ?? null,
		bytes: silent ? 0 : null,
		...(unkept === undefined ? {} : { note: unkept }),
	};
}

/** A line of the audit as an entry. */
export function entryOf(event: AuditEvent, entry_id = placeOf(event).id): TranscriptEntry {
	const { event: kind, at, task, parts: _parts, run: _run, notice_id: _notice, worked_out: _worked, ...rest } = event;
	const rule = event.parts?.find(({ rule: name }) => name !== null)?.rule;
	return { entry_id, at, kind: kind as EntryKind, task, ...(rule === undefined ? {} : { rule }), ...rest };
}

function pick<T extends object, K extends keyof T>(from: T | undefined, names: readonly K[]): Partial<Pick<T, K>> {
	const found: Partial<Pick<T, K>> = {};
	for (const name of names) if (from?.[name] !== undefined) found[name] = from[name];
	return found;
}
