/**
 * Runs what has no result yet, so many at a time. Each attempt is in the ledger before it starts and its result before the next one does; a program that is
 * killed leaves starts without an end, which the next one ends, marks and makes again. So each index has exactly one result.
 */
import path from "node:path";
import { openRuntime, type Runtime } from "holdfast";
import { ensureDir } from "../base/index.js";
import { environmentOf } from "../environments/index.js";
import { type EpisodeAgent, type EpisodeResult, endEpisode, endedLines, runEpisode } from "../episode/index.js";
import { Ledger } from "./ledger.js";
import type { RunItem, RunManifest } from "./manifest.js";
import { keptIn, type Proof, prove } from "./proof.js";

const RETRIES = 2; // for what is not the model's doing

export interface RunnerOptions {
	readonly dir: string;
	readonly manifest: RunManifest;
	readonly items: readonly RunItem[];
	/** Who acts. */
	readonly agent: EpisodeAgent;
	readonly concurrency: number;
	/** Stops the run: what is under way is ended, and nothing of it has a result. */
	readonly signal: AbortSignal;
	readonly tell: (event: RunEvent) => void;
}

export type RunEvent =
	| { readonly type: "recovered"; readonly index: number; readonly attempt: number; readonly ended: readonly string[] }
	| { readonly type: "start"; readonly index: number; readonly key: string; readonly attempt: number }
	| ({ readonly type: "result"; readonly index: number; readonly key: string; readonly attempt: number; readonly again: boolean } & EpisodeResult)
	| { readonly type: "proof"; readonly proof: Proof };

/** Resolves with the proof when there is nothing more to do, or when the signal has ended it. */
export async function runAll(options: RunnerOptions): Promise<Proof> {
	const { dir } = options;
	const [home, work] = [path.join(dir, "home"), path.join(dir, "work")];
	for (const folder of [home, work]) ensureDir(folder);
	const ledger = Ledger.open(dir);
	try {
		const proof = await prove(await played(options, ledger, { home, work }), [work, home]);
		options.tell({ type: "proof", proof });
		return proof;
	} finally {
		await ledger.close();
	}
}

/** Resolves with what is still kept when all is done. */
async function played(options: RunnerOptions, ledger: Ledger, { home, work }: { readonly home: string; readonly work: string }): Promise<string[]> {
	await using runtime = await openRuntime({ home, warm: 0 });
	const runner = new Runner(options, ledger, runtime, work);
	await runner.recover();
	await runner.all();
	return keptIn(runtime);
}

class Runner {
	readonly #options: RunnerOptions;
	readonly #ledger: Ledger;
	readonly #runtime: Runtime;
	readonly #work: string;

	constructor(options: RunnerOptions, ledger: Ledger, runtime: Runtime, work: string) {
		this.#options = options;
		this.#ledger = ledger;
		this.#runtime = runtime;
		this.#work = work;
	}

	/** Ends what a killed program has left. */
	async recover(): Promise<void> {
		for (const { index, attempt, task } of this.#ledger.progress.open.values()) {
			const ended = endedLines(await endEpisode(this.#runtime, task));
			await this.#ledger.add({ t: "lost", index, attempt, ended });
			this.#options.tell({ type: "recovered", index, attempt, ended });
		}
	}

	async all(): Promise<void> {
		const { items, concurrency, signal } = this.#options;
		const { results } = this.#ledger.progress;
		const todo = items.filter(({ index }) => !results.has(index))[Symbol.iterator]();
		const lane = async (): Promise<void> => {
			for (const item of todo) {
				if (signal.aborted) return;
				await this.#item(item);
			}
		};
		await Promise.all(Array.from({ length: Math.min(concurrency, items.length) }, lane));
	}

	async #item(item: RunItem): Promise<void> {
		const { signal, tell } = this.#options;
		const { index, key, digest } = item;
		const before = this.#ledger.progress;
		let failures = before.failures.get(index) ?? 0;
		for (let attempt = (before.attempts.get(index) ?? 0) + 1; ; attempt++) {
			const name = `${this.#options.manifest.id}/${label(index)}.${attempt}`;
			await this.#ledger.add({ t: "start", index, attempt, key, digest, task: name });
			tell({ type: "start", index, key, attempt });
			const result = await this.#attempt(item, name, attempt);
			if (signal.aborted) return; // its start stays open: the next program makes it again
			const { outcome } = result;
			const again = outcome.kind === "error" && outcome.again && failures < RETRIES;
			await this.#ledger.add({ t: again ? "failed" : "result", index, attempt, ...result });
			tell({ type: "result", index, key, attempt, again, ...result });
			if (!again) return;
			failures++;
		}
	}

	async #attempt(item: RunItem, name: string, attempt: number): Promise<EpisodeResult> {
		const { dir, agent, signal, manifest } = this.#options;
		const folder = path.join(dir, "episodes", `${label(item.index)}.${attempt}`);
		const work = path.join(this.#work, `${label(item.index)}.${attempt}`);
		const environment = environmentOf(item);
		const { place, seconds } = manifest;
		return runEpisode({ name, folder, work, environment, agent, signal, runtime: this.#runtime, place: place as string, seconds });
	}
}

export const label = (index: number): string => String(index).padStart(6, "0");
