/**
 * Waits until a program waits for input. Output is the event: a program prints its prompt before it waits, so checks come soon after the last output
 * and then ever more rarely; each takes well below a millisecond while the program is busy. Two checks must agree that nothing reached the program
 * between them: keys and output take a moment to pass through the terminal.
 */

import { DRAIN_MS, HoldfastError, Wakeup } from "../base/index.js";
import { isOver, type Process, type Status } from "../process/index.js";
import { type Look, look } from "./look.js";
import type { WaitingFor } from "./verdict.js";
import { CONFIRM_MS, conclude, confirms, IDLE_MS } from "./waiting.js";

export interface UntilWaitingOptions {
	readonly signal?: AbortSignal;
	/** Milliseconds. Default: no limit. */
	readonly timeout?: number;
	/** Time without output that counts as waiting, if the kernel does not tell. Default: five seconds. */
	readonly idleMs?: number;
}

export type UntilWaitingResult = {
	readonly status: Status;
	/** The end of the log at the last check: a screen at this offset shows the prompt. */
	readonly offset: number;
} & (
	| { readonly matched: "input"; readonly waiting_for: WaitingFor; readonly waiting_evidence: string }
	| { readonly matched: "exit" }
	| { readonly matched: null; readonly stopped?: string } // the time was up; or it is stopped, for this reason
);

/**
 * Times of the checks after the last output, in milliseconds: some programs work for a while after their prompt. Then every LOOK_AGAIN_MS, for a
 * program that began to wait without output.
 */
const LOOKS = [1, 5, 20, 50, 100, 160, 220, 280, 350, 430, 520, 620, 740, 880];
const LOOK_AGAIN_MS = 250;
const BURST_MS = 20; // more frequent checks during a flood of output are pointless

export async function untilWaiting(process: Process, options: UntilWaitingOptions = {}): Promise<UntilWaitingResult> {
	const { signal, idleMs = IDLE_MS, timeout = Number.POSITIVE_INFINITY } = options;
	const deadline = performance.now() + timeout;
	const wakeup = new Wakeup();
	const unwatch = process.watch(wakeup.poke);
	try {
		let offset = process.log.bounds().end;
		let since = performance.now(); // time of the last output
		let looks = 0;
		let nextAt = since + (LOOKS[0] as number);
		let burst = 1;
		let before: Look | undefined;
		for (;;) {
			if (signal?.aborted) throw new HoldfastError("ABORTED", "the wait was interrupted; the process goes on", { cause: signal.reason });
			const status = process.status();
			if (isOver(status)) {
				const end = await process.wait({ timeout: DRAIN_MS, signal }); // includes its last output
				return { matched: "exit", status: end.status, offset: end.offset };
			}
			const { end } = process.log.bounds();
			const late = performance.now() >= deadline;
			if (end !== offset) {
				if (late) return { matched: null, status, offset: end };
				offset = end;
				since = performance.now();
				looks = 0;
				before = undefined;
				nextAt = since + burst;
				await new Wakeup().next(Math.min(burst, deadline - since), signal);
				burst = Math.min(burst * 2, BURST_MS);
			} else {
				burst = 1;
				if (performance.now() >= nextAt) {
					const seen = await look(process);
					await process.sync(signal); // for a remote process: the check may be newer than the local copy of its log
					const now = performance.now();
					if (process.log.bounds().end !== offset) continue; // the check may be older than this output
					const found = conclude(seen.verdict, now - since, idleMs);
					if (found.waiting && (found.waiting_for === "idle" || confirms(seen, before, now - since))) {
						const { waiting_for, waiting_evidence } = found;
						return { matched: "input", status, offset, waiting_for, waiting_evidence };
					}
					if (seen.verdict.kind === "stopped" && before?.verdict.kind === "stopped") return { matched: null, status, offset, stopped: seen.verdict.why };
					before = seen;
					nextAt = found.waiting ? now + CONFIRM_MS : since + dueAt(++looks);
				}
				if (late) return { matched: null, status, offset };
				await wakeup.next(Math.min(nextAt, deadline) - performance.now(), signal);
			}
		}
	} finally {
		unwatch();
	}
}

const dueAt = (looks: number): number => LOOKS[looks] ?? (LOOKS.at(-1) as number) + (looks - LOOKS.length + 1) * LOOK_AGAIN_MS;
