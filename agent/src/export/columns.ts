/**
 * Columns that every row of a table of episodes has, with the same keys and types in each: columnar loaders take the types from the first rows and fail at
 * others. So nothing is left out or null; what may be missing is a list, and what varies is JSON as text.
 */
import { type ExportedEpisode, endOf, errorOf } from "./episode.js";

/** A number that is written with a decimal point also when it is whole: else 1 is an integer and 0.5 is not. */
export class Real {
	readonly value: number;
	constructor(value: number) {
		this.value = value;
	}
}

const MARK = `real ${Math.random().toString(36).slice(2)}${Math.random().toString(36).slice(2)} `; // in no text of anyone else's
const REALS = new RegExp(`"${MARK}([^"]*)"`, "g");

/** Returns a row as a line of JSON. */
export function lineOf(row: unknown): string {
	const text = JSON.stringify(row, (_, value: unknown) => (value instanceof Real ? MARK + written(value.value) : value));
	return `${text.replace(REALS, "$1")}\n`;
}

const written = (value: number): string => (Number.isInteger(value) ? value.toFixed(1) : String(value));

export function columnsOf(episode: ExportedEpisode) {
	const { id, manifest, item, result, reward, corrupted, unknownTools } = episode;
	const { outcome, usage, tools } = result;
	return {
		...{ id, run: manifest.id, index: item.index, key: item.key, digest: item.digest, repeat: item.repeat, attempt: result.attempt },
		...{ model: manifest.model, timestamp: result.at, outcome: outcome.kind, end: endOf(episode), error: errorOf(episode) },
		/** One number, or none: an error is not 0. */
		rewards: reward === undefined ? [] : [new Real(reward)],
		...{ completed: isCompleted(episode), partial: !isCompleted(episode), corrupted, unknown_tools: unknownTools.join(",") },
		tool_stats: tools.map(({ tool, count, failure }) => ({ tool, count, success: count - failure, failure })),
		...{ tokens_in: usage.input, tokens_out: usage.output, seconds: new Real(result.seconds) },
	};
}

/** The model came to its own end, and all of it is there. */
export const isCompleted = (episode: ExportedEpisode): boolean => endOf(episode) === "finished" && episode.corrupted === "";
