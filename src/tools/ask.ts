/** A call of a tool: its caller, its deadline, and how whatever happens becomes a result. */

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
	/** As the door gave it; `yield` is this call's own. */
	readonly call: Call;
	/** Of this call: aborts with the door's, and when the task is interrupted. */
	readonly signal: AbortSignal;
	readonly limits: Limits;
	/** What the model should know besides; one sentence each. */
	readonly notes: string[];
	/** When the call came, on the clock of `performance`. */
	readonly since: number;
	/** Of a call with an id. */
	record?: CallRecord;
	/** Done when the end of such a call is on record, or could not be put there. */
	readonly afterRecord: ((recorded: boolean) => void)[];
}

export const doorOf = ({ call }: Ask): string => call.door ?? "library";

const PROGRESS_MS = 2_000;
const LAST_STEPS_MS = 1_000; // behind the time of a command that goes on, which has used all that the call has
const OVERFLOW = "This program was given more secret values than it can remember, so one of them may be shown; end tasks that are done, or restart it.";
const UNRECORDED = "The end of this call could not be put on record (is the disk full?): calls.find may not know of it.";
const MASKED = "Something that looks like a secret was masked here (…[redacted]); where it came from it is unchanged, so do not write the mask back.";

/** Never rejects: a failure is a result like any other. What is new for the task comes with it. `moves`: on `yield` the call goes on in the background. */
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
		if (call.id !== undefined) ask.record = await runtime.calls.begin({ id: call.id, task, tool: ask.tool, keep: call.keep === true });
		result = await act(ask);
	} catch (error) {
		result = (error instanceof Refused ? error.result : failure(error)) as T;
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

/** Removes what only commands have: results of file tools have no exit code and no part of a command. */
function withoutCode<T extends ToolResult>(result: T): T {
	const { exit_code: _, part: _part, ...rest } = result as T & { exit_code?: unknown; part?: unknown };
	return rest as unknown as T;
}

/** Before the answer goes out, so that a caller that dies with it finds it again. */
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

/** A result that may never arrive takes no notices with it. */
async function takeNotices({ runtime, task, call, notes }: Ask): Promise<NonNullable<ToolResult["notices"]>> {
	const gone = typeof call.gone === "function" && call.gone(); // of another type: said already
	if (call.signal?.aborted || typeof task !== "string" || gone) return [];
	try {
		if (runtime.boxes.connected) await runtime.sync({ task, reached: true, ms: REMOTE_MS.page }); // what has happened there is news here
		return [...(await runtime.notices.take(task))];
	} catch (error) {
		if (error instanceof HoldfastError && (error.code === "INVALID" || error.code === "ABORTED")) return []; // no such task: said already; or closed meanwhile
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

function failure(error: unknown): Failure {
	const { code, message, cause } = fromSystem(error, "this did not work");
	const status = code === "NOT_FOUND" ? "not_found" : code === "ABORTED" ? "interrupted" : "error";
	const known = cause instanceof KnownIds ? { known: [...cause.ids] } : {};
	return { status, output: "", exit_code: null, error: message, ...known };
}

/** The cause of a NOT_FOUND: which ids there are instead. */
export class KnownIds {
	constructor(readonly ids: readonly string[]) {}
}

export interface Deadline {
	readonly ms: number;
	/** What the model asked for, within the cap. Longer than `ms` when the door cannot wait for so long. */
	readonly wantedMs: number;
	/** When `ms` are over, by performance.now(). */
	readonly at: number;
	readonly timeout_note?: string;
}

/** Returns how long a call may take: as asked, within the cap and what the door allows. */
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

/** Returns how much time the door has left. */
const timeOf = ({ call, since }: Ask): number => Math.max(1, (call.within ?? Number.POSITIVE_INFINITY) - (performance.now() - since));

/** By when the door has to answer, by performance.now(). */
export const answerBy = ({ call, since }: Ask): number | undefined => (call.within === undefined ? undefined : since + call.within);

/** Once it has started: the command has all of its time still, the call only what is left of its own. */
export function remaining(ask: Ask, { wantedMs, ...deadline }: Deadline): Deadline {
	const ms = Math.min(wantedMs, timeOf(ask));
	return { ...deadline, wantedMs, ms, at: performance.now() + ms };
}

/** Tell the door now and then that the call is still going on. */
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

/** Returns how much time is left. */
export const leftOf = ({ at }: Deadline): number => Math.max(1, at - performance.now());

export const secondsOf = (ms: number): string => `${Math.round(ms / 100) / 10} s`;
