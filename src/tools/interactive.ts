/** Runs programs on a terminal in the foreground: starts one or types keys, then reports what it shows. */
import { HoldfastError, plainText } from "../base/index.js";
import { redactScreen } from "../base/secrets/index.js";
import { isOver, type Process } from "../process/index.js";
import type { UntilWaitingResult, WaitingFor } from "../screen/index.js";
import { type Ask, type Deadline, leftOf, remaining, reporting, secondsOf } from "./ask.js";
import { rememberAwaited } from "./awaited.js";
import { noteShown } from "./cursor.js";
import type { TerminalArgs } from "./input.js";
import { readOutput } from "./output.js";
import type { TerminalResult } from "./result.js";
import { loadScreen } from "./screen.js";
import { scrolledOff } from "./scrolled.js";
import { send } from "./send.js";
import { armLate, startBeside } from "./start.js";
import { settledStatus, stateOf } from "./state.js";

export interface SettleOptions {
	/** The offset at which the result's output starts. */
	readonly from: number;
	readonly deadline: Deadline;
	readonly idleMs: number;
	readonly maxChars: number;
	readonly onTimeout: "background" | "kill";
	/** Whether an interrupt kills the program, or only ends the wait. */
	readonly onAbort: "kill" | "leave";
}

export async function runOnTerminal(
	ask: Ask,
	args: TerminalArgs & { command: string },
	options: Omit<SettleOptions, "from" | "onAbort">,
): Promise<TerminalResult> {
	const { process, context } = await startBeside(ask, args);
	const began = performance.now();
	const deadline = remaining(ask, options.deadline);
	const { uptime_seconds: _, ...settled } = await settle(ask, process, { ...options, deadline, from: 0, onAbort: "kill" });
	const interval = settled.status === "running" ? armLate(ask, process, args) : {};
	ask.notes.push("On a terminal it is a process of its own: directory, variables and the like that it changes do not come back to your shell.");
	return { ...settled, ...interval, cwd: context.shellCwd, duration_ms: Math.round(performance.now() - began) };
}

/** Types keys and returns the program's reaction. Sends nothing if a key is unknown. */
export async function typeKeys(ask: Ask, process: Process, keys: string, options: Omit<SettleOptions, "from" | "onAbort">): Promise<SettledResult> {
	if (keys === "") throw new HoldfastError("INVALID", "there are no keys to type; give text and keys such as <ENTER>");
	if (!process.spec.terminal)
		throw new HoldfastError(
			"NO_TERMINAL",
			`${process.id} has no terminal to type at; process(action="submit", session_id="${process.id}", data=…) sends a line to its input`,
		);
	const { encodeKeys, readScreen } = await loadScreen();
	ask.runtime.answerFor(process);
	const bytes = encodeKeys(keys, isOver(process.status()) ? {} : (await readScreen(process)).modes);
	const from = process.log.bounds().end;
	await send(ask, process, bytes);
	return settle(ask, process, { ...options, from, onAbort: "leave" });
}

export type SettledResult = TerminalResult & { uptime_seconds: number };

/** Waits until the program waits for input, ends, or the time is up. */
async function settle(ask: Ask, process: Process, options: SettleOptions): Promise<SettledResult> {
	const { untilWaiting } = await loadScreen();
	const { deadline, idleMs } = options;
	const signals = [ask.signal, ask.call.yield].filter((signal) => signal !== undefined);
	let found: UntilWaitingResult;
	try {
		found = await reporting(ask, `${process.id} runs`, () =>
			untilWaiting(process, { timeout: leftOf(deadline), idleMs, ...(signals.length > 0 ? { signal: AbortSignal.any(signals) } : {}) }),
		);
	} catch (error) {
		if (!(error instanceof HoldfastError) || error.code !== "ABORTED") throw error;
		if (!ask.signal?.aborted && ask.call.yield?.aborted) return { ...(await late(ask, process, options)), ...timeoutNote(deadline) };
		if (options.onAbort === "kill") await end(ask, process, "interrupted");
		else ask.notes.push("The keys were sent; only the waiting was interrupted, and the program goes on.");
		return { ...(await viewOf(ask, process, options)), status: "interrupted", exit_code: options.onAbort === "kill" ? 130 : null, ...timeoutNote(deadline) };
	}
	if (found.matched === "input") {
		rememberAwaited(process);
		return { ...(await viewOf(ask, process, options)), status: "awaiting_input", ...waitsFor(found), ...timeoutNote(deadline) };
	}
	if (found.matched === null && found.stopped !== undefined) {
		noteStopped(ask, process, found.stopped);
		if (options.onTimeout === "kill") ask.runtime.killLater(process, leftOf(deadline));
		return { ...(await viewOf(ask, process, options)), ...timeoutNote(deadline) };
	}
	if (found.matched === null) return { ...(await late(ask, process, options)), ...timeoutNote(deadline) };
	return { ...(await viewOf(ask, process, options)), ...timeoutNote(deadline) };
}

/** Notes that the program will not continue by itself, so waiting is useless. */
export function noteStopped(ask: Ask, process: Process, why: string): void {
	ask.notes.push(`It does not go on by itself: ${why}. process(action="kill", session_id="${process.id}") ends it.`);
}

/** Returns the result at the deadline. */
async function late(ask: Ask, process: Process, options: SettleOptions): Promise<SettledResult> {
	const { deadline, onTimeout } = options;
	if (onTimeout === "kill" && deadline.ms >= deadline.wantedMs && !ask.call.yield?.aborted) {
		try {
			await end(ask, process, `not finished after ${secondsOf(deadline.ms)}`);
			return { ...(await viewOf(ask, process, options)), status: "timeout", exit_code: 124 };
		} catch (error) {
			if (!(error instanceof HoldfastError) || error.code !== "UNREACHABLE") throw error;
			ask.notes.push(`It was to be killed now, and that may not have happened: ${error.message}.`);
		}
	}
	stillRunning(ask, process, { deadline, kill: onTimeout === "kill" });
	return viewOf(ask, process, options);
}

/** Kills the program and notes which processes survived. */
async function end(ask: Ask, process: Process, why: string): Promise<void> {
	const { survivors } = await process.kill();
	ask.notes.push(
		survivors.length === 0
			? `It was killed with everything it had started: ${why}.`
			: `It was killed (${why}), but these are still alive: ${survivors.join(", ")}; process(action="kill", session_id="${process.id}") tries again.`,
	);
}

/** Notes how to continue (`again`: the program should be started differently), and schedules a kill that is due after this call. */
export function stillRunning(ask: Ask, process: Process, { deadline, kill, again = false }: { deadline: Deadline; kill: boolean; again?: boolean }): void {
	const how = `process(action="wait", session_id="${process.id}") waits for it, poll shows what is new, kill ends it`;
	if (ask.runtime.closed) {
		ask.notes.push(`This runtime was closed while it ran; it goes on as ${process.id}, and any other on the same home finds it by that id.`);
		return;
	}
	const ms = ask.call.yield?.aborted ? performance.now() - ask.since : deadline.ms;
	ask.notes.push(`Not finished after ${secondsOf(ms)}, which is not an error: it goes on as ${process.id}; ${how}.${again ? "" : " Do not start it again."}`);
	if (!kill) return;
	ask.runtime.killLater(process, deadline.wantedMs - ms);
	ask.notes.push(`As you asked, it is killed ${secondsOf(deadline.wantedMs)} after its start, if this server is still there then.`);
}

export const timeoutNote = ({ timeout_note }: Deadline): { timeout_note?: string } => (timeout_note === undefined ? {} : { timeout_note });

/** Returns the status, the screen, and the output that has scrolled off the screen. */
async function viewOf(ask: Ask, process: Process, { from, maxChars }: { from: number; maxChars: number }): Promise<SettledResult> {
	const status = await settledStatus(ask, process);
	const { text, next, truncated } = await readOutput(process, { from, maxChars, keep: "ends", raw: true, final: isOver(status) });
	noteShown(process, next);
	if (isOver(status) && from > 0 && plainText(text).trim() === "") return { ...stateOf(process, status), error: null, output: "" }; // the screen is unchanged
	const view = await terminalView(process, text);
	return { ...stateOf(process, status), error: null, ...view, ...(truncated === undefined || view.output === "" ? {} : { truncated }) };
}

type Screen = Required<Pick<TerminalResult, "screen" | "cursor" | "alt_screen">>;

export async function screenOf(process: Process): Promise<Screen> {
	const { screen, cursor, alt_screen } = await terminalView(process, "");
	return { screen, cursor, alt_screen };
}

/** Returns the screen, and the part of `printed` that has scrolled off it: escape sequences and a second copy are useless to a model. */
export async function terminalView(process: Process, printed: string): Promise<Screen & { output: string }> {
	const { readScreen } = await loadScreen();
	const { screen, cursor, alt_screen, cols, rows } = await readScreen(process);
	return { output: alt_screen ? "" : scrolledOff(printed, { cols, rows }), screen: redactScreen(process.secrets, screen, cols), cursor, alt_screen };
}

/** Returns what the program waits for, with the evidence unless it comes from the kernel. */
export function waitsFor({
	waiting_for,
	waiting_evidence,
}: {
	waiting_for: WaitingFor;
	waiting_evidence: string;
}): Pick<TerminalResult, "waiting_for" | "waiting_evidence"> {
	return { waiting_for, ...(BY_KERNEL.test(waiting_evidence) ? {} : { waiting_evidence }) };
}

const BY_KERNEL = / is blocked in .* on the terminal; the terminal /;

export const idleMsOf = (ask: Ask, args: { idle_threshold?: number }): number => (args.idle_threshold ?? ask.limits.idleThreshold) * 1000;
