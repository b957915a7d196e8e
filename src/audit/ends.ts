/**
 * How a process of an agent ended is written down by whoever notes its end first, which may be long after, and another program: a file
 * in its directory says under which name it was put on record. What nobody has noted yet is worked out when the audit is read.
 */
import fs from "node:fs";
import path from "node:path";
import { readIfThere } from "../base/files.js";
import type { Home } from "../base/home.js";
import { Audit } from "./audit.js";
import type { AuditNews } from "./event.js";

const FILE = "audit";

/** `run`: its name in the audit. */
export function markAudited(dir: string, run: string): void {
	fs.writeFileSync(path.join(dir, FILE), run, { mode: 0o600 });
}

/** The call it was started for, by its name in the audit; undefined for what a person started. */
export const runOf = (dir: string): string | undefined => readIfThere(path.join(dir, FILE));

export interface End {
	readonly id: string;
	readonly task: string;
	readonly dir: string;
	readonly startedAt: number;
	readonly status: string;
	readonly exitCode: number | null;
	readonly signal: string | null;
	/** null when nobody saw it. */
	readonly endedAt: number | null;
}

export function noteEnd(home: Home, end: End): void {
	const run = runOf(end.dir);
	if (run !== undefined) Audit.note(home, end.task, endOf(end, run));
}

export function endOf({ id, startedAt, status, exitCode, signal, endedAt }: Omit<End, "task" | "dir">, run: string): AuditNews {
	return {
		event: "ended",
		run,
		session_id: id,
		status,
		exit_code: exitCode,
		...(signal === null ? {} : { signal }),
		...(endedAt === null ? {} : { ended_at: new Date(endedAt).toISOString(), duration_ms: Math.max(0, Math.round(endedAt - startedAt)) }),
	};
}
