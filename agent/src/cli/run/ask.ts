/** `pause`, `set`, `cancel`, `requeue`, `rescore`: what a person asks of a run. It is written into the run, and holds also for the next program that runs it. */
import { AgentError } from "../../base/index.js";
import { askRun, attemptKey, type RunProgress, type RunRequest, readProgress, readRequests, readRun, runnerOf } from "../../run/index.js";
import { numberOf } from "../settings.js";
import type { Call } from "../table.js";
import { folderOf, play } from "./play.js";

export async function pause(call: Call): Promise<number> {
	const dir = folderOf(call);
	readRun(dir);
	if (readRequests(dir).paused) call.out.line("it is paused already; `holdfast-agent resume` goes on");
	else await asked(call, dir, { do: "pause" }, "paused: nothing starts, what runs goes on; `holdfast-agent resume` goes on");
	return 0;
}

export async function set(call: Call): Promise<number> {
	const dir = folderOf(call);
	readRun(dir);
	const [, setting = ""] = call.words;
	const [, name, value] = /^([^=]+)=(.*)$/.exec(setting) ?? [];
	if (name !== "concurrency") throw new AgentError("INVALID", `"${setting}" cannot be set; there is concurrency=N`);
	const concurrency = numberOf("concurrency", value);
	if (concurrency < 1 || concurrency > 100_000) throw new AgentError("INVALID", `concurrency is ${concurrency}, but must be from 1 to 100000`);
	await asked(call, dir, { do: "set", concurrency }, `${concurrency} episodes at a time from now on`);
	return 0;
}

export async function cancel(call: Call): Promise<number> {
	const { dir, index, progress } = episodeOf(call);
	if (progress.results.has(index)) throw new AgentError("INVALID", `episode ${index} has its result already; \`requeue\` makes it again`);
	const made = progress.attempts.get(index) ?? 0;
	const attempt = progress.open.has(index) ? made : made + 1;
	if (readRequests(dir).cancelled.has(attemptKey(index, attempt))) call.out.line(`episode ${index} is cancelled already`);
	else await asked(call, dir, { do: "cancel", index, attempt }, `episode ${index}, attempt ${attempt}: it is ended, and its result is an error`);
	return 0;
}

export async function requeue(call: Call): Promise<number> {
	const { dir, index, progress } = episodeOf(call);
	const result = progress.results.get(index);
	if (!result)
		throw new AgentError("INVALID", `episode ${index} has no result that could be taken back: it ${progress.open.has(index) ? "is under way" : "waits"}`);
	await asked(
		call,
		dir,
		{ do: "requeue", index, attempt: result.attempt },
		`episode ${index}: the result of attempt ${result.attempt} does not count any more, and it is made again`,
	);
	return 0;
}

/** Without a program that runs the run, this one does it. */
export async function rescore(call: Call): Promise<number> {
	const dir = folderOf(call);
	const { manifest, items } = readRun(dir);
	const progress = readProgress(dir);
	const wanted = call.words[1] === undefined ? [...progress.results.keys()] : [episodeOf(call).index];
	for (const index of wanted) {
		const result = progress.results.get(index);
		if (!result) throw new AgentError("INVALID", `episode ${index} has no result yet, so there is nothing to score again`);
		await askRun(dir, { do: "rescore", index, attempt: result.attempt });
	}
	const runner = runnerOf(dir);
	if (runner) {
		call.out.line(`${wanted.length} episodes are scored again by the program that runs the run (pid ${runner.pid})`);
		return 0;
	}
	return play(call, { dir, manifest, items, concurrency: manifest.concurrency, only: "requests" });
}

async function asked({ out }: Call, dir: string, request: RunRequest, words: string): Promise<void> {
	await askRun(dir, request);
	const runner = runnerOf(dir);
	out.line(runner ? words : `${words}. No program runs this run: it counts when \`holdfast-agent resume ${dir}\` does`);
}

export function episodeOf(call: Call): { readonly dir: string; readonly index: number; readonly progress: RunProgress } {
	const dir = folderOf(call);
	const { items } = readRun(dir);
	const [, word] = call.words;
	if (word === undefined) throw new AgentError("INVALID", "say which episode: its index, as `holdfast-agent show` lists it");
	const index = numberOf("INDEX", word);
	if (!items[index]) throw new AgentError("NOT_FOUND", `there is no episode ${index}; the run has 0 to ${items.length - 1}`);
	return { dir, index, progress: readProgress(dir) };
}
