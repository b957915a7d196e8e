/** Does a program on a terminal wait for somebody to type? One look, and waiting until a look says so. */
import fs from "node:fs";
import path from "node:path";
import { segmentName, segmentStarts } from "../keeper/layout.js";
import type { Process } from "../process/process.js";
import { look } from "./look.js";
import type { Verdict, WaitingFor } from "./verdict.js";

export type Waiting = { readonly waiting: false } | { readonly waiting: true; readonly waiting_for: WaitingFor; readonly waiting_evidence: string };

export const IDLE_MS = 5_000;
/** A program that draws something ten times a second is at work, also if it would take a key meanwhile. */
export const QUIET_MS = 150;

/** As it is now. `idle` only where the kernel does not say and nothing was printed for `idleMs`. */
export async function waitingFor(process: Process, options: { idleMs?: number } = {}): Promise<Waiting> {
	const { verdict } = await look(process);
	return conclude(verdict, quietMs(process), options.idleMs ?? IDLE_MS);
}

export function conclude(verdict: Verdict, quiet: number, idleMs: number): Waiting {
	if (verdict.kind === "waiting" && (!verdict.timed || quiet >= QUIET_MS))
		return { waiting: true, waiting_for: verdict.for, waiting_evidence: verdict.evidence };
	if (verdict.kind === "unknown" && quiet >= idleMs)
		return { waiting: true, waiting_for: "idle", waiting_evidence: `nothing printed for ${Math.round(idleMs / 100) / 10} s; ${verdict.why}` };
	return { waiting: false };
}

/** How long it has printed nothing. */
function quietMs(process: Process): number {
	const last = segmentStarts(process.dir).at(-1);
	const stat = last === undefined ? undefined : fs.statSync(path.join(process.dir, segmentName(last)), { throwIfNoEntry: false });
	return Date.now() - (stat?.mtimeMs ?? process.spec.startedAt);
}
