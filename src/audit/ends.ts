/**
 * The first program that notes the end of an agent's process writes it down, perhaps long afterwards: a file
 * in its directory says under which name it was put on record. An end that was not noted yet is worked out when the audit is read.
 */
import fs from "node:fs";
import path from "node:path";
import { type Home, readIfThere } from "../base/index.js";
import { Audit } from "./audit.js";
import type { AuditNews } from "./event.js";

const FILE = "audit";

/** `run`: its name in the audit. */
export function markAudited(dir: string, run: string): void {
	fs.writeFileSync(path.join(dir, FILE), run, { mode: 0o600 });
}

/** The call it was started for, by its name in the audit; undefined for what a person started. */
export const runOf = (dir: string): string | undefined => readIfThere(path.join(dir, FILE));

export interface ProcessEnd {
	readonly id: string;
	readonly task: string;
	readonly dir: string;
	readonly startedAt: number;
	readonly status: string;
	readonly exitCode: number | null;
	readonly signal: string | null;
	/** null when no program saw it. */
	readonly endedAt: number | null;
}

export function noteEnd(home: Home, end: ProcessEnd): void {
	const run = runOf(end.dir);
	if (run !== undefined) Audit.note(home, end.task, endOf(end, run));
}

export function endOf({ id, startedAt, status, exitCode, signal, endedAt }: Omit<ProcessEnd, "task" | "dir">, run: string): AuditNews {
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
