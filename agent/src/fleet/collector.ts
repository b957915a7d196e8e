/**
 * Has the run: gives its open indices to the workers, and writes what they hand in to its ledger, once each. The folder of an episode is here before its row is,
 * and its worker keeps it until the row is on the disk. Whatever the queue loses is given out again.
 */
import path from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { AgentError, writeWhole } from "../base/index.js";
import { Ledger, type RunItem, type RunManifest } from "../run/index.js";
import { dropArchive, takeFiles } from "./files.js";
import {
	decode,
	encode,
	handSubject,
	indexIn,
	JOBS,
	jobSubject,
	lastIn,
	overSubject,
	proofSubject,
	RESULTS,
	resultSubject,
	storedSubject,
	type WorkerProof,
	type WorkerResult,
} from "./job.js";
import type { JobQueue } from "./nats.js";

const LOOK_MS = 60_000;
const PROOF_MS = 30_000;
const AGAIN_MS = 500;
const [HEARD_TIMES, HEARD_MS] = [60, 100];
const AT_WORKER = "worker ";
const LARGEST_JOB = 900_000; // bytes; the server takes a megabyte

export type CollectEvent =
	| ({
			readonly type: "result";
			readonly index: number;
			readonly key: string;
			readonly attempt: number;
			readonly again: false;
			readonly worker: string;
	  } & WorkerResult["result"])
	| { readonly type: "note"; readonly text: string }
	| { readonly type: "worker"; readonly worker: string; readonly clean: boolean; readonly words: string };

export interface CollectOptions {
	readonly dir: string;
	readonly manifest: RunManifest;
	readonly items: readonly RunItem[];
	readonly queue: JobQueue;
	/** Leaves: workers go on, and the next collector takes what they hand in. */
	readonly signal: AbortSignal;
	readonly tell: (event: CollectEvent) => void;
	/** How often it looks for what the queue has lost. */
	readonly lookMs?: number;
	/** How long it waits for the proofs of workers at the end. */
	readonly proofMs?: number;
}

export interface Collected {
	readonly done: number;
	/** Each worker that had a part in it, and whether it has proved that nothing is left there. */
	readonly workers: readonly { readonly worker: string; readonly clean: boolean; readonly words: string }[];
}

/** Resolves when each index has its row, or when it is told to leave. Throws `BUSY` while another program has the run. */
export async function collect(options: CollectOptions): Promise<Collected> {
	const ledger = Ledger.open(options.dir, { collector: true });
	try {
		return await new Collector(options, ledger).run();
	} finally {
		await ledger.close();
	}
}

class Collector {
	readonly #options: CollectOptions;
	readonly #ledger: Ledger;
	/** One row after the other. */
	#last: Promise<unknown> = Promise.resolve();
	#wake: () => void = () => {};

	constructor(options: CollectOptions, ledger: Ledger) {
		this.#options = options;
		this.#ledger = ledger;
	}

	async run(): Promise<Collected> {
		const { queue, manifest, items, signal, lookMs = LOOK_MS } = this.#options;
		signal.addEventListener("abort", () => this.#wake(), { once: true });
		await this.#endOpen();
		// Other subscribers hear a message to a stream too: so a result is taken at once, and one that was not heard with the next look.
		const heard = queue.connection.subscribe(resultSubject(manifest.id, "*"), { callback: (_, message) => void this.#heard(indexIn(message.subject)) });
		try {
			while (!this.#done() && !signal.aborted) {
				await this.#look().catch((error: unknown) => {
					if (error instanceof AgentError) throw error;
					this.#options.tell({ type: "note", text: `the queue does not answer (${(error as Error).message}); looking again` });
				});
				if (this.#done() || signal.aborted) break;
				const [timer, woken] = [new AbortController(), new Promise<void>((resolve) => (this.#wake = resolve))];
				await Promise.race([sleep(lookMs, undefined, { signal: timer.signal }).catch(() => {}), woken]);
				timer.abort();
			}
		} finally {
			heard.unsubscribe();
			await this.#last;
		}
		const workers = signal.aborted ? [] : await this.#proofs();
		writeWhole(path.join(this.#options.dir, "fleet.json"), `${JSON.stringify({ workers }, null, "\t")}\n`);
		return { done: items.filter(({ index }) => this.#ledger.progress.results.has(index)).length, workers };
	}

	#done(): boolean {
		const { results } = this.#ledger.progress;
		return this.#options.items.every(({ index }) => results.has(index));
	}

	/** A collector that was killed between the two rows of an episode: its result is taken again. What was begun on this machine is for `resume`. */
	async #endOpen(): Promise<void> {
		const open = [...this.#ledger.progress.open.values()];
		const own = open.filter(({ place }) => !place?.startsWith(AT_WORKER)).map(({ index }) => index);
		if (own.length > 0)
			throw new AgentError(
				"INVALID",
				`episodes ${own.slice(0, 10).join(", ")} were begun on this machine and are not over; \`holdfast-agent resume\` ends and plays them here`,
			);
		for (const { index, attempt } of open) await this.#ledger.add({ t: "lost", index, attempt, ended: [], why: "killed" });
	}

	/** Takes what was handed in, and gives out what is neither done, nor handed in, nor waiting. */
	async #look(): Promise<void> {
		const { queue, manifest, items } = this.#options;
		await queue.ensure();
		const handed = new Set((await queue.subjects(RESULTS, resultSubject(manifest.id, "*"))).map(indexIn));
		const { results } = this.#ledger.progress;
		for (const index of handed) if (!results.has(index)) await this.#take(index);
		const waiting = new Set((await queue.subjects(JOBS, jobSubject(manifest.id, "*"))).map(indexIn));
		const lost = items.filter(({ index }) => !results.has(index) && !waiting.has(index) && !handed.has(index));
		for (const item of lost) {
			const job = encode({ v: 1, manifest, item });
			if (job.length > LARGEST_JOB)
				throw new AgentError("INVALID", `${item.key} is ${job.length} bytes, more than a message may have; put what is large into files of the task`);
			await queue.js.publish(jobSubject(manifest.id, item.index), job);
		}
	}

	/** It is heard before it is stored, and it may be refused: so it is looked for in the stream. */
	async #heard(index: number): Promise<void> {
		for (let times = 0; times < HEARD_TIMES && !this.#options.signal.aborted; times++) {
			await this.#take(index);
			if (this.#ledger.progress.results.has(index)) return;
			await sleep(HEARD_MS);
		}
	}

	/** One at a time; what fails is left for the next look. */
	#take(index: number): Promise<void> {
		const taken = this.#last
			.then(() => this.#taken(index))
			.catch((error: unknown) => {
				this.#options.tell({ type: "note", text: `episode ${index} was not taken (${(error as Error).message}); it is tried again` });
			});
		this.#last = taken;
		return taken;
	}

	async #taken(index: number): Promise<void> {
		const { queue, manifest, items, dir, tell } = this.#options;
		const item = items[index];
		if (!item) return;
		const message = await queue.last(resultSubject(manifest.id, index));
		if (!message) return;
		const { worker, attempt: from, task, result, files } = decode<WorkerResult>(message.data);
		if (!this.#ledger.progress.results.has(index)) {
			const attempt = (this.#ledger.progress.attempts.get(index) ?? 0) + 1;
			if (!(await takeFiles(queue, dir, files, { index, attempt, from }))) {
				tell({ type: "note", text: `the files of episode ${index} are not in the queue; ${worker} is asked for them again` });
				await queue.forget(RESULTS, resultSubject(manifest.id, index)); // its worker sees that, and hands it in again
				return;
			}
			const { key, digest } = item;
			await this.#ledger.add({ t: "start", index, attempt, key, digest, task, place: AT_WORKER + worker });
			await this.#ledger.add({ t: "result", index, attempt, place: AT_WORKER + worker, ...result });
			tell({ type: "result", index, key, attempt, again: false, worker, ...result });
		}
		await queue.first(storedSubject(manifest.id, index), encode({ v: 1 }));
		await dropArchive(queue, files);
		if (this.#done()) this.#wake();
	}

	/** Those whose results are in the ledger: the queue may have lost that they were there. */
	#workers(): string[] {
		return [...this.#ledger.progress.results.values()].flatMap(({ place }) => (place?.startsWith(AT_WORKER) ? [place.slice(AT_WORKER.length)] : []));
	}

	/** Says that it is over, and waits until each worker has proved that nothing is left there. A worker that is gone is named as not proven. */
	async #proofs(): Promise<Collected["workers"]> {
		const { queue, manifest, tell, proofMs = PROOF_MS, signal } = this.#options;
		const found = new Map<string, { worker: string; clean: boolean; words: string }>();
		for (const end = Date.now() + proofMs; ; ) {
			try {
				await queue.first(overSubject(manifest.id), encode({ v: 1 }));
				const hands = new Set([...(await queue.subjects(RESULTS, handSubject(manifest.id, "*"))).map(lastIn), ...this.#workers()]);
				for (const worker of hands) {
					if (found.get(worker)?.clean) continue;
					const message = await queue.last(proofSubject(manifest.id, worker));
					const { clean, words } = message
						? decode<WorkerProof>(message.data)
						: { clean: false, words: "it has not answered; what it has left on its machine is not proven to be gone" };
					found.set(worker, { worker, clean, words });
				}
				if ([...found.values()].every(({ clean }) => clean)) break;
			} catch {
				// the server is away: until the time is over
			}
			if (Date.now() > end || signal.aborted) break;
			await sleep(AGAIN_MS);
		}
		for (const one of found.values()) tell({ type: "worker", ...one });
		return [...found.values()];
	}
}
