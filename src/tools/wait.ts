/** The action `wait`: until the process exits, a condition holds, or the time is up. Never changes the process. */
import { HoldfastError } from "../base/index.js";
import { isOver, maskedMatch, type Process, type Until } from "../process/index.js";
import { type Ask, deadlineOf, reporting, secondsOf } from "./ask.js";
import { rememberAwaited } from "./awaited.js";
import { noteShown, readCursor, withinLog } from "./cursor.js";
import type { ProcessArgs, UntilArgs } from "./input.js";
import { idleMsOf, noteStopped, terminalView, timeoutNote, waitsFor } from "./interactive.js";
import { readEnd } from "./output.js";
import type { ProcessResult } from "./result.js";
import { loadScreen } from "./screen.js";
import { leftNote, settledStatus, stateOf } from "./state.js";

const LOOK_BACK = 1024 * 1024; // bytes

/** The condition that ended the wait, in fields of the result. `stopped`: why the process will not continue by itself. */
type Held = Pick<ProcessResult, "matched" | "match" | "byte_offset" | "waiting_for" | "waiting_evidence"> & { readonly stopped?: string };

export async function wait(ask: Ask, process: Process, args: ProcessArgs): Promise<ProcessResult> {
	const until = args.until ?? {};
	check(process, until);
	const { waitTimeout, maxWaitTimeout } = ask.limits;
	const deadline = deadlineOf(args.timeout, { default: waitTimeout, most: maxWaitTimeout }, ask);
	const seen = readCursor(process, "shown");
	const from = withinLog(ask, process, args.byte_offset) ?? Math.min(seen, process.log.bounds().end);
	let held: Held | "interrupted";
	try {
		held = await reporting(ask, `waiting for ${process.id}`, () => firstOf(ask, process, until, { ms: deadline.ms, from }));
	} catch (error) {
		if (!(error instanceof HoldfastError) || error.code !== "ABORTED" || !ask.signal?.aborted) throw error;
		held = "interrupted";
	}
	const status = await settledStatus(ask, process);
	const over = isOver(status);
	const { end } = process.log.bounds();
	const output = await readEnd(process, { maxChars: ask.limits.tailChars, raw: process.spec.terminal !== undefined, final: over });
	noteShown(process, output.next);
	const onTerminal = process.spec.terminal ? await terminalView(process, output.text) : undefined;
	if (!output.whole && !onTerminal) ask.notes.push(`output is the end of what it printed; action="log" shows the rest.`);
	const view = {
		...stateOf(process, status),
		error: null,
		...timeoutNote(deadline),
		...(onTerminal ?? { output: output.text }),
	};
	if (held === "interrupted") {
		ask.notes.push("Only the waiting was interrupted; the process goes on untouched.");
		return { ...view, status: "interrupted", exit_code: null, matched: null, byte_offset: end };
	}
	if (over) ask.notes.push(...(await leftNote(process)));
	if (held.matched === "input" && !over) {
		rememberAwaited(process);
		return { ...view, ...held, status: "awaiting_input" };
	}
	if (held.matched === null && over) return { ...view, matched: "exit", byte_offset: held.byte_offset ?? end }; // it ended at the last moment
	if (held.matched === "pattern" && (held.byte_offset ?? 0) <= seen)
		ask.notes.push(`You were shown this before, up to byte ${seen}; byte_offset=${seen}, or none, looks at what is new.`);
	if (held.stopped !== undefined) {
		const { stopped, ...rest } = held;
		noteStopped(ask, process, stopped);
		return { ...view, ...rest };
	}
	if (held.matched === null) {
		if (until.pattern !== undefined) await noteOlderMatch(ask, process, until.pattern, from);
		ask.notes.push(
			process.unreachable === undefined
				? `${secondsOf(deadline.ms)} are over and it still runs; this is not an error. Wait again, or do something else meanwhile.`
				: `${secondsOf(deadline.ms)} are over, and how it is now cannot be seen. Wait again later, or do something else meanwhile.`,
		);
		return { ...view, ...held, timed_out: true };
	}
	return { ...view, ...held };
}

/** Tells a caller that waited in vain where earlier output matches the pattern. */
async function noteOlderMatch(ask: Ask, process: Process, pattern: string, from: number): Promise<void> {
	if (from === 0) return;
	const older = await process.wait({ until: { pattern }, from: Math.max(0, from - LOOK_BACK), timeout: 0 }).catch(() => undefined); // the pattern takes too long to compute
	if (older?.matched === "pattern")
		ask.notes.push(`The pattern is only in output that was there before (up to byte ${older.offset}); byte_offset=0 looks there too.`);
}

/** Waits for all conditions at once; the first that holds cancels the others. */
async function firstOf(ask: Ask, process: Process, until: UntilArgs, { ms, from }: { ms: number; from: number }): Promise<Held> {
	const { input, screen, exit: _, ...rest } = until;
	const done = new AbortController();
	const signal = ask.signal ? AbortSignal.any([ask.signal, done.signal]) : done.signal;
	const conditions: Promise<Held>[] = [waitForOutput(process, { ...rest, exit: true }, { ms, from, signal })];
	if (input) conditions.push(waitForInput(process, signal, idleMsOf(ask, {})));
	if (screen !== undefined) conditions.push(waitForScreen(process, screen, signal));
	try {
		return await Promise.race(conditions);
	} finally {
		done.abort();
		await Promise.allSettled(conditions); // every condition has cleaned up
	}
}

async function waitForOutput(process: Process, until: Until, { ms, from, signal }: { ms: number; from: number; signal: AbortSignal }): Promise<Held> {
	const { matched, match, offset } = await process.wait({ until, timeout: ms, from, signal });
	return { matched, byte_offset: offset, ...(match === undefined ? {} : { match: maskedMatch(process, match, offset) }) };
}

async function waitForInput(process: Process, signal: AbortSignal, idleMs: number): Promise<Held> {
	const { untilWaiting } = await loadScreen();
	const found = await untilWaiting(process, { signal, idleMs });
	if (found.matched === null) return { matched: null, byte_offset: found.offset, ...(found.stopped === undefined ? {} : { stopped: found.stopped }) };
	if (found.matched === "exit") return { matched: "exit", byte_offset: found.offset };
	return { matched: "input", byte_offset: found.offset, ...waitsFor(found) };
}

async function waitForScreen(process: Process, text: string, signal: AbortSignal): Promise<Held> {
	const { LiveScreen } = await loadScreen();
	const live = new LiveScreen(process);
	try {
		let view = await live.read();
		if (view.screen.includes(text)) return { matched: "screen", byte_offset: view.offset };
		for await (const _ of process.follow({ from: view.offset, signal })) {
			view = await live.read();
			if (view.screen.includes(text)) return { matched: "screen", byte_offset: view.offset };
		}
		if (signal.aborted) throw new HoldfastError("ABORTED", "the wait was interrupted; the process goes on");
		return { matched: "exit", byte_offset: view.offset };
	} finally {
		live.dispose();
	}
}

function check(process: Process, { input, screen, http, status }: UntilArgs): void {
	if ((input || screen !== undefined) && !process.spec.terminal)
		throw new HoldfastError(
			"INVALID",
			`${process.id} has no terminal, so until.${input ? "input" : "screen"} can never hold; use until.pattern for its output`,
		);
	if (status !== undefined && http === undefined) throw new HoldfastError("INVALID", "until.status goes with until.http");
}
