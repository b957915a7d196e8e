/** Groups of a run: the repeats of one item. What a trainer can learn from is sent; of every other it is said why not. */
import { type ExportedEpisode, episodesOf, type RunToExport } from "../episode.js";
import { rolloutsOf } from "../rollouts.js";

export interface Group {
	/** Key and digest: the same prompt twice in a file is two groups. */
	readonly id: string;
	readonly indices: readonly number[];
}

export function groupsOf({ items }: RunToExport): Group[] {
	const groups = new Map<string, number[]>();
	for (const { key, digest, index } of items) {
		const id = `${key} ${digest.slice(0, 12)}`;
		groups.set(id, [...(groups.get(id) ?? []), index]);
	}
	return [...groups].map(([id, indices]) => ({ id, indices }));
}

/** The data for the trainer. */
export interface ScoredData {
	readonly tokens: readonly (readonly number[])[];
	readonly masks: readonly (readonly number[])[];
	readonly scores: readonly number[];
	readonly inference_logprobs?: readonly (readonly number[])[];
}

export type SkipReason = "no reward" | "no token ids" | "several segments" | "too long" | "equal scores";

/** Returns what to send of a group whose episodes all have a result, or why it is not sent. */
export function scoredData(run: RunToExport, { indices }: Group, mostTokens: number): ScoredData | SkipReason {
	const episodes = [...episodesOf({ ...run, items: run.items.filter(({ index }) => indices.includes(index)) })].sort((a, b) => a.item.index - b.item.index);
	const scores = episodes.map(({ reward }) => reward);
	if (!scores.every((score) => score !== undefined)) return "no reward";
	const rollouts = episodes.map(rolloutsOf);
	if (rollouts.some((list, at) => list.length === 0 || withoutIds(episodes[at] as ExportedEpisode))) return "no token ids";
	if (rollouts.some((list) => list.length > 1)) return "several segments"; // the trainer takes one sequence for each episode, and they are not joined
	const all = rollouts.flat();
	if (all.some(({ tokens }) => tokens.length >= mostTokens)) return "too long";
	if (scores.every((score) => score === scores[0])) return "equal scores";
	const logprobs = all.map((one) => one.logprobs);
	return {
		...{ tokens: all.map(({ tokens }) => tokens), masks: all.map(({ masks }) => masks), scores },
		...(logprobs.every((list) => list.length > 0) ? { inference_logprobs: logprobs } : {}),
	};
}

const withoutIds = ({ entries }: ExportedEpisode): boolean => entries.some((entry) => entry.t === "assistant" && !entry.tokens);
