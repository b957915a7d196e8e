/** The state of a process, in the fields of a result. */
import { DRAIN_MS } from "../base/index.js";
import { readState } from "../keeper/index.js";
import { isDrained } from "../places/index.js";
import { isOver, type LimitMet, type Process, type Status, type Summary, standing } from "../process/index.js";
import type { Ask } from "./ask.js";
import type { TerminalResult } from "./result.js";

export interface State {
	readonly status: Summary["status"];
	readonly exit_code: number | null;
	readonly session_id: string;
	readonly pid: number | null;
	/** Only if certain. */
	readonly signal?: string;
	/** The limit that the process met. */
	readonly limit?: TerminalResult["limit"];
	/** For instance: paused, lost. */
	readonly note?: string;
}

/** Returns the status. After the end, waits until the log has the last output; else a note says that it has not. */
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

/** Returns a note about processes left running after its end; empty if there are none. */
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
