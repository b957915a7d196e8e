/** `show RUN [INDEX]`: what has become of each episode so far, or of one. Reads only; a run that is under way is not disturbed. */
import fs from "node:fs";
import path from "node:path";
import { numbersOf } from "../../report/index.js";
import { attemptFolder, type LedgerRow, label, readLedger, readProgress, readRequests, readRun, runnerOf } from "../../run/index.js";
import type { Call } from "../table.js";
import { episodeOf } from "./ask.js";
import { folderOf } from "./play.js";
import { outcomeText, printSummary } from "./run-words.js";

export async function run(call: Call): Promise<number> {
	if (call.words[1] !== undefined) return showEpisode(call);
	const { out } = call;
	const dir = folderOf(call);
	const { manifest, items } = readRun(dir);
	const progress = readProgress(dir);
	const summary = numbersOf(items, progress);
	const runner = runnerOf(dir);
	const { paused, concurrency } = readRequests(dir);
	if (out.json) {
		const episodes = items.map(({ index, key, repeat }) => ({
			...{ index, key, repeat },
			attempts: progress.attempts.get(index) ?? 0,
			result: progress.results.get(index) ?? null,
		}));
		out.data({ manifest, summary, episodes, runner: runner?.pid ?? null, paused, concurrency: concurrency ?? manifest.concurrency });
		return 0;
	}
	out.table(
		["EPISODE", "TASK", "ATTEMPTS", "RESULT"],
		items.map(({ index, key }) => {
			const result = progress.results.get(index);
			const state = result ? outcomeText(out, result.outcome) : progress.open.has(index) ? (runner ? "under way" : "its program is gone") : "waits";
			return [label(index), key, String(progress.attempts.get(index) ?? 0), state];
		}),
	);
	printSummary(out, summary);
	out.line(runner ? `a program runs it (pid ${runner.pid})${paused ? ", and it is paused" : ""}` : `no program runs it${paused ? "; it is paused" : ""}`);
	return 0;
}

function showEpisode(call: Call): number {
	const { out } = call;
	const { dir, index, progress } = episodeOf(call);
	const item = readRun(dir).items[index];
	const rows = readLedger(dir).filter((row) => row.index === index);
	const attempts = Array.from({ length: progress.attempts.get(index) ?? 0 }, (_, at) => at + 1).map((attempt) => {
		const folder = attemptFolder(dir, index, attempt);
		return { attempt, folder, files: filesIn(folder) };
	});
	if (out.json) {
		out.data({ item, rows, attempts, result: progress.results.get(index) ?? null });
		return 0;
	}
	out.line(`episode ${index}: ${item?.key}, repeat ${(item?.repeat ?? 0) + 1}, digest ${item?.digest.slice(0, 12)}`);
	for (const row of rows) out.line(`${row.at}  ${rowText(call, row)}`);
	for (const { folder, files } of attempts) for (const file of files) out.line(path.join(folder, file));
	return 0;
}

function rowText({ out }: Call, row: LedgerRow): string {
	const which = `attempt ${row.attempt}`;
	switch (row.t) {
		case "start":
			return `${which} began on ${row.place ?? "its place"} as ${row.task}`;
		case "result":
			return `${which}: ${outcomeText(out, row.outcome)}, ${row.seconds} s, ${row.usage.input + row.usage.output} tokens; ended ${row.ended.join(", ") || "nothing"}`;
		case "failed":
			return `${which}: ${outcomeText(out, row.outcome)}; tried again`;
		case "lost":
			return `${which} was ${row.why === "stopped" ? "stopped" : "lost with its program"}; ended ${row.ended.join(", ") || "nothing"}`;
		case "requeued":
			return `${which} does not count any more: a person wants the episode again`;
		case "rescored":
			return row.problem === undefined ? `${which} scored again: ${outcomeText(out, row.outcome)}` : `${which} cannot be scored again: ${row.problem}`;
	}
}

function filesIn(folder: string): string[] {
	if (!fs.existsSync(folder)) return [];
	return fs
		.readdirSync(folder, { recursive: true, withFileTypes: true })
		.filter((entry) => entry.isFile())
		.map((entry) => path.relative(folder, path.join(entry.parentPath ?? entry.path, entry.name)))
		.sort();
}
