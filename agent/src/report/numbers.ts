/** The results of a run in numbers: both rates, with errors left out and with errors as 0, and how sure they are. */
import type { RunItem, RunProgress } from "../run/index.js";
import { bootstrap, type Interval, meanOf, passAtK, percentile, sumOf, wilson } from "./estimates.js";

type Row = RunProgress["results"] extends ReadonlyMap<number, infer R> ? R : never;

export interface ToolNumbers {
	readonly tool: string;
	readonly count: number;
	readonly failure: number;
}

export interface Spread {
	readonly p50: number;
	readonly p90: number;
	readonly total: number;
}

export interface RunNumbers {
	readonly episodes: number;
	readonly done: number;
	readonly scored: number;
	readonly recorded: number;
	/** By what failed, and by `of/code`. */
	readonly errors: Readonly<Record<string, number>>;
	readonly codes: Readonly<Record<string, number>>;
	/** Why agents stopped, of those that were scored or recorded. */
	readonly ends: Readonly<Record<string, number>>;
	/** Attempts that do not count: failed and made again, lost with their program, taken back. */
	readonly repeated: number;
	/** The mean reward of the tasks; bounds by bootstrap over tasks. Null: none was scored. */
	readonly mean: Interval | null;
	/** The share with reward 1 among the scored; bounds after Wilson. */
	readonly solved: Interval | null;
	/** The same share if errors count as 0. */
	readonly solvedOfAll: Interval | null;
	/** The chance that one of k attempts solves a task, for each k that every task with a score has attempts for. */
	readonly passAt: readonly { readonly k: number; readonly rate: number }[];
	/** The rate among episodes that needed more than one attempt beside that of the others: whether repeating shifts the result. */
	readonly solvedByAttempts: { readonly first: number | null; readonly repeated: number | null };
	/** All attempts, also those that do not count. */
	readonly tokens: { readonly input: number; readonly output: number; readonly cached: number };
	/** Null: no endpoint told a price. */
	readonly cost: number | null;
	/** Attempts of which the tokens are not known, as their program was killed. */
	readonly unknownUsage: number;
	readonly tools: readonly ToolNumbers[];
	/** Seconds of the episodes that count. */
	readonly wall: Spread | null;
	/** Seconds from the first row of the ledger to the last. */
	readonly took: number;
	/** Episodes whose task had processes left that were ended. */
	readonly leftovers: number;
	/** Episodes of which something could not be ended. */
	readonly notGone: number;
}

/** One task with the rewards of its repeats. */
export interface TaskNumbers {
	readonly key: string;
	readonly digest: string;
	readonly rewards: readonly number[];
	readonly errors: number;
	readonly waiting: number;
}

export function numbersOf(items: readonly Pick<RunItem, "index" | "key" | "digest">[], progress: RunProgress): RunNumbers {
	const { results, attempts, besides } = progress;
	const rows = [...results.values()];
	const rewards = rows.flatMap(({ outcome }) => (outcome.kind === "scored" ? [rewardOf(outcome)] : []));
	const failed = rows.flatMap(({ outcome }) => (outcome.kind === "error" ? [outcome] : []));
	const solved = rewards.filter((reward) => reward === 1).length;
	const spent = [...rows, ...besides].flatMap(({ usage }) => (usage ? [usage] : []));
	const costs = spent.flatMap(({ cost }) => (cost === undefined ? [] : [cost]));
	const tasks = tasksOf(items, progress).filter((task) => task.rewards.length > 0);
	const rateWhere = (holds: (row: Row) => boolean): number | null => {
		const some = rows.filter((row) => row.outcome.kind === "scored" && holds(row));
		return meanOf(some.map(({ outcome }) => (outcome.kind === "scored" && rewardOf(outcome) === 1 ? 1 : 0)));
	};
	return {
		episodes: items.length,
		done: rows.length,
		scored: rewards.length,
		recorded: rows.filter(({ outcome }) => outcome.kind === "recorded").length,
		errors: counted(failed.map(({ of }) => of)),
		codes: counted(failed.map(({ of, code }) => `${of}/${code}`)),
		ends: counted(rows.flatMap(({ outcome }) => (outcome.kind === "error" ? [] : [outcome.end]))),
		repeated: besides.length,
		mean: bootstrap(tasks.map((task) => meanOf(task.rewards) as number)) ?? null,
		solved: rewards.length === 0 ? null : wilson(solved, rewards.length),
		solvedOfAll: rewards.length === 0 ? null : wilson(solved, rewards.length + failed.length),
		passAt: passRates(tasks),
		solvedByAttempts: { first: rateWhere(({ index }) => (attempts.get(index) ?? 1) === 1), repeated: rateWhere(({ index }) => (attempts.get(index) ?? 1) > 1) },
		tokens: {
			input: sumOf(spent.map(({ input }) => input)),
			output: sumOf(spent.map(({ output }) => output)),
			cached: sumOf(spent.map(({ cached = 0 }) => cached)),
		},
		cost: costs.length === 0 ? null : sumOf(costs),
		unknownUsage: besides.filter(({ usage }) => usage === undefined).length,
		tools: toolsOf(rows),
		wall: spreadOf(rows.map(({ seconds }) => seconds)),
		took: progress.firstAt && progress.lastAt ? (Date.parse(progress.lastAt) - Date.parse(progress.firstAt)) / 1_000 : 0,
		leftovers: rows.filter(({ ended }) => ended.some((line) => line.startsWith("proc_"))).length,
		notGone: rows.filter(({ gone }) => !gone).length,
	};
}

export function tasksOf(items: readonly Pick<RunItem, "index" | "key" | "digest">[], { results }: RunProgress): TaskNumbers[] {
	const all = new Map<string, { key: string; digest: string; rewards: number[]; errors: number; waiting: number }>();
	for (const { index, key, digest } of items) {
		const name = `${key} ${digest}`;
		const task = all.get(name) ?? { key, digest, rewards: [], errors: 0, waiting: 0 };
		all.set(name, task);
		const outcome = results.get(index)?.outcome;
		if (!outcome) task.waiting++;
		else if (outcome.kind === "error") task.errors++;
		else if (outcome.kind === "scored") task.rewards.push(rewardOf(outcome));
	}
	return [...all.values()];
}

export const rewardOf = (outcome: { readonly score: { readonly reward: number } } | { readonly reward: number }): number =>
	"score" in outcome ? outcome.score.reward : outcome.reward;

function passRates(tasks: readonly TaskNumbers[]): { k: number; rate: number }[] {
	const fewest = Math.min(...tasks.map(({ rewards }) => rewards.length));
	if (tasks.length === 0) return [];
	return Array.from({ length: fewest }, (_, at) => at + 1).map((k) => ({
		k,
		rate: meanOf(tasks.map(({ rewards }) => passAtK(rewards.length, rewards.filter((reward) => reward === 1).length, k))) as number,
	}));
}

function toolsOf(rows: readonly Row[]): ToolNumbers[] {
	const all = new Map<string, ToolNumbers>();
	for (const { tool, count, failure } of rows.flatMap(({ tools }) => tools)) {
		const before = all.get(tool);
		all.set(tool, { tool, count: (before?.count ?? 0) + count, failure: (before?.failure ?? 0) + failure });
	}
	return [...all.values()].sort((a, b) => (a.tool < b.tool ? -1 : 1));
}

function spreadOf(values: readonly number[]): Spread | null {
	if (values.length === 0) return null;
	return { p50: percentile(values, 0.5) as number, p90: percentile(values, 0.9) as number, total: sumOf(values) };
}

function counted(names: readonly string[]): Record<string, number> {
	const all = new Map<string, number>();
	for (const name of names) all.set(name, (all.get(name) ?? 0) + 1);
	return Object.fromEntries([...all].sort(([a], [b]) => (a < b ? -1 : 1)));
}
