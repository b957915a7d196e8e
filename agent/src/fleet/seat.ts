/** One run in a worker: a folder with a ledger and a home of its own, as any run has them, into which jobs come one by one. */
import path from "node:path";
import { AgentError, ensureDir, isoTime, openAgentHome, systemClock } from "../base/index.js";
import type { EpisodeAgent } from "../episode/index.js";
import { changedTasks, isClean, type Proof, type ResultRow, type RunItem, type RunManifest, readProgress, runAll } from "../run/index.js";

export interface SeatOptions {
	readonly dir: string;
	readonly manifest: RunManifest;
	readonly agent: EpisodeAgent;
	readonly concurrency: number;
	readonly tell: (text: string) => void;
}

export class Seat {
	readonly dir: string;
	readonly manifest: RunManifest;
	/** Results of this worker's own ledger, by index. */
	readonly results: Map<number, ResultRow>;
	readonly #over = new AbortController();
	readonly #stop = new AbortController();
	readonly #waiting = new Map<number, (done: boolean) => void>();
	readonly #ended: Promise<Proof>;
	readonly #add: Promise<(item: RunItem) => void>;

	constructor({ dir, manifest, agent, concurrency, tell }: SeatOptions) {
		this.dir = dir;
		this.manifest = manifest;
		ensureDir(dir);
		this.results = new Map(readProgress(dir).results);
		let ready: (add: (item: RunItem) => void) => void = () => {};
		this.#add = new Promise((resolve) => {
			ready = resolve;
		});
		this.#ended = runAll({
			...{ dir, manifest, agent, concurrency, items: [], talk: openAgentHome(path.join(dir, "talk")), signal: this.#stop.signal },
			more: { ready, over: this.#over.signal },
			tell: (event) => {
				if (event.type === "recovered")
					tell(`episode ${event.index}, attempt ${event.attempt}: the worker was gone; ended ${event.ended.join(", ") || "nothing"}`);
				if (event.type !== "result" || event.again) return;
				const { type: _, key: __, again: ___, ...result } = event;
				this.results.set(event.index, { t: "result", at: isoTime(systemClock), ...result });
				this.#waiting.get(event.index)?.(true);
			},
		});
		this.#ended
			.catch(() => {})
			.finally(() => {
				for (const resolve of this.#waiting.values()) resolve(false);
			});
	}

	/** Resolves with the episode's result; undefined if the worker is being stopped before there is one. */
	async play(item: RunItem): Promise<ResultRow | undefined> {
		const known = this.results.get(item.index);
		if (known) return known;
		if (changedTasks([item]).length > 0)
			throw new AgentError(
				"INVALID",
				`the task ${item.key} is not on this machine, or is another one than when the run began; its folder must be the same on every machine`,
			);
		const add = await Promise.race([this.#add, this.#ended.then(() => undefined)]);
		if (!add || this.#stop.signal.aborted) return undefined;
		const done = await new Promise<boolean>((resolve) => {
			this.#waiting.set(item.index, resolve);
			add(item);
		});
		this.#waiting.delete(item.index);
		return done ? this.results.get(item.index) : undefined;
	}

	/** Ends what is under way, if anything is, and looks for what is left. */
	async close({ stop }: { readonly stop: boolean }): Promise<{ clean: boolean; words: string }> {
		if (stop) this.#stop.abort();
		this.#over.abort();
		try {
			const proof = await this.#ended;
			return { clean: isClean(proof), words: isClean(proof) ? "nothing is left" : JSON.stringify(proof).slice(0, 2_000) };
		} catch (error) {
			return { clean: false, words: error instanceof AgentError ? error.message : String(error) };
		}
	}
}
