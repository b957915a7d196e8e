/** The actions that change a process: kill it, write to it, type keys. */
import { constants } from "node:os";
import { HoldfastError } from "../base/index.js";
import { isOver, type Process } from "../process/index.js";
import { type Ask, deadlineOf, doorOf } from "./ask.js";
import { brief } from "./brief.js";
import type { ProcessArgs } from "./input.js";
import { idleMsOf, noteStopped, screenOf, typeKeys, waitsFor } from "./interactive.js";
import type { ProcessResult } from "./result.js";
import { loadScreen } from "./screen.js";
import { send } from "./send.js";
import { stateOf } from "./state.js";

export async function kill(ask: Ask, process: Process): Promise<ProcessResult> {
	ask.record?.effect({ act: "kill a process" });
	const { status, method, signalled, survivors, final } = await process.kill().catch((error) => {
		if (!(error instanceof HoldfastError) || error.code !== "UNREACHABLE") throw error;
		throw new HoldfastError("UNREACHABLE", `it may still run: ${error.message}`, { cause: error });
	});
	ask.runtime.audit.note(ask.task, { event: "killed", session_id: process.id, status, by: doorOf(ask) });
	const note = unknown(method, status);
	if (note) ask.notes.push(note);
	return {
		...stateOf(process, final),
		status,
		signalled: [...signalled],
		survivors: [...survivors],
		error: status === "error" ? `still alive after KILL: ${survivors.join(", ")}; they may be stuck in the kernel, try again later` : null,
	};
}

/** Returns a caveat: without cgroups an empty list of survivors proves less. */
function unknown(method: string, status: string): string | undefined {
	if (status === "already_exited" && (method === "walk" || method === "subreaper"))
		return "Without control groups a daemon that left its session and cleared its environment cannot be found once the process has ended; anything else that it left has been looked for.";
	if (status === "killed" && method === "walk")
		return "Without control groups and perl a daemon that left its session and cleared its environment cannot be found; anything else has been looked for, and is gone.";
	return undefined;
}

export const write = (ask: Ask, process: Process, args: ProcessArgs): Promise<ProcessResult> => sendText(ask, process, args, "");

export const submit = (ask: Ask, process: Process, args: ProcessArgs): Promise<ProcessResult> =>
	sendText(ask, process, { ...args, data: args.data ?? "" }, process.spec.terminal ? "\r" : "\n");

async function sendText(ask: Ask, process: Process, { data }: ProcessArgs, end: string): Promise<ProcessResult> {
	if (data === undefined) throw new HoldfastError("INVALID", "data is missing: give the text to write");
	const bytes_written = await send(ask, process, Buffer.from(data + end));
	return { ...stateOf(process), error: null, bytes_written };
}

export async function close(ask: Ask, process: Process): Promise<ProcessResult> {
	ask.record?.effect({ act: "close the input of a process" });
	await process.closeStdin();
	return { ...stateOf(process), error: null };
}

/** Types keys and waits briefly for the reaction; use `wait` for longer. */
export async function keys(ask: Ask, process: Process, args: ProcessArgs): Promise<ProcessResult> {
	if (args.data === undefined) throw new HoldfastError("INVALID", "data is missing: give text and keys such as <ENTER>");
	const { keysTimeout, maxWaitTimeout } = ask.limits;
	const deadline = deadlineOf(args.timeout, { default: keysTimeout, most: maxWaitTimeout }, ask);
	return typeKeys(ask, process, args.data, { deadline, idleMs: idleMsOf(ask, {}), maxChars: ask.limits.tailChars, onTimeout: "background" });
}

export async function screen(ask: Ask, process: Process): Promise<ProcessResult> {
	if (!process.spec.terminal) throw new HoldfastError("NO_TERMINAL", `${process.id} has no terminal, so it has no screen; action="log" shows its output`);
	const state = stateOf(process);
	return { ...state, ...(state.status === "running" ? await lookAtTerminal(ask, process) : {}), error: null, ...(await screenOf(process)) };
}

export async function resize(ask: Ask, process: Process, { cols, rows }: ProcessArgs): Promise<ProcessResult> {
	if (cols === undefined || rows === undefined) throw new HoldfastError("INVALID", "give both cols and rows");
	ask.record?.effect({ act: "resize a terminal" });
	await process.resize(cols, rows);
	return { ...stateOf(process), error: null, cols, rows, ...(await screenOf(process)) };
}

export async function signal(ask: Ask, process: Process, args: ProcessArgs): Promise<ProcessResult> {
	const name = `SIG${(args.signal ?? "").trim().toUpperCase().replace(/^SIG/, "")}`;
	if (!Object.hasOwn(constants.signals, name)) {
		const names = Object.keys(constants.signals).map((one) => one.slice(3));
		throw new HoldfastError(
			"INVALID",
			`${args.signal === undefined ? "signal is missing" : `there is no signal "${brief(args.signal)}"`}; there are ${names.join(", ")}`,
		);
	}
	ask.record?.effect({ act: "send a signal" });
	await process.signal(name as NodeJS.Signals);
	ask.runtime.audit.note(ask.task, { event: "signalled", session_id: process.id, signal: name, by: doorOf(ask) });
	ask.notes.push(`${name} was sent.`);
	return { ...stateOf(process), error: null, ...(process.spec.terminal ? await screenOf(process) : {}) };
}

/** Returns whether a program on a terminal waits for input, in fields of a result. A note says if it is stopped. */
export async function lookAtTerminal(ask: Ask, process: Process): Promise<Pick<ProcessResult, "status" | "waiting_for" | "waiting_evidence">> {
	const { waitingFor } = await loadScreen();
	const found = isOver(process.status()) || process.unreachable !== undefined ? { waiting: false as const, stopped: undefined } : await waitingFor(process);
	if (!found.waiting && found.stopped !== undefined) noteStopped(ask, process, found.stopped);
	return found.waiting ? { status: "awaiting_input", ...waitsFor(found) } : {};
}
