/** Processes, questions and places as events. */
import type { Approval } from "../approvals/index.js";
import { type Home, readIfThere } from "../base/index.js";
import { IDLE, placeName, recallPlace } from "../places/index.js";
import { isOver, maskedCommand, type Process, type Status } from "../process/index.js";
import type { Happening } from "./event.js";

export const about = (process: Process) => ({ task: process.spec.task, session_id: process.id, byte_offset: process.log.bounds().end });

export const started = (process: Process): Happening => ({
	type: "process.started",
	time: process.spec.startedAt,
	...about(process),
	command: maskedCommand(process),
	place: process.spec.place,
	pty: process.spec.terminal !== undefined,
	foreground: process.spec.within !== undefined,
});

/** `status` undefined: a foreground command that is gone, with its record. */
export function ended(process: Process, status: Status | undefined, time?: number): Happening {
	const endedAt = status && "endedAt" in status ? status.endedAt : null;
	return {
		type: "process.ended",
		...(time === undefined ? {} : { time }),
		...about(process),
		status: status && isOver(status) ? status.status : "unknown",
		exit_code: status && "exitCode" in status ? status.exitCode : null,
		signal: status && "signal" in status ? status.signal : null,
		ended_at: endedAt === null ? null : new Date(endedAt).toISOString(),
	};
}

export const asked = ({ id, task, command, cwd, place, created_at }: Approval): Happening => ({
	type: "approval.asked",
	time: Date.parse(created_at),
	task,
	approval_id: id,
	command,
	cwd,
	place,
});

/** Undefined while it waits for an answer. */
export function answered({ id, task, state, answer, by, answered_at, expires_at }: Approval): Happening | undefined {
	if (state === "pending") return undefined;
	const time = state === "expired" ? Date.parse(expires_at) : answered_at === undefined ? undefined : Date.parse(answered_at);
	return {
		type: "approval.answered",
		...(time === undefined ? {} : { time }),
		task,
		approval_id: id,
		answer: state === "answered" ? (answer ?? "no") : state,
		by: by ?? null,
	};
}

/** The container that `places/KEY.life` is about, as it is now; undefined when nothing is known of it. */
export function lifeOf(home: Home, file: string): { readonly place: string; readonly task: string; readonly box: string | null } | undefined {
	const key = /([^/]+)\.life$/.exec(file)?.[1];
	try {
		const remembered = key === undefined ? undefined : recallPlace(home, key);
		const life = readIfThere(file);
		return remembered && { place: placeName(remembered.wish), task: remembered.task, box: life === undefined || life.startsWith(IDLE) ? null : life };
	} catch {
		return undefined; // the program that needs the file says that it cannot be read
	}
}
