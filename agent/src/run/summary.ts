/** What a run has come to, in numbers: both rates, with errors left out and with errors as 0, and how sure they are. */

import type { ToolCount } from "../episode/index.js";
import type { LedgerRow, RunProgress } from "./ledger.js";

export interface RunSummary {
	readonly episodes: number;
	readonly done: number;
	readonly scored: number;
	readonly recorded: number;
	/** By what failed. */
	readonly errors: Readonly<Record<string, number>>;
	/** Attempts beyond the first, for whatever reason. */
	readonly repeated: number;
	/** Of those that were scored; null: none was. */
	readonly mean: number | null;
	/** The share with reward 1 among the scored, with the bounds of a Wilson interval of 95 %. */
	readonly solved: { readonly rate: number; readonly low: number; readonly high: number } | null;
	/** The same share if errors count as 0. */
	readonly solvedOfAll: number | null;
	readonly tokens: { readonly input: number; readonly output: number };
	readonly cost: number | null;
	readonly tools: readonly ToolCount[];
	/** Episodes whose task had something left that was ended. */
	readonly leftovers: number;
	/** Episodes of which something could not be ended. */
	readonly notGone: number;
}

export function summaryOf(episodes: number, { results, attempts }: RunProgress): RunSummary {
	const rows = [...results.values()];
	const rewards = rows.flatMap(({ outcome }) => (outcome.kind === "scored" ? [outcome.score.reward] : []));
	const failed = rows.flatMap(({ outcome }) => (outcome.kind === "error" ? [outcome.of] : []));
	const solved = rewards.filter((reward) => reward === 1).length;
	const costs = rows.flatMap(({ usage }) => (usage.cost === undefined ? [] : [usage.cost]));
	return {
		episodes,
		done: rows.length,
		scored: rewards.length,
		recorded: rows.filter(({ outcome }) => outcome.kind === "recorded").length,
		errors: Object.fromEntries([...new Set(failed)].sort().map((of) => [of, failed.filter((one) => one === of).length])),
		repeated: sum([...attempts.values()].map((count) => count - 1)),
		mean: rewards.length === 0 ? null : sum(rewards) / rewards.length,
		solved: rewards.length === 0 ? null : wilson(solved, rewards.length),
		solvedOfAll: rewards.length + failed.length === 0 || rewards.length === 0 ? null : solved / (rewards.length + failed.length),
		tokens: { input: sum(rows.map(({ usage }) => usage.input)), output: sum(rows.map(({ usage }) => usage.output)) },
		cost: costs.length === 0 ? null : sum(costs),
		tools: toolsOf(rows),
		leftovers: rows.filter(({ ended }) => ended.some((line) => line.startsWith("proc_"))).length,
		notGone: rows.filter(({ gone }) => !gone).length,
	};
}

/** The interval in which the true rate is with 95 % certainty, after Wilson. */
export function wilson(hits: number, of: number): { rate: number; low: number; high: number } {
	const z = 1.959964;
	const rate = hits / of;
	const middle = (rate + (z * z) / (2 * of)) / (1 + (z * z) / of);
	const half = (z * Math.sqrt((rate * (1 - rate)) / of + (z * z) / (4 * of * of))) / (1 + (z * z) / of);
	return { rate, low: Math.max(0, middle - half), high: Math.min(1, middle + half) };
}

function toolsOf(rows: readonly Extract<LedgerRow, { t: "result" }>[]): ToolCount[] {
	const all = new Map<string, ToolCount>();
	for (const { tool, count, failure } of rows.flatMap(({ tools }) => tools)) {
		const before = all.get(tool);
		all.set(tool, { tool, count: (before?.count ?? 0) + count, failure: (before?.failure ?? 0) + failure });
	}
	return [...all.values()].sort((a, b) => (a.tool < b.tool ? -1 : 1));
}

const sum = (numbers: readonly number[]): number => numbers.reduce((total, number) => total + number, 0);
