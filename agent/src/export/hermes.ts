/** Rows as the batch runner of hermes-agent writes them, with what it drops: rows of unknown tools and damaged ones are marked. */
import { isCompleted, Real } from "./columns.js";
import type { ExportedEpisode, RunToExport } from "./episode.js";
import { shareTurns } from "./messages.js";

/** Every tool of the run has its key in every row: a map with other keys in each row cannot be a column. */
export function hermesRows({ results }: RunToExport): (episode: ExportedEpisode) => unknown {
	const names = [...new Set([...results.values()].flatMap(({ tools }) => tools.map(({ tool }) => tool)))].sort();
	return (episode) => {
		const { manifest, item, result, reward, corrupted, unknownTools } = episode;
		const counts = new Map(result.tools.map((one) => [one.tool, one]));
		const of = (tool: string) => counts.get(tool) ?? { count: 0, failure: 0 };
		const own = item.kind === "prompt" ? item.row.toolsets : undefined;
		return {
			prompt_index: item.index,
			conversations: shareTurns(episode),
			metadata: { batch_num: 0, timestamp: result.at, model: manifest.model },
			...{ completed: isCompleted(episode), partial: !isCompleted(episode) },
			api_calls: episode.entries.filter(({ t }) => t === "assistant").length,
			toolsets_used: [...(own ?? manifest.toolsets)],
			tool_stats: Object.fromEntries(
				names.map((tool) => [tool, { count: of(tool).count, success: of(tool).count - of(tool).failure, failure: of(tool).failure }]),
			),
			tool_error_counts: Object.fromEntries(names.map((tool) => [tool, of(tool).failure])),
			...{ key: item.key, rewards: reward === undefined ? [] : [new Real(reward)], unknown_tools: unknownTools.join(","), corrupted },
		};
	};
}
