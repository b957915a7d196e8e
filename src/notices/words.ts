/** Notices in words, for a model: short, with what to do next. All text that leaves this room is made here. */
import { counted, plainText } from "../base/index.js";
import { limitNote, maskedCommand, type Process, type Status } from "../process/index.js";
import { excerpt, type Tail, tailOf } from "./excerpts.js";
import { FLOOD_COUNT, FLOOD_MS, FLOOD_PAUSE_MS, LIFETIME, STRIKES, WINDOW_MS } from "./limits.js";
import type { News } from "./notice.js";
import type { FoundLines } from "./search.js";

const COMMAND_SHOWN = 200;
const END_SHOWN = 2000;
const PROGRESS_SHOWN = 1000;

type Ended = Extract<Status, { status: "exited" | "killed" | "lost" }>;

export const completedId = (id: string): string => `${id}-completed`;

export function completed(process: Process, status: Ended): News {
	const tail = tailOf(process, END_SHOWN);
	return {
		id: completedId(process.id),
		kind: "completed",
		session_id: process.id,
		text: `${name(process)} ${how(process, status)}.${output(process, tail, "It printed nothing.", "Its last output")}`,
		status: status.status,
		exit_code: status.exitCode,
		signal: status.status === "lost" ? null : status.signal,
		...(status.status !== "lost" && status.limit ? { limit: status.limit.name } : {}),
		byte_offset: tail.offset,
	};
}

function how(process: Process, status: Ended): string {
	if (status.status === "lost") return `has ended, but its exit code is not known: ${status.reason}`;
	const after = `after ${duration(status.endedAt - process.spec.startedAt)}`;
	const signal = status.signal ? ` (${status.signal})` : "";
	if (status.limit)
		return `${status.status === "killed" ? "was killed" : "ended"} ${after} with exit code ${status.exitCode}${signal}; ${lowerFirst(limitNote(status.limit).replace(/\.$/, ""))}`;
	return status.status === "killed"
		? `was killed ${after}, exit code ${status.exitCode}${signal}`
		: `ended ${after} with exit code ${status.exitCode}${signal}`;
}

const lowerFirst = (text: string): string => text.charAt(0).toLowerCase() + text.slice(1);

export function progress(process: Process, from: number, now: number): News {
	const tail = tailOf(process, PROGRESS_SHOWN, from);
	return {
		id: `${process.id}-progress-${from}`,
		kind: "progress",
		session_id: process.id,
		text: `${name(process)} still runs after ${duration(now - process.spec.startedAt)}.${output(process, tail, "", "New output")}`,
		byte_offset: tail.offset,
	};
}

export function match(process: Process, found: FoundLines, unsaid: { suppressed: number; missed: number }): News {
	const cut = found.count - found.lines.length;
	const suppressed = unsaid.suppressed + cut;
	const patterns = found.patterns.map((pattern) => JSON.stringify(pattern)).join(", ");
	return {
		id: `${process.id}-match-${found.offset}`,
		kind: "match",
		session_id: process.id,
		text: [
			`${name(process)} printed ${lines(found.count)} with ${patterns}:`,
			...found.lines,
			...(cut > 0 ? [`(${lines(cut)} more not shown; ${readFrom(process, found.offset)})`] : []),
			...(unsaid.suppressed > 0
				? [`(${counted(unsaid.suppressed, "line matched since the last notice and was", "lines matched since the last notice and were")} not reported.)`]
				: []),
			...(unsaid.missed > 0
				? [
						`(${counted(unsaid.missed, "byte of its output had gone from the log before it", "bytes of its output had gone from the log before they")} could be searched.)`,
					]
				: []),
		].join("\n"),
		byte_offset: found.offset,
		...(suppressed > 0 ? { suppressed } : {}),
	};
}

export function watchDisabled(process: Process, why: "too often" | "enough", suppressed: number): News {
	const reason =
		why === "too often"
			? `matched too often: again within ${WINDOW_MS / 1000} s of a notice, ${STRIKES} times in a row`
			: `have led to ${LIFETIME} notices, which is the most there are for one process`;
	return {
		id: `${process.id}-disabled`,
		kind: "watch_disabled",
		session_id: process.id,
		text: `${name(process)}: its watch_patterns ${reason}. They are switched off now; ${lines(suppressed)} matched without being shown. You get one notice when it ends; until then read its output with ${call(process, "poll")}.`,
		suppressed,
	};
}

export const flood = (now: number): News => ({
	id: `flood-${now}`,
	kind: "flood",
	session_id: null,
	text: `Too much matches watch_patterns: more than ${FLOOD_COUNT} notices in ${FLOOD_MS / 1000} s. Matches are not reported for the next ${FLOOD_PAUSE_MS / 1000} s, for any process. No process has ended because of this.`,
});

export const floodOver = (now: number, dropped: number): News => ({
	id: `flood-over-${now}`,
	kind: "flood_over",
	session_id: null,
	text: `Matches of watch_patterns are reported again. ${dropped === 1 ? "One notice was" : `${dropped} notices were`} left out meanwhile; read the output of the processes concerned with process(action="log").`,
	suppressed: dropped,
});

function name(process: Process): string {
	const command = plainText(maskedCommand(process)).replace(/\s+/g, " ").trim();
	return `Background process ${process.id} (${excerpt(command, 0, COMMAND_SHOWN)})`;
}

function output(process: Process, tail: Tail, none: string, title: string): string {
	if (tail.text === "") return none === "" ? "" : ` ${none}`;
	const cut = tail.cut ? `, from byte ${tail.offset} of ${tail.end} on; ${call(process, "log")} has more` : "";
	return ` ${title}${cut}:\n${tail.text}`;
}

const lines = (count: number): string => counted(count, "line");
const call = (process: Process, action: string): string => `process(action="${action}", session_id="${process.id}")`;
const readFrom = (process: Process, offset: number): string => `process(action="log", session_id="${process.id}", byte_offset=${offset}) has them`;

function duration(ms: number): string {
	if (ms < 10_000) return `${(Math.max(0, ms) / 1000).toFixed(1)} s`;
	const seconds = Math.round(ms / 1000);
	if (seconds < 60) return `${seconds} s`;
	const minutes = Math.floor(seconds / 60);
	return minutes < 60 ? `${minutes} min ${seconds % 60} s` : `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
}
