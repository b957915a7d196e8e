/** Finds the true result of a call of the core whose agent was killed, from the core's files. Never a guess, and never a second run. */
import { setTimeout as sleep } from "node:timers/promises";
import { type FoundCall, HoldfastError, type Process, type Runtime, renderResult, type Task, type TerminalResult, type ToolResult } from "holdfast";
import { DOOR, SHOWN_CHARS } from "./limits.js";
import { endsOf, linesIn, outcomeOf, shortenLog } from "./outcome.js";
import type { Became, ToolCallContext, ToolOutcome } from "./tool.js";

export interface Recovery {
	readonly runtime: Runtime;
	readonly task: Task;
	readonly now: () => number;
	/** By the id of a call: how often it was made, if that is not once. */
	readonly attempts: Map<string, number>;
}

/** A call that a person had not allowed yet has used its id, though nothing was done: it is made again with the next one. */
export const attemptId = (id: string, attempt = 1): string => (attempt === 1 ? id : `${id}~${attempt}`);

export async function becameOf(recovery: Recovery, name: string, args: unknown, context: ToolCallContext): Promise<Became> {
	for (let attempt = 1; ; attempt++) {
		const id = attemptId(context.id, attempt);
		const found = await untilKnown(recovery, id, args, context);
		if (found.state === "ended" && found.status === "pending_approval") continue;
		if (attempt > 1) recovery.attempts.set(context.id, attempt);
		return knownAs(recovery, name, args, found, context);
	}
}

const LOOK_MS = 50;

/** A program that is just being killed may still be at it: waits until its process is known, or it has ended. */
async function untilKnown({ task, runtime, now }: Recovery, id: string, args: unknown, { signal }: ToolCallContext): Promise<FoundCall> {
	const deadline = now() + secondsOf(args, runtime) * 1_000;
	for (;;) {
		const found = await task.findCall(id);
		if (found.state !== "running" || found.session_id !== undefined || found.result !== undefined) return found;
		if (signal.aborted || now() > deadline) return { state: "unknown", tool: found.tool, reason: "another program has it under way" };
		await sleep(LOOK_MS);
	}
}

async function knownAs(recovery: Recovery, name: string, args: unknown, found: FoundCall, context: ToolCallContext): Promise<Became> {
	const { task, runtime } = recovery;
	const ended = (outcome: ToolOutcome): Became => ({ state: "ended", outcome });
	if (found.state === "never") return { state: "never" };
	if (found.state === "unknown") return { state: "unknown", reason: found.reason };
	if (found.result) return ended(await outcomeOf(task, name, args, found.result));
	if (found.session_id === undefined) return ended(await outcomeOf(task, name, args, doneResult(found)));
	const process = processOf(runtime, found.session_id);
	if (found.state === "running" && process) return ended(await waitedFor(recovery, process, args, context));
	const { status = null, exit_code = null } = found.state === "ended" ? found : {};
	return ended(await endedOutcome(recovery, found.session_id, { status, exit_code }));
}

/** A file that is in place, and whose call died before it could say so. */
const doneResult = (found: FoundCall): ToolResult =>
	({
		status: (found.state === "ended" ? found.status : null) ?? "ok",
		error: null,
		output: "",
		note: "It was done; the agent was restarted before the answer came.",
	}) as ToolResult;

function processOf(runtime: Runtime, id: string): Process | undefined {
	try {
		return runtime.get(id);
	} catch (error) {
		if (error instanceof HoldfastError && error.code === "NOT_FOUND") return undefined;
		throw error;
	}
}

/** Seconds that the call may take. */
function secondsOf(args: unknown, { limits }: Runtime): number {
	const { timeout } = (args ?? {}) as { timeout?: unknown };
	return Math.min(typeof timeout === "number" && timeout > 0 ? timeout : limits.timeout, limits.maxTimeout);
}

/** Waits for it as the call would have: up to its deadline, and what is to happen then. */
async function waitedFor(recovery: Recovery, process: Process, args: unknown, { signal, yield: moved }: ToolCallContext): Promise<ToolOutcome> {
	const { task, runtime, now } = recovery;
	const { background, pty, on_timeout } = (args ?? {}) as Record<string, unknown>;
	const { id } = process;
	if (background === true) return stillRunning(process);
	const left = Math.max(0, process.spec.startedAt + secondsOf(args, runtime) * 1_000 - now());
	if (pty === true) {
		const result = await task.call(
			"process",
			{ action: "wait", session_id: id, until: { input: true }, timeout: Math.max(1, Math.ceil(left / 1_000)) },
			{ signal, yield: moved, door: DOOR },
		);
		return { ...(await outcomeOf(task, "process", args, result)), process: id };
	}
	try {
		const { timedOut } = await process.wait({ timeout: left, signal: AbortSignal.any([signal, moved]) });
		if (!timedOut) return endedOutcome(recovery, id, endOf(process));
	} catch (error) {
		if (!(error instanceof HoldfastError) || error.code !== "ABORTED") throw error;
	}
	const kill = signal.aborted
		? { status: "interrupted", exit_code: 130 }
		: on_timeout === "kill" && !moved.aborted
			? { status: "timeout", exit_code: 124 }
			: undefined;
	if (!kill) return stillRunning(process);
	const { survivors } = await process.kill();
	return endedOutcome(recovery, id, kill, survivors.length > 0 ? `These could not be killed: ${survivors.join(", ")}.` : undefined);
}

function endOf(process: Process): { status: string; exit_code: number | null } {
	const status = process.status();
	return { status: status.status, exit_code: "exitCode" in status ? status.exitCode : null };
}

function stillRunning(process: Process): ToolOutcome {
	const note = `It goes on as ${process.id}; process(action="wait", session_id="${process.id}") waits for it. Do not start it again.`;
	const result: TerminalResult = { status: "running", exit_code: null, error: null, session_id: process.id, pid: process.pid, note, output: "" };
	return { text: renderResult(result), failed: false, process: process.id };
}

/** The result of a command that has ended, with what it has printed. */
async function endedOutcome(
	recovery: Recovery,
	session: string,
	end: { status: string | null; exit_code: number | null },
	note?: string,
): Promise<ToolOutcome> {
	const { text, cut, notes } = await outputOf(recovery.task, session);
	const all = [...notes, ...(note === undefined ? [] : [note])].join("\n");
	const result = {
		...end,
		status: end.status ?? "exited",
		error: null,
		output: text,
		...(cut ? { session_id: session } : {}),
		...(all === "" ? {} : { note: all }),
	};
	return { text: renderResult(result as TerminalResult), failed: end.status === "lost", ...(cut ? { process: session } : {}) };
}

/** All that it has printed, masked as every result is; shortened if it is long. */
async function outputOf(task: Task, session: string): Promise<{ text: string; cut: boolean; notes: string[] }> {
	const log = (range: object) => task.call("process", { action: "log", session_id: session, ...range }, { door: DOOR });
	const first = await log({ byte_offset: 0 });
	if (first.status === "not_found") return { text: "", cut: false, notes: ["What it has printed is not kept any more."] };
	const { output: head = "", next_offset = 0, total_bytes = 0, total_lines = 0 } = first;
	const options = { session, most: SHOWN_CHARS };
	if (next_offset >= total_bytes) {
		return { ...shortenLog([{ line: 0, text: head }], { ...options, lines: linesIn(head) === total_lines }), notes: [] };
	}
	const { output: tail = "" } = await log({ limit: total_lines });
	const [before, behind] = [head.replace(/[^\n]*$/, ""), tail.slice(tail.indexOf("\n") + 1)];
	if (before === "" || behind === "" || behind === tail) return { text: endsOf({ head, tail }, session, SHOWN_CHARS), cut: true, notes: [] };
	const stretches = [
		{ line: 0, text: before },
		{ line: total_lines - linesIn(behind), text: behind },
	];
	return { ...shortenLog(stretches, { ...options, lines: true }), cut: true, notes: [] };
}
