/** One episode of a run as every format takes it: its result, and its conversation as far as it can be read. */
import path from "node:path";
import { label, type RunItem, type RunManifest, readProgress, readRun } from "../run/index.js";
import { type Entry, readableLog, undoneLines } from "../talk/index.js";

type Result = ReturnType<typeof readProgress>["results"] extends ReadonlyMap<number, infer R> ? R : never;

export interface ExportedEpisode {
	/** RUN/000003.1: unique. */
	readonly id: string;
	readonly manifest: RunManifest;
	readonly item: RunItem;
	readonly result: Result;
	readonly folder: string;
	/** Lines that were not taken back. */
	readonly entries: readonly Entry[];
	readonly system: string;
	readonly tools: readonly ShownTool[];
	/** Undefined: none. An error is no 0. */
	readonly reward: number | undefined;
	/** Why its conversation is not whole; "" if it is. */
	readonly corrupted: string;
	/** Names that the model has called and that were not shown to it. */
	readonly unknownTools: readonly string[];
}

type ShownTool = Extract<Entry, { t: "shown" }>["tools"][number];

export type OutcomeKind = Result["outcome"]["kind"];

export interface Selection {
	/** Which outcomes; default: all. */
	readonly only?: readonly OutcomeKind[];
	/** Leaves out those with a damaged conversation or an unknown tool. */
	readonly clean?: boolean;
}

export interface RunToExport {
	readonly dir: string;
	readonly manifest: RunManifest;
	readonly items: readonly RunItem[];
	readonly results: ReadonlyMap<number, Result>;
}

export function openRun(dir: string): RunToExport {
	const { manifest, items } = readRun(dir);
	return { dir, manifest, items, results: readProgress(dir).results };
}

/** Yields episodes with a result, one at a time, in their order; the widest comes first, since loaders take the types of columns from the beginning of a file. */
export function* episodesOf(run: RunToExport, { only, clean }: Selection = {}): Generator<ExportedEpisode, void> {
	const wanted = run.items.filter(({ index }) => {
		const result = run.results.get(index);
		return result !== undefined && (only === undefined || only.includes(result.outcome.kind));
	});
	const first = wanted.reduce<RunItem | undefined>((best, item) => (best === undefined || width(run, item) > width(run, best) ? item : best), undefined);
	for (const item of first ? [first, ...wanted.filter((one) => one !== first)] : []) {
		const episode = episodeOf(run, item);
		if (!clean || (episode.corrupted === "" && episode.unknownTools.length === 0)) yield episode;
	}
}

function width({ results }: RunToExport, { index }: RunItem): number {
	const result = results.get(index);
	if (!result?.conversation) return -1;
	return (result.outcome.kind === "scored" ? 1_000_000 : 0) + result.tools.reduce((sum, { count }) => sum + count, 0);
}

function episodeOf({ dir, manifest, results }: RunToExport, item: RunItem): ExportedEpisode {
	const result = results.get(item.index) as Result;
	const name = `${label(item.index)}.${result.attempt}`;
	const { conversation } = result;
	const { entries: all, problem } = conversation === null ? { entries: [] } : readableLog(path.join(dir, "talk", "conversations", `${conversation}.jsonl`));
	const taken = undoneLines(all);
	const entries = all.filter(({ n }) => !taken(n));
	const shown = all.findLast((entry) => entry.t === "shown");
	const { system, tools } = shown?.t === "shown" ? shown : { system: "", tools: [] };
	const names = new Set(tools.map((tool) => tool.name));
	const called = entries.flatMap((entry) => (entry.t === "assistant" ? entry.calls.map((call) => call.name) : []));
	return {
		...{ id: `${manifest.id}/${name}`, manifest, item, result, folder: path.join(dir, "episodes", name), entries, system, tools },
		reward: rewardOf(result.outcome),
		corrupted: problem ?? "",
		unknownTools: names.size === 0 ? [] : [...new Set(called.filter((one) => !names.has(one)))],
	};
}

export const rewardOf = (outcome: Result["outcome"]): number | undefined => (outcome.kind === "scored" ? outcome.score.reward : undefined);

/** How the agent stopped; "" for an error. */
export const endOf = ({ result: { outcome } }: ExportedEpisode): string => (outcome.kind === "error" ? "" : outcome.end);

export const errorOf = ({ result: { outcome } }: ExportedEpisode): string =>
	outcome.kind === "error" ? `${outcome.of} ${outcome.code}: ${outcome.words}` : "";

/** A tool as OpenAI's format has it. */
export const functionOf = ({ name, description, schema }: ShownTool) => ({ type: "function", function: { name, description, parameters: schema } });
