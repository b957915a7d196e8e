/** Determines whether a program on a terminal waits for input, by two checks. */
import path from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { statIfThere } from "../base/index.js";
import { segmentName, segmentStarts } from "../keeper/index.js";
import type { Process } from "../process/index.js";
import { type Look, look } from "./look.js";
import type { WaitingFor, WaitVerdict } from "./verdict.js";

/** `stopped`: why it will not continue by itself. */
export type Waiting =
	| { readonly waiting: false; readonly stopped?: string }
	| { readonly waiting: true; readonly waiting_for: WaitingFor; readonly waiting_evidence: string };

export const IDLE_MS = 5_000;
/** A program that draws ten times a second is at work, even if it would take a key meanwhile. */
export const QUIET_MS = 150;

/** Time between two checks. Keys are in transit for a moment, during which the program still waits for them. */
export const CONFIRM_MS = 10;

/** Returns the current state. `idle` only if the kernel does not tell and nothing was printed or typed for `idleMs`. `reuse`: as in `look`. */
export async function waitingFor(process: Process, options: { idleMs?: number; reuse?: boolean } = {}): Promise<Waiting> {
	const { idleMs = IDLE_MS } = options;
	const before = await look(process, options);
	const first = conclude(before.verdict, quietMs(process), idleMs);
	if (!first.waiting || first.waiting_for === "idle") return first;
	await sleep(CONFIRM_MS);
	const seen = await look(process, options);
	const quiet = quietMs(process);
	return confirms(seen, before, quiet) ? conclude(seen.verdict, quiet, idleMs) : { waiting: false };
}

/**
 * Returns true if nothing reached the program between two checks. A program that often wakes by itself never shows the same mark twice; then it must
 * be quiet.
 */
export const confirms = (seen: Look, before: Look | undefined, quiet: number): boolean =>
	before?.verdict.kind === "waiting" && (before.mark === seen.mark || quiet >= QUIET_MS);

export function conclude(verdict: WaitVerdict, quiet: number, idleMs: number): Waiting {
	if (verdict.kind === "waiting" && (!verdict.timed || quiet >= QUIET_MS))
		return { waiting: true, waiting_for: verdict.for, waiting_evidence: verdict.evidence };
	if (verdict.kind === "unknown" && quiet >= idleMs)
		return { waiting: true, waiting_for: "idle", waiting_evidence: `nothing printed for ${Math.round(idleMs / 100) / 10} s; ${verdict.why}` };
	return verdict.kind === "stopped" ? { waiting: false, stopped: verdict.why } : { waiting: false };
}

/** Returns the time since the last output or input: the mtime of the input FIFO is that of the last write to it. */
function quietMs(process: Process): number {
	const last = segmentStarts(process.dir).at(-1);
	const times = [last === undefined ? undefined : segmentName(last), "in"].map((name) => name && statIfThere(path.join(process.dir, name))?.mtimeMs);
	return Date.now() - Math.max(process.spec.startedAt, ...times.map((time) => time || 0));
}
