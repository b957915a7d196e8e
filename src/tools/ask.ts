/** A tool call: its caller, its deadline, and the conversion of every outcome to a result. */

import { fromSystem, HoldfastError, REMOTE_MS } from "../base/index.js";
import { isMasked } from "../base/secrets/index.js";
import type { CallRecord } from "../process/index.js";
import { type Call, checkCall } from "./call.js";
import type { ToolHost } from "./host.js";
import type { Limits } from "./limits.js";
import { Refused } from "./refused.js";
import type { ToolResult } from "./result.js";

export interface Ask {
	readonly runtime: ToolHost;
	readonly task: string;
	readonly tool: string;
	/** The call as given by the door, except that `yield` belongs to this call. */
	readonly call: Call;
	/** Aborts with the door's signal, and when the task is interrupted. */
	readonly signal: AbortSignal;
	readonly limits: Limits;
	/** Remarks for the model, one sentence each. */
	readonly notes: string[];
	/** The time at which the call arrived, by performance.now(). */
	readonly since: number;
	/** The record of a call that has an id. */
	record?: CallRecord;
	/** Called when the end of a call with an id is on record, or could not be recorded. */
	readonly afterRecord: ((recorded: boolean) => void)[];
}

export const doorOf = ({ call }: Ask): string => call.door ?? "library";

const PROGRESS_MS = 2_000;
const LAST_STEPS_MS = 1_000; // after the deadline of a command that continues, since the command has used all of the call's time
const OVERFLOW = "This program was given more secret values than it can remember, so one of them may be shown; end tasks that are done, or restart it.";
const UNRECORDED = "The end of this call could not be put on record (is the disk full?): calls.find may not know of it.";
const MASKED = "Something that looks like a secret was masked here (…[redacted]); where it came from it is unchanged, so do not write the mask back.";

/**
 * Runs a call and returns its result with the task's new notices. Never rejects: a failure is a result. `moves`: on `yield` the call continues in the
 * background.
 */
export async function answer<T extends ToolResult>(
	runtime: ToolHost,
	call: Call,
	act: (ask: Ask) => Promise<T>,
	{ tool, moves = false }: { tool: string; moves?: boolean },
): Promise<T> {
	const since = performance.now();
	const task = call.task ?? runtime.task;
	const one = runtime.underWay.begin(task, call, { moves });
	const own: Call = moves ? { ...call, yield: one.yield } : call;
	const ask: Ask = { tool, runtime, task, call: own, signal: one.signal, limits: runtime.limitsOf(task), notes: [], since, afterRecord: [] };
	const work = () => answered(ask, act, call);
	const inTime = () => (call.within === undefined ? work() : runtime.home.deadlines.dueAt(since + call.within + LAST_STEPS_MS, work));
	try {
		return await (runtime.masks(task) ? inTime() : runtime.home.secrets.withoutMasking(inTime));
	} finally {
		ask.record?.close();
		one.end();
	}
}

async function answered<T extends ToolResult>(ask: Ask, act: (ask: Ask) => Promise<T>, given: Call): Promise<T> {
	const { tool, runtime, task, call, notes } = ask;
	let result: T;
	try {
		checkCall(given);
		if (runtime.closed) throw new HoldfastError("ABORTED", "nothing was done: this runtime is closed; open another one");
		if (call.id !== undefined) ask.record = await runtime.calls.begin({ id: call.id, task, tool: ask.tool, keep: call.keep === true });
		result = await act(ask);
	} catch (error) {
		result = (error instanceof Refused ? error.result : failure(error, call)) as T;
	}
	if (ask.signal.aborted && !call.signal?.aborted && !call.yield?.aborted && result.status === "interrupted")
		notes.push("The program that runs this task has interrupted all of its calls.");
	if (tool !== "terminal" && tool !== "process") result = withoutCode(result);
	notes.push(...runtime.sudo.takeNotes(task), ...runtime.boxes.takeNotes(task));
	const notices = await takeNotices(ask);
	const box = runtime.boxes.boxOf(runtime.wish, task);
	const { secrets } = runtime.home;
	const masked = secrets.redactAll({ ...result, ...(box === undefined ? {} : { box }), ...(notices.length === 0 ? {} : { notices }) });
	const note = [
		masked.note,
		...[...new Set(notes.map((text) => secrets.redact(text)))].filter((text) => text !== masked.note),
		...(isMasked(masked) ? [MASKED] : []),
		...(secrets.overflows ? [OVERFLOW] : []),
	]
		.filter(Boolean)
		.join("\n");
	return recorded(ask, longLast(note === "" ? masked : { ...masked, note }));
}

/** Removes the fields that only commands have: results of file tools have no exit code and no part of a command. */
function withoutCode<T extends ToolResult>(result: T): T {
	const { exit_code: _, part: _part, ...rest } = result as T & { exit_code?: unknown; part?: unknown };
	return rest as unknown as T;
}

/** Records the result before it goes out, so that a caller that crashes on it can find it again. */
function recorded<T extends ToolResult>({ record, call, afterRecord }: Ask, result: T): T {
	if (!record) return result;
	const { status = null, exit_code, session_id } = result as T & { exit_code?: number | null; session_id?: string };
	const end = { status, ...(exit_code === undefined ? {} : { exit_code }), ...(session_id === undefined ? {} : { session_id }) };
	const written = record.end(end, call.keep ? result : undefined);
	for (const done of afterRecord) done(written);
	return written ? result : { ...result, note: [result.note, UNRECORDED].filter(Boolean).join("\n") };
}

/** Puts long fields last: a client that cuts a result, or shows only its beginning, still shows how the command ended. */
function longLast<T extends ToolResult>(result: T): T {
	const { output, screen, ...rest } = result as T & { output?: string; screen?: string };
	return { ...rest, ...(output === undefined ? {} : { output }), ...(screen === undefined ? {} : { screen }) } as unknown as T;
}

/** Takes the task's notices, unless the result may never arrive. */
async function takeNotices({ runtime, task, call, notes }: Ask): Promise<NonNullable<ToolResult["notices"]>> {
	const gone = typeof call.gone === "function" && call.gone(); // a wrong type has been reported already
	if (call.signal?.aborted || typeof task !== "string" || gone) return [];
	try {
		if (runtime.boxes.connected) await runtime.sync({ task, reached: true, ms: REMOTE_MS.page }); // remote events become notices
		return [...(await runtime.notices.take(task))];
	} catch (error) {
		if (error instanceof HoldfastError && (error.code === "INVALID" || error.code === "ABORTED")) return []; // unknown task, reported already; or the runtime was closed meanwhile
		notes.push(`News of background processes could not be read: ${fromSystem(error, "notices").message}.`);
		return [];
	}
}

export interface Failure {
	readonly status: "error" | "not_found" | "interrupted";
	readonly output: "";
	readonly exit_code: null;
	readonly error: string;
	readonly known?: string[];
}

function failure(error: unknown, { failed }: Call): Failure {
	const { code, message, cause } = fromSystem(error, "this did not work");
	if (typeof failed === "function") failed(code); // a wrong type is the error itself
	const status = code === "NOT_FOUND" ? "not_found" : code === "ABORTED" ? "interrupted" : "error";
	const known = cause instanceof KnownIds ? { known: [...cause.ids] } : {};
	return { status, output: "", exit_code: null, error: message, ...known };
}

/** The cause of a NOT_FOUND: lists the existing ids. */
export class KnownIds {
	constructor(readonly ids: readonly string[]) {}
}

export interface Deadline {
	readonly ms: number;
	/** The model's timeout, within the cap. Longer than `ms` if the door cannot wait that long. */
	readonly wantedMs: number;
	/** The end of `ms`, by performance.now(). */
	readonly at: number;
	readonly timeout_note?: string;
}

/** Returns how long a call may take: the requested time, limited by the cap and by the door. */
export function deadlineOf(asked: number | undefined, limit: { default: number; most: number }, ask: Ask): Deadline {
	const seconds = Math.min(asked ?? limit.default, limit.most);
	const wantedMs = seconds * 1000;
	const ms = Math.min(wantedMs, timeOf(ask));
	return {
		wantedMs,
		ms,
		at: performance.now() + ms,
		...(asked !== undefined && asked > limit.most ? { timeout_note: `timeout ${asked} is above the limit; ${limit.most} s were used instead.` } : {}),
	};
}

/** Returns the door's remaining time. */
const timeOf = ({ call, since }: Ask): number => Math.max(1, (call.within ?? Number.POSITIVE_INFINITY) - (performance.now() - since));

/** Returns when the door must answer, by performance.now(). */
export const answerBy = ({ call, since }: Ask): number | undefined => (call.within === undefined ? undefined : since + call.within);

/** Returns the deadline of a command that has just started: the command has all of its time, the call only its own remaining time. */
export function remaining(ask: Ask, { wantedMs, ...deadline }: Deadline): Deadline {
	const ms = Math.min(wantedMs, timeOf(ask));
	return { ...deadline, wantedMs, ms, at: performance.now() + ms };
}

/** Reports progress to the door at intervals while the call runs. */
export async function reporting<T>({ call, runtime, task }: Ask, what: string, act: () => Promise<T>): Promise<T> {
	const { progress } = call;
	if (!progress) return act();
	const began = performance.now();
	const timer = setInterval(
		() => progress(runtime.boxes.pendingOf(runtime.wish, task) ?? `${what} for ${Math.round((performance.now() - began) / 1000)} s`),
		PROGRESS_MS,
	);
	try {
		return await act();
	} finally {
		clearInterval(timer);
	}
}

/** Returns the remaining time. */
export const leftOf = ({ at }: Deadline): number => Math.max(1, at - performance.now());

export const secondsOf = (ms: number): string => `${Math.round(ms / 100) / 10} s`;
