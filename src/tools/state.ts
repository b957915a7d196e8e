/** How a process stands, in the fields of a result. */
import { readState } from "../keeper/layout.js";
import type { LimitMet } from "../process/limits.js";
import type { Process } from "../process/process.js";
import { isDrained, isOver, type Status } from "../process/status.js";
import { type Summary, standing } from "../process/summary.js";
import type { Ask } from "./ask.js";
import type { TerminalResult } from "./result.js";

export interface State {
	readonly status: Summary["status"];
	readonly exit_code: number | null;
	readonly session_id: string;
	readonly pid: number | null;
	/** Where it is certain. */
	readonly signal?: string;
	/** That it met. */
	readonly limit?: TerminalResult["limit"];
	/** Paused, lost, and the like. */
	readonly note?: string;
}

const DRAIN_MS = 1_500;

/** How it stands; if it has ended, what it printed last is in the log by now, or a note says that it is not. */
export async function settledStatus({ notes }: Pick<Ask, "notes">, process: Process): Promise<Status> {
	const status = process.status();
	if (!isOver(status) || isDrained(process.dir)) return status;
	await process.wait({ timeout: DRAIN_MS });
	if ((status.status === "exited" || status.status === "killed") && !isDrained(process.dir)) {
		const state = readState(process.dir);
		const why = state.kind === "paused" && state.why === "disk" ? " because the disk is full" : "";
		notes.push(`What it printed last has not reached its log yet${why}; process(action="poll") shows it once it has.`);
	}
	return status;
}

/** What it has left running after its end, in words; empty when there is nothing. */
export async function leftNote(process: Process): Promise<string[]> {
	const pids = process.unreachable === undefined ? await process.leftovers() : [];
	if (pids.length === 0) return [];
	return [`It has ended and left something running (pid ${pids.join(", ")}); process(action="kill", session_id="${process.id}") ends that too.`];
}

export const limitField = ({ left: _, ...limit }: LimitMet): NonNullable<TerminalResult["limit"]> => limit;

export function stateOf(process: Process, seen: Status = process.status()): State & { uptime_seconds: number } {
	const { status, exit_code, session_id, pid, signal, limit, note, uptime_seconds } = standing(process, seen);
	return {
		status,
		exit_code,
		session_id,
		pid,
		...(signal === null ? {} : { signal }),
		...(limit ? { limit: limitField(limit) } : {}),
		uptime_seconds,
		...(note === undefined ? {} : { note }),
	};
}
