/** A row for each segment of token ids: what a trainer takes as it is. An episode without ids has no row, and is counted. */
import { segmentsOf } from "../talk/index.js";
import { Real } from "./columns.js";
import { type ExportedEpisode, endOf } from "./episode.js";

const UNTRAINED = -100; // in a mask: what the model read

export interface Rollout {
	readonly tokens: readonly number[];
	/** The id where the model wrote it, -100 where it read it. */
	readonly masks: readonly number[];
	/** 1 where the model read; empty if the server gave none. */
	readonly logprobs: readonly number[];
}

export function rolloutsOf({ entries }: Pick<ExportedEpisode, "entries">): Rollout[] {
	return segmentsOf(entries).map(({ ids, written, logprobs }) => ({
		tokens: ids,
		masks: ids.map((id, at) => (written[at] ? id : UNTRAINED)),
		logprobs: logprobs ?? [],
	}));
}

export function* rolloutRows(episode: ExportedEpisode): Generator<unknown> {
	const { id, manifest, item, result, reward } = episode;
	const rollouts = rolloutsOf(episode);
	for (const [segment, { tokens, masks, logprobs }] of rollouts.entries()) {
		yield {
			...{ id, run: manifest.id, index: item.index, key: item.key, digest: item.digest, repeat: item.repeat, attempt: result.attempt, model: manifest.model },
			...{ outcome: result.outcome.kind, end: endOf(episode), rewards: reward === undefined ? [] : [new Real(reward)] },
			...{ segment, segments: rollouts.length, tokens, masks, logprobs: logprobs.map((logprob) => new Real(logprob)) },
			/** Answers of the episode that have no ids. */
			without_ids: episode.entries.filter((entry) => entry.t === "assistant" && !entry.tokens).length,
		};
	}
}
