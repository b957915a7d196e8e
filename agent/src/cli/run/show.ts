/** `show RUN`: what has become of each episode so far. Reads only; a run that is under way is not disturbed. */
import { label, readProgress, readRun, summaryOf } from "../../run/index.js";
import type { Call } from "../table.js";
import { folderOf } from "./run.js";
import { outcomeText, printSummary } from "./run-words.js";

export async function run(call: Call): Promise<number> {
	const { out } = call;
	const dir = folderOf(call);
	const { manifest, items } = readRun(dir);
	const progress = readProgress(dir);
	const summary = summaryOf(items.length, progress);
	if (out.json) {
		const episodes = items.map(({ index, key, repeat }) => ({
			index,
			key,
			repeat,
			attempts: progress.attempts.get(index) ?? 0,
			result: progress.results.get(index) ?? null,
		}));
		out.data({ manifest, summary, episodes });
		return 0;
	}
	out.table(
		["EPISODE", "TASK", "ATTEMPTS", "RESULT"],
		items.map(({ index, key }) => {
			const result = progress.results.get(index);
			const state = result ? outcomeText(out, result.outcome) : progress.open.has(index) ? "under way, or its program is gone" : "waits";
			return [label(index), key, String(progress.attempts.get(index) ?? 0), state];
		}),
	);
	printSummary(out, summary);
	return 0;
}
