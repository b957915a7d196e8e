/** Reads the audit line by line, and adds the ends that no program has written down yet. */
import fs from "node:fs";
import path from "node:path";
import { type Home, namesIn, readIfThere, statIfThere, Wakeup } from "../base/index.js";
import { auditFile, olderFile } from "./audit.js";
import { endOf, type ProcessEnd } from "./ends.js";
import { type AuditEvent, eventSchema } from "./event.js";

export interface AuditQuery {
	/** Only lines of this task. */
	readonly task?: string;
	/** From then on, in milliseconds as of Date.now(). */
	readonly since?: number;
}

/** How a process stands, by its id: undefined while it runs, null when nothing is known of it. */
export type EndOf = (id: string) => Omit<ProcessEnd, "task" | "dir"> | undefined | null;

/** In the order of time. Lines that cannot be read (a full disk has cut them) are left out. */
export function readAudit(home: Home, query: AuditQuery, end: EndOf): AuditEvent[] {
	const files =
		query.task === undefined
			? namesIn(home.audit)
					.filter((name) => name.endsWith(".jsonl"))
					.map((name) => path.join(home.audit, name))
			: both(auditFile(home, query.task));
	const events = files.flatMap((file) => parsed(readIfThere(file) ?? "")).filter(({ task }) => query.task === undefined || task === query.task);
	const ended = new Set(events.filter(({ event }) => event === "ended").map(({ run }) => run));
	const missing = events.filter(({ event, run }) => event === "run" && !ended.has(run)).flatMap((event) => workedOut(event, end));
	return [...events, ...missing].filter(({ at }) => Date.parse(at) >= (query.since ?? 0)).sort((a, b) => Date.parse(a.at) - Date.parse(b.at));
}

/** Returns the last command on record that had this id, of whatever task. Reads all files there are, one at a time. */
export function lastRun(home: Home, id: string): AuditEvent | undefined {
	const names = namesIn(home.audit).filter((name) => name.endsWith(".jsonl"));
	const found = names.flatMap((name) => {
		const lines = (readIfThere(path.join(home.audit, name)) ?? "").split("\n").filter((line) => line.includes(`"session_id":"${id}"`));
		return parsed(lines.join("\n")).filter(({ event }) => event === "run");
	});
	return found.sort((a, b) => (a.at < b.at ? -1 : 1)).at(-1);
}

/** Yields new lines as they are written. */
export async function* followAudit(home: Home, query: AuditQuery, signal: AbortSignal): AsyncGenerator<AuditEvent, void> {
	const read = new Map<string, { ino: number; offset: number }>();
	const wakeup = new Wakeup();
	const unwatch = home.watch.directory(home.audit, wakeup.poke);
	const names = () => namesIn(home.audit).filter((name) => name.endsWith(".jsonl") && !name.endsWith(".old.jsonl"));
	for (const name of names()) {
		const stat = statIfThere(path.join(home.audit, name));
		if (stat) read.set(name, { ino: stat.ino, offset: stat.size });
	}
	try {
		while (!signal.aborted) {
			for (const name of names()) {
				const file = path.join(home.audit, name);
				const known = read.get(name);
				// A rotated file is read to its end first.
				const old =
					known && statIfThere(file)?.ino !== known.ino && statIfThere(olderFile(file))?.ino === known.ino
						? linesFrom(olderFile(file), known.offset)
						: undefined;
				const from = known && statIfThere(file)?.ino === known.ino ? known.offset : 0;
				const lines = linesFrom(file, from);
				read.set(name, { ino: lines.ino, offset: lines.next });
				for (const event of parsed((old?.text ?? "") + lines.text)) if (query.task === undefined || event.task === query.task) yield event;
			}
			await wakeup.next(undefined, signal);
		}
	} finally {
		unwatch();
	}
}

const both = (file: string): string[] => [olderFile(file), file];

/** Whole lines from an offset on. */
function linesFrom(file: string, offset: number): { text: string; next: number; ino: number } {
	const fd = fs.openSync(file, "r");
	try {
		const { size, ino } = fs.fstatSync(fd);
		const bytes = Buffer.alloc(Math.max(0, size - offset));
		const got = bytes.subarray(0, fs.readSync(fd, bytes, 0, bytes.length, offset));
		const whole = got.subarray(0, got.lastIndexOf(10) + 1);
		return { text: whole.toString("utf8"), next: offset + whole.length, ino };
	} finally {
		fs.closeSync(fd);
	}
}

function parsed(text: string): AuditEvent[] {
	return text.split("\n").flatMap((line) => {
		try {
			return line === "" ? [] : [eventSchema.parse(JSON.parse(line))];
		} catch {
			return [];
		}
	});
}

function workedOut({ at, task, run, session_id }: AuditEvent, end: EndOf): AuditEvent[] {
	if (run === undefined || session_id === undefined) return [];
	const known = end(session_id);
	if (known === undefined) return [];
	if (known === null)
		return [
			{
				at,
				task,
				event: "ended",
				run,
				session_id,
				worked_out: true,
				status: "unknown",
				note: "its record is gone, and no program has written down how it ended",
			},
		];
	const { event, ...rest } = endOf(known, run);
	return [{ at: rest.ended_at ?? at, task, event, ...rest, worked_out: true }];
}
