/**
 * Takes jobs, plays them, and hands their results in. A job is the worker's for as long as it says so; its result counts only as the first one. The worker keeps
 * what it has until the collector has stored it, and hands it in again if the queue has lost it.
 */
import fs from "node:fs";
import path from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { JsMsg } from "@nats-io/jetstream";
import { AgentError, Claim, ensureDir, readIfThere, writeWhole } from "../base/index.js";
import type { EpisodeAgent } from "../episode/index.js";
import { attemptName, type ResultRow, type RunManifest } from "../run/index.js";
import { dropArchive, dropFiles, hasFiles, sendFiles } from "./files.js";
import { decode, encode, handSubject, type Job, overSubject, proofSubject, resultSubject, storedSubject, type WorkerResult } from "./job.js";
import type { JobQueue } from "./nats.js";
import { Seat } from "./seat.js";

const AGAIN_MS = 500; // after a failure of the queue
const TAKE_MS = 5_000;
const TEND_MS = 2_000;

export interface WorkerOptions {
	/** This worker's own directory: ledgers, homes and what is not stored yet. */
	readonly dir: string;
	readonly name: string;
	readonly queue: JobQueue;
	readonly slots: number;
	/** Ends when no run has work for this worker any more. */
	readonly once: boolean;
	readonly agentOf: (dir: string, manifest: RunManifest) => Promise<EpisodeAgent>;
	/** Stops it: what is under way is ended, and its jobs go back. */
	readonly signal: AbortSignal;
	readonly tell: (text: string) => void;
	readonly tendMs?: number;
}

/** Resolves when it was stopped, or with `once` when all is done. Throws `BUSY` if another worker has the folder. */
export async function work(options: WorkerOptions): Promise<void> {
	ensureDir(options.dir);
	const claim = Claim.take(path.join(options.dir, "claim"), "worker");
	if (!(claim instanceof Claim))
		throw new AgentError("BUSY", `another worker (pid ${claim.pid}) has ${options.dir}; end that one first, or give another --dir`);
	try {
		await new Worker(options).run();
	} finally {
		claim.release();
	}
}

/** A job, and how long it belongs to this worker without a word. */
type Taken = NonNullable<Awaited<ReturnType<JobQueue["next"]>>>;

class Worker {
	readonly #options: WorkerOptions;
	/** Resolves when the worker is told to stop. */
	readonly #stopped: Promise<undefined>;
	readonly #seats = new Map<string, Promise<Seat>>();
	/** Messages of jobs under way, by subject: a job that was given again while it is played has a newer one. */
	readonly #leases = new Map<string, JsMsg>();
	readonly #handing = new Map<string, Promise<void>>();
	#didSomething = false;

	constructor(options: WorkerOptions) {
		this.#options = options;
		this.#stopped = new Promise((resolve) => options.signal.addEventListener("abort", () => resolve(undefined), { once: true }));
	}

	async run(): Promise<void> {
		const { slots, signal } = this.#options;
		await this.#reopened();
		const done = new AbortController();
		try {
			const tending = this.#tending(done.signal);
			await Promise.all(Array.from({ length: slots }, () => this.#lane()));
			done.abort();
			await tending;
			if (!signal.aborted) return;
			for (const seat of this.#seats.values()) await this.#leave(await seat, true);
		} finally {
			done.abort();
		}
	}

	/** A worker that was killed ends first what it has left of each run. */
	async #reopened(): Promise<void> {
		const { dir } = this.#options;
		for (const entry of fs.readdirSync(dir, { withFileTypes: true })) {
			const bytes = entry.isDirectory() ? readIfThere(path.join(dir, entry.name, "run.json")) : undefined;
			if (bytes) await this.#seat(JSON.parse(bytes.toString("utf8")) as RunManifest);
		}
	}

	#seat(manifest: RunManifest): Promise<Seat> {
		const there = this.#seats.get(manifest.id);
		if (there) return there;
		const { slots, tell, agentOf, queue, name } = this.#options;
		const dir = path.join(this.#options.dir, manifest.id);
		const opened = (async () => {
			ensureDir(dir);
			writeWhole(path.join(dir, "run.json"), `${JSON.stringify(manifest)}\n`, { sync: true });
			await this.#patiently("the queue does not answer", () => queue.js.publish(handSubject(manifest.id, name), encode({ v: 1 })));
			return new Seat({ dir, manifest, agent: await agentOf(dir, manifest), concurrency: slots, tell });
		})();
		this.#seats.set(manifest.id, opened);
		return opened;
	}

	/** One slot. */
	async #lane(): Promise<void> {
		const { signal, once } = this.#options;
		while (!signal.aborted) {
			const taken = await this.#next();
			if (taken) await this.#job(taken);
			else if (once && this.#didSomething && this.#seats.size === 0) return;
		}
	}

	async #next(): Promise<Taken | undefined> {
		try {
			return await Promise.race([this.#options.queue.next(TAKE_MS), this.#stopped]);
		} catch {
			await sleep(AGAIN_MS); // no server, or no collector has made the streams yet
			return undefined;
		}
	}

	async #job({ message, leaseMs }: Taken): Promise<void> {
		const { queue, signal, tell } = this.#options;
		const { subject } = message;
		if (this.#leases.has(subject)) return void this.#leases.set(subject, message); // given again meanwhile: the lane that plays it goes on with this one
		this.#leases.set(subject, message);
		const renewing = setInterval(() => this.#leases.get(subject)?.working(), leaseMs / 3);
		this.#didSomething = true;
		try {
			const { manifest, item } = decode<Job>(message.data);
			if (await this.#patiently("the queue does not answer", () => queue.last(resultSubject(manifest.id, item.index)))) return this.#ack(subject);
			const seat = await this.#seat(manifest);
			const row = await seat.play(item);
			if (!row || signal.aborted) return void this.#leases.get(subject)?.nak();
			await this.#handIn(seat, row);
			this.#ack(subject);
		} catch (error) {
			if (signal.aborted) return;
			tell(`${subject}: ${error instanceof Error ? error.message : String(error)}`);
			this.#leases.get(subject)?.nak(AGAIN_MS);
		} finally {
			clearInterval(renewing);
			this.#leases.delete(subject);
		}
	}

	#ack(subject: string): void {
		this.#leases.get(subject)?.ack();
	}

	/** The result is in the queue when this resolves, or another worker's is. One at a time for each episode. */
	#handIn(seat: Seat, row: ResultRow): Promise<void> {
		const key = `${seat.manifest.id}.${row.index}`;
		const there = this.#handing.get(key);
		if (there) return there;
		const handing = this.#handOver(seat, row).finally(() => this.#handing.delete(key));
		this.#handing.set(key, handing);
		return handing;
	}

	async #handOver({ dir, manifest }: Seat, { t: _, at: __, index, attempt, ...result }: ResultRow): Promise<void> {
		const { queue, name, tell } = this.#options;
		const where = `${manifest.id}/${index}.${attempt}.${name}`;
		await this.#patiently("a result waits for the queue", async () => {
			if (!hasFiles(dir, index, attempt)) return; // stored, and dropped
			const before = await queue.last(resultSubject(manifest.id, index));
			if (before) {
				const first = decode<WorkerResult>(before.data);
				if (first.worker !== name || first.attempt !== attempt) tell(`episode ${index}: ${first.worker} was first; the result of this worker does not count`);
				return;
			}
			const files = await sendFiles(queue, dir, { index, attempt, conversation: result.conversation, name: where });
			const task = attemptName(manifest, index, attempt);
			const row: WorkerResult = { v: 1, worker: name, attempt, task, result, files };
			if (await queue.first(resultSubject(manifest.id, index), encode(row))) return;
			await dropArchive(queue, files);
			throw new Error("another result came first"); // the next round says whose
		});
	}

	/** Looks now and then at what is kept: what the collector has may go, and what the queue has lost is handed in again. */
	async #tending(done: AbortSignal): Promise<void> {
		const { signal, tendMs = TEND_MS } = this.#options;
		while (!done.aborted && !signal.aborted) {
			await sleep(tendMs, undefined, { signal: AbortSignal.any([done, signal]) }).catch(() => {});
			for (const opening of [...this.#seats.values()]) {
				const seat = await opening.catch(() => undefined);
				if (seat && !signal.aborted) await this.#tend(seat).catch(() => {}); // the queue is away: next time
			}
		}
	}

	async #tend(seat: Seat): Promise<void> {
		const { queue } = this.#options;
		const { dir, manifest, results } = seat;
		const over = (await queue.last(overSubject(manifest.id))) !== undefined;
		for (const row of results.values()) {
			const { index, attempt, conversation } = row;
			if (!hasFiles(dir, index, attempt)) continue;
			if (over || (await queue.last(storedSubject(manifest.id, index)))) dropFiles(dir, index, attempt, conversation);
			else if (![...this.#leases.keys()].some((subject) => subject.endsWith(`.${manifest.id}.${index}`))) await this.#handIn(seat, row);
		}
		if (over && ![...this.#leases.keys()].some((subject) => subject.includes(`.${manifest.id}.`))) await this.#leave(seat, false);
	}

	/** The run is over, or the worker is: it proves that nothing of it is left here. */
	async #leave(seat: Seat, stop: boolean): Promise<void> {
		const { queue, name, tell } = this.#options;
		const { id } = seat.manifest;
		this.#seats.delete(id);
		const proof = await seat.close({ stop });
		tell(`${id}: ${proof.words}`);
		const told = queue.js.publish(proofSubject(id, name), encode({ v: 1, ...proof }));
		await (stop ? told.catch(() => {}) : told);
		if (!stop && proof.clean) fs.rmSync(seat.dir, { recursive: true, force: true });
	}

	/** Again until it works: the server may be away for as long as it likes. What cannot work is thrown. */
	async #patiently<T>(words: string, step: () => Promise<T>): Promise<T> {
		const { signal, tell } = this.#options;
		for (let told = false; ; told = true) {
			try {
				return await step();
			} catch (error) {
				if (signal.aborted || error instanceof AgentError) throw error;
				if (!told) tell(`${words} (${error instanceof Error ? error.message : String(error)}); trying again`);
				await sleep(AGAIN_MS);
			}
		}
	}
}
