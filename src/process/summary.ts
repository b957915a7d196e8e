/** Describes a process in the terms of the contract, for every list, table and JSON output. */
import { counted, limitText, wholeCharacters } from "../base/index.js";
import { reveal } from "../base/secrets/index.js";
import { asLastSeen, type Spec } from "../keeper/index.js";
import { sightOf } from "../places/index.js";
import { hiddenText, maskedCommand } from "./hidden.js";
import { type LimitMet, limitNote } from "./limits.js";
import { nameOf } from "./names.js";
import type { Process } from "./process.js";
import { type Restart, readRestarts, restartNote } from "./restart.js";
import { isOver, type Status } from "./status.js";

export interface Summary {
	readonly session_id: string;
	readonly name?: string;
	readonly task: string;
	readonly command: string;
	readonly cwd: string;
	readonly place: string;
	readonly pty: boolean;
	readonly pid: number | null;
	readonly status: "running" | "exited" | "killed" | "lost" | "error";
	readonly exit_code: number | null;
	readonly signal: string | null;
	readonly started_at: string;
	readonly ended_at: string | null;
	readonly uptime_seconds: number;
	readonly output_preview: string;
	readonly total_bytes: number;
	/** The restart policy; `restarts` counts them. */
	readonly restart?: Restart;
	readonly restarts?: number;
	/** A limit that it hit. */
	readonly limit?: LimitMet;
	readonly note?: string;
}

const PREVIEW_BYTES = 200;
const PREVIEW_CONTEXT = 4 * 1024; // small, since a list may have many

export function summary(process: Process, status: Status = process.status(), now = Date.now()): Summary {
	const { end } = process.log.bounds();
	return { ...standing(process, status, now), output_preview: preview(process, end, !isOver(status)), total_bytes: end };
}

/** Returns all but the output. Masks secrets in the command; the file in its directory has the full text. */
export function standing(process: Process, status: Status = process.status(), now = Date.now()): Omit<Summary, "output_preview" | "total_bytes"> {
	const { spec } = process;
	const endedAt = "endedAt" in status ? status.endedAt : null;
	const name = nameOf(process);
	const again = spec.restart && readRestarts(process.dir);
	const note = noteOn(status, spec) ?? unseen(process, status) ?? (again && restartNote(again, isOver(status)));
	return {
		session_id: spec.id,
		...(name === undefined ? {} : { name: process.secrets.redact(name) }),
		task: spec.task,
		command: maskedCommand(process),
		cwd: process.secrets.redact(spec.cwd),
		place: spec.place,
		pty: spec.terminal !== undefined,
		pid: "pid" in status ? status.pid : null,
		status: status.status === "starting" || status.status === "elsewhere" ? "running" : status.status,
		exit_code: "exitCode" in status ? status.exitCode : null,
		signal: "signal" in status ? status.signal : null,
		started_at: new Date(spec.startedAt).toISOString(),
		ended_at: endedAt === null ? null : new Date(endedAt).toISOString(),
		...(spec.restart ? { restart: spec.restart, restarts: again?.count ?? 0 } : {}),
		uptime_seconds: Math.max(0, Math.round(((endedAt ?? now) - spec.startedAt) / 1000)),
		...("limit" in status && status.limit ? { limit: status.limit } : {}),
		...(note ? { note } : {}),
	};
}

/** Returns the last bytes, from the start of a line if there is one. */
function preview(process: Process, end: number, live: boolean): string {
	const slice = process.read(Math.max(0, end - PREVIEW_BYTES), PREVIEW_BYTES);
	const bytes = slice.bytes.subarray(0, wholeCharacters(slice.bytes));
	const text = reveal(hiddenText(process, { bytes, offset: slice.offset }, { end, live, context: PREVIEW_CONTEXT }).text);
	const line = text.indexOf("\n");
	return slice.offset > 0 && line >= 0 && line < text.length - 1 ? text.slice(line + 1) : text;
}

/** Returns a note on limits whose violation the kernel does not report. */
function silentLimits({ limits }: Spec): string | undefined {
	const memory = limits?.by.memory?.startsWith("ulimit") && limits.process.memory;
	const pids = limits?.by.pids?.startsWith("ulimit") && limits.process.pids;
	const size = limits?.process.file_size;
	const words = [
		...(memory ? [`each of its programs may have ${limitText("memory", memory)} of memory (ulimit -d)`] : []),
		...(pids ? [`about ${counted(pids, "process or thread", "processes and threads")} may run beside those that were there (ulimit -u)`] : []),
		...(size ? [`no file it writes may be larger than ${limitText("file_size", size)} (ulimit -f)`] : []),
	];
	return words.length > 0 ? `${words.join(", and ")}; what wanted more was refused it, which may be why this failed` : undefined;
}

function noteOn(status: Status, spec: Spec): string | undefined {
	if (status.status === "running" && status.paused === "disk") return "paused: the disk is full; it goes on when there is room";
	if (status.status === "running" && status.paused === "limit") return "paused: its log is full; discard some of it and it goes on";
	if (status.status === "running" && status.paused === "rate") return "paused for a moment: it prints faster than its limit output_rate allows";
	if ("limit" in status && status.limit) return limitNote(status.limit);
	if (status.status === "exited" && status.exitCode !== 0) return silentLimits(spec);
	if (status.status === "running" && status.exitUnseen) return "its keeper was killed: it runs, but its exit code will not be known";
	if (status.status === "lost" || status.status === "error") return status.reason;
	if (status.status === "elsewhere") return `belongs to another host (${status.host}) or container; its state cannot be seen from here`;
	return undefined;
}

/** Returns a note if the machine is unreachable: everything shown is the last known state. */
function unseen({ dir, spec }: Process, status: Status): string | undefined {
	const stale = isOver(status) ? undefined : sightOf(dir, spec).stale;
	return stale && asLastSeen(spec.place, stale.reason, stale.at);
}

/** Returns the result of a kill in the same terms. */
export function killSummary(process: Process, { status, method, signalled, survivors, final }: Awaited<ReturnType<Process["kill"]>>) {
	const exit_code = "exitCode" in final ? final.exitCode : null;
	const signal = "signal" in final ? final.signal : null;
	return { session_id: process.id, status, method, signalled, survivors, exit_code, signal };
}
