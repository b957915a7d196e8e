/** Rows of a ledger for tests of what is made of them. */
import type { Outcome } from "../../src/episode/index.js";
import type { LedgerRow, RunItem } from "../../src/run/index.js";

export const start = (index: number, attempt = 1): LedgerRow => ({
	...{ t: "start", at: "2026-01-01T00:00:00.000Z", index, attempt },
	...{ key: `k${index}`, digest: "d", task: `t/${index}.${attempt}`, place: "local" },
});

export const result = (
	index: number,
	outcome: Outcome,
	more: { readonly attempt?: number; readonly seconds?: number; readonly cost?: number } = {},
): LedgerRow => ({
	...{ t: "result", at: "2026-01-01T00:01:00.000Z", index, attempt: more.attempt ?? 1, outcome, conversation: null, ended: [], gone: true },
	seconds: more.seconds ?? 1,
	usage: { input: 10, output: 2, ...(more.cost === undefined ? {} : { cost: more.cost }) },
	tools: [{ tool: "terminal", count: 2, failure: 1 }],
});

export const scored = (reward: number): Outcome => ({ kind: "scored", score: { reward, evidence: [] }, end: "finished" });
export const failed: Outcome = { kind: "error", of: "place", code: "unavailable", words: "x", again: true };

/** So many tasks with so many repeats each. */
export const items = (tasks: number, repeats = 1, digest = "d"): RunItem[] =>
	Array.from({ length: tasks * repeats }, (_, index) => ({
		...{ kind: "prompt", key: `k${Math.floor(index / repeats)}`, digest, index, repeat: index % repeats },
		row: { prompt: "x" },
	}));
