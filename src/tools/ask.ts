/** One call of a tool: who asks, by when it must be answered, and how whatever happens becomes a result. */
import { dueAt } from "../base/due.js";
import { fromSystem, HoldfastError } from "../base/errors.js";
import { isMasked, redact, redactAll, secretsOverflow, withoutMasking } from "../base/secrets/index.js";
import { isRemote } from "../places/address.js";
import type { Call } from "./call.js";
import { Refused } from "./refused.js";
import type { ToolResult } from "./result.js";
import type { AgentRuntime } from "./runtime.js";

export interface Ask {
	readonly runtime: AgentRuntime;
	readonly task: string;
	readonly call: Call;
	readonly signal: AbortSignal | undefined;
	/** What the model should know besides; one sentence each. */
	readonly notes: string[];
	/** When the call came, on the clock of `performance`. */
	readonly since: number;
}

export const doorOf = ({ call }: Ask): string => call.door ?? "library";

const PROGRESS_MS = 2_000;
const NEWS_MS = 2_000; // a link may be dead and nobody knows it yet
const LAST_STEPS_MS = 1_000; // behind the time of a command that goes on, which has used all that the call has
const OVERFLOW = "This program was given more secret values than it can remember, so one of them may be shown; end tasks that are done, or restart it.";
const MASKED = "Something that looks like a secret was masked here (…[redacted]); where it came from it is unchanged, so do not write the mask back.";

/** Never rejects: a failure is a result like any other. What is new for the task comes with it. */
export async function answer<T extends ToolResult>(runtime: AgentRuntime, call: Call, act: (ask: Ask) => Promise<T>): Promise<T> {
	const notes: string[] = [];
	const since = performance.now();
	if (!runtime.masks) return withoutMasking(() => inTime(runtime, call, { notes, since }, act));
	return inTime(runtime, call, { notes, since }, act);
}

function inTime<T extends ToolResult>(
	runtime: AgentRuntime,
	call: Call,
	{ notes, since }: Pick<Ask, "notes" | "since">,
	act: (ask: Ask) => Promise<T>,
): Promise<T> {
	if (call.within !== undefined) return dueAt(since + call.within + LAST_STEPS_MS, () => answered(runtime, call, { notes, since }, act));
	return answered(runtime, call, { notes, since }, act);
}

async function answered<T extends ToolResult>(
	runtime: AgentRuntime,
	call: Call,
	{ notes, since }: Pick<Ask, "notes" | "since">,
	act: (ask: Ask) => Promise<T>,
): Promise<T> {
	let result: T;
	try {
		result = await act({ runtime, task: taskOf(runtime, call), call, signal: call.signal, notes, since });
	} catch (error) {
		result = (error instanceof Refused ? error.result : failure(error)) as T;
	}
	notes.push(...runtime.sudo.takeNotes(call.task ?? runtime.task), ...runtime.boxes.takeNotes(call.task ?? runtime.task));
	const notices = await takeNotices(runtime, call, notes);
	const masked = redactAll({ ...result, ...(notices.length === 0 ? {} : { notices }) });
	const note = [
		masked.note,
		...[...new Set(notes.map((text) => redact(text)))].filter((text) => text !== masked.note),
		...(isMasked(masked) ? [MASKED] : []),
		...(secretsOverflow() ? [OVERFLOW] : []),
	]
		.filter(Boolean)
		.join("\n");
	return longLast(note === "" ? masked : { ...masked, note });
}

/** What is long comes last: a client that cuts a result in the middle, or shows its beginning, shows how it ended all the same. */
function longLast<T extends ToolResult>(result: T): T {
	const { output, screen, ...rest } = result as T & { output?: string; screen?: string };
	return { ...rest, ...(output === undefined ? {} : { output }), ...(screen === undefined ? {} : { screen }) } as unknown as T;
}

function taskOf(runtime: AgentRuntime, call: Call): string {
	const task = call.task ?? runtime.task;
	if (typeof task === "string" && task !== "" && task.length <= 1_000 && !task.includes("\0")) return task;
	throw new HoldfastError("INVALID", "the task must be a name of 1 to 1000 characters; this is for whoever set up the connection, not for the model");
}

/** A result that may never arrive takes no notices with it. */
async function takeNotices(runtime: AgentRuntime, call: Call, notes: string[]): Promise<NonNullable<ToolResult["notices"]>> {
	if (call.signal?.aborted || call.gone?.()) return [];
	try {
		const task = taskOf(runtime, call);
		if (isRemote(runtime.wish)) await runtime.sync({ task, reached: true, ms: NEWS_MS }); // what has happened there is news here
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

/** How long a call may take: as asked, up to the cap, up to what the door allows. */
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

/** What the door has left of its time. */
const timeOf = ({ call, since }: Ask): number => Math.max(1, (call.within ?? Number.POSITIVE_INFINITY) - (performance.now() - since));

/** By when the door has to answer, by performance.now(). */
export const answerBy = ({ call, since }: Ask): number | undefined => (call.within === undefined ? undefined : since + call.within);

/** Once it has started: the command has all of its time still, the call only what is left of its own. */
export function remaining(ask: Ask, { wantedMs, ...deadline }: Deadline): Deadline {
	const ms = Math.min(wantedMs, timeOf(ask));
	return { ...deadline, wantedMs, ms, at: performance.now() + ms };
}

/** Tell the door now and then that the call is still going on. */
export async function reporting<T>(call: Call, what: string, act: () => Promise<T>): Promise<T> {
	const { progress } = call;
	if (!progress) return act();
	const began = performance.now();
	const timer = setInterval(() => progress(`${what} for ${Math.round((performance.now() - began) / 1000)} s`), PROGRESS_MS);
	try {
		return await act();
	} finally {
		clearInterval(timer);
	}
}

/** What is left of the time. */
export const leftOf = ({ at }: Deadline): number => Math.max(1, at - performance.now());

export const secondsOf = (ms: number): string => `${Math.round(ms / 100) / 10} s`;
