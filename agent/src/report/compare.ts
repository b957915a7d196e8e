/** Two runs beside each other, episode by episode: pairs have the same task (key and digest) and the same number among its repeats. */
import type { RunItem, RunProgress } from "../run/index.js";
import { bootstrap, type Interval, mcnemar, meanOf } from "./estimates.js";
import { rewardOf } from "./numbers.js";

export interface ComparedRun {
	readonly items: readonly RunItem[];
	readonly progress: RunProgress;
}

export interface Flip {
	readonly key: string;
	readonly repeat: number;
	readonly first: { readonly index: number; readonly reward: number };
	readonly second: { readonly index: number; readonly reward: number };
}

export interface Comparison {
	/** Pairs of which both were scored. */
	readonly pairs: number;
	/** Solved in the second alone, and in the first alone. */
	readonly better: readonly Flip[];
	readonly worse: readonly Flip[];
	/** The probability of flips as uneven as these if neither were better. */
	readonly p: number;
	/** Second less first; the mean of the tasks, bounds by bootstrap over tasks. Null: no pair. */
	readonly reward: Interval | null;
	readonly seconds: Interval | null;
	readonly tokens: Interval | null;
	/** Null: prices are not known for both. */
	readonly cost: Interval | null;
	/** Pairs without a score on one side or both: an error, or no result yet. */
	readonly unscored: readonly { readonly key: string; readonly repeat: number; readonly first: string; readonly second: string }[];
	readonly onlyFirst: readonly string[];
	readonly onlySecond: readonly string[];
	/** In both by name, but the tasks themselves differ: never compared. */
	readonly changed: readonly string[];
}

interface Pair {
	readonly key: string;
	readonly repeat: number;
	readonly first: RunItem;
	readonly second: RunItem;
}

export function compareRuns(first: ComparedRun, second: ComparedRun): Comparison {
	const pairs = paired(first.items, second.items);
	const scored = pairs.flatMap((pair) => {
		const [one, other] = [first.progress.results.get(pair.first.index), second.progress.results.get(pair.second.index)];
		if (one?.outcome.kind !== "scored" || other?.outcome.kind !== "scored") return [];
		return [{ pair, one, other, from: rewardOf(one.outcome), to: rewardOf(other.outcome) }];
	});
	type Scored = (typeof scored)[number];
	const flip = ({ pair, from, to }: Scored): Flip => ({
		...{ key: pair.key, repeat: pair.repeat },
		first: { index: pair.first.index, reward: from },
		second: { index: pair.second.index, reward: to },
	});
	const better = scored.filter(({ from, to }) => from !== 1 && to === 1).map(flip);
	const worse = scored.filter(({ from, to }) => from === 1 && to !== 1).map(flip);
	const perTask = (change: (one: Scored) => number): Interval | null => bootstrap(byTask(scored, change)) ?? null;
	const priced = scored.length > 0 && scored.every(({ one, other }) => one.usage.cost !== undefined && other.usage.cost !== undefined);
	const [firstKeys, secondKeys] = [keysOf(first.items), keysOf(second.items)];
	return {
		pairs: scored.length,
		better,
		worse,
		p: mcnemar(better.length, worse.length),
		reward: perTask(({ from, to }) => to - from),
		seconds: perTask(({ one, other }) => other.seconds - one.seconds),
		tokens: perTask(({ one, other }) => other.usage.input + other.usage.output - one.usage.input - one.usage.output),
		cost: priced ? perTask(({ one, other }) => (other.usage.cost ?? 0) - (one.usage.cost ?? 0)) : null,
		unscored: pairs.flatMap(({ key, repeat, ...pair }) => {
			const [one, other] = [stateOf(first.progress, pair.first.index), stateOf(second.progress, pair.second.index)];
			return one === other && (one === "scored" || one === "recorded") ? [] : [{ key, repeat, first: one, second: other }];
		}),
		onlyFirst: [...firstKeys.keys()].filter((key) => !secondKeys.has(key)),
		onlySecond: [...secondKeys.keys()].filter((key) => !firstKeys.has(key)),
		changed: [...firstKeys].flatMap(([key, digest]) => (secondKeys.has(key) && secondKeys.get(key) !== digest ? [key] : [])),
	};
}

function paired(first: readonly RunItem[], second: readonly RunItem[]): Pair[] {
	const nameOf = ({ key, digest, repeat }: RunItem): string => JSON.stringify([key, digest, repeat]);
	const others = new Map(second.map((item) => [nameOf(item), item]));
	return first.flatMap((item) => {
		const other = others.get(nameOf(item));
		return other ? [{ key: item.key, repeat: item.repeat, first: item, second: other }] : [];
	});
}

const keysOf = (items: readonly RunItem[]): Map<string, string> => new Map(items.map(({ key, digest }) => [key, digest]));

function byTask<T extends { readonly pair: Pair }>(scored: readonly T[], change: (one: T) => number): number[] {
	const tasks = new Map<string, number[]>();
	for (const one of scored) tasks.set(one.pair.key, [...(tasks.get(one.pair.key) ?? []), change(one)]);
	return [...tasks.values()].map((changes) => meanOf(changes) as number);
}

function stateOf({ results }: RunProgress, index: number): string {
	const outcome = results.get(index)?.outcome;
	if (!outcome) return "no result yet";
	return outcome.kind === "error" ? `error: ${outcome.of}/${outcome.code}` : outcome.kind;
}
