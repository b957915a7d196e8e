/**
 * Runs what has no result yet. One loop decides what starts next: so many at a time, on places that have a slot, when the machine has room. Each attempt is in
 * the ledger before it starts and its result before its slot is free; a program that is killed leaves starts without an end, which the next one ends, marks and
 * makes again. So each index has exactly one result. What people ask meanwhile comes through requests.ts.
 */
import { setTimeout as sleep } from "node:timers/promises";
import { type AuditEvent, type Runtime, readAudit } from "holdfast";
import { AgentError, anySignal, fromSystem, inLanes } from "../base/index.js";
import { type EpisodeResult, endEpisode, endedLines } from "../episode/index.js";
import { Admission, type Admitted } from "./admission.js";
import { attemptName, lostUsage, playAttempt, rescoreAttempt } from "./attempt.js";
import type { RunEvent, RunnerOptions } from "./events.js";
import type { Ledger } from "./ledger.js";
import type { RunItem } from "./manifest.js";
import { declaredMemory, lookKey, Pool, type PoolPlace, type RunPlace, type Slot } from "./places.js";
import { Queue } from "./queue.js";
import { attemptKey, followRequests, type Wanted } from "./requests.js";
import { RETRY_MS, retryAfter } from "./retry.js";
import type { LedgerRow, Unstamped } from "./rows.js";

const LOOK_MS = 2_000; // at what tells nothing: the disk
const FULL_MS = 1_000;
const ENDED_AT_ONCE = 16; // most of the end of a task is waiting: for its processes to react, for an engine

interface Running {
	readonly attempt: number;
	readonly cancel: AbortController;
	readonly over: Promise<void>;
}

export class Runner {
	readonly #options: RunnerOptions;
	readonly #ledger: Ledger;
	readonly #runtime: Runtime;
	readonly #pool: Pool;
	readonly #admission: Admission;
	readonly #queue: Queue;
	readonly #running = new Map<number, Running>();
	readonly #rescoring = new Map<string, Promise<void>>();
	/** Places that episodes were played on, one for each engine. */
	readonly #used = new Map<string, RunPlace>();
	/** Places that a failed attempt was on. */
	readonly #failedOn = new Map<number, string>();
	/** Ends the wait of the loop; and what it is told while it does not wait. */
	#wake: (() => void) | undefined;
	#woken = false;
	#wanted: Wanted = { paused: false, concurrency: undefined, cancelled: new Set(), rows: [] };
	/** Tasks that could not be ended: their place did not answer. */
	readonly #unended = new Set<string>();
	/** Why nothing starts, as it was told last. */
	#held: string | undefined;
	#failure: unknown;

	constructor(options: RunnerOptions, ledger: Ledger, runtime: Runtime, places: readonly PoolPlace[]) {
		const { items, dir } = options;
		this.#options = options;
		this.#ledger = ledger;
		this.#runtime = runtime;
		this.#pool = new Pool(places);
		this.#admission = new Admission({ dir, ...options.admission }, () => this.#look());
		this.#queue = new Queue(options.only === "requests" ? [] : items.filter(({ index }) => !ledger.progress.results.has(index)));
	}

	get placesUsed(): RunPlace[] {
		return [...this.#used.values()];
	}

	/** Ends what a killed program has left. */
	async recover(): Promise<void> {
		await inLanes([...this.#ledger.progress.open.values()], ENDED_AT_ONCE, async ({ index, attempt, task }) => {
			const ended = endedLines(await endEpisode(this.#runtime, task));
			await this.#write({ t: "lost", index, attempt, ended, why: "killed", ...lostUsage(this.#options.talk, task) });
			this.#tell({ type: "recovered", index, attempt, ended });
		});
	}

	/** Resolves when each item has its result, or the signal has ended what was under way. Rejects if the ledger cannot be written. */
	async all(): Promise<void> {
		const { signal, dir, more } = this.#options;
		const look = () => this.#look();
		signal.addEventListener("abort", look);
		more?.over.addEventListener("abort", look);
		more?.ready((item) => {
			this.#queue.add(item);
			this.#look();
		});
		const unfollow = followRequests(
			dir,
			(wanted) => this.#take(wanted),
			(error) => this.#fail(error),
		);
		try {
			while (!signal.aborted && this.#failure === undefined) {
				await this.#carryOut();
				await this.#cancelWaiting();
				this.#startMore();
				if (this.#running.size + this.#rescoring.size + this.#queue.size === 0 && more?.over.aborted !== false) break;
				await this.#wait();
			}
		} finally {
			unfollow();
			signal.removeEventListener("abort", look);
			more?.over.removeEventListener("abort", look);
			if (this.#failure !== undefined) for (const { cancel } of this.#running.values()) cancel.abort();
			await Promise.all([...[...this.#running.values()].map(({ over }) => over), ...this.#rescoring.values()]);
		}
		for (const task of this.#unended) await endEpisode(this.#runtime, task).catch(() => {}); // what is left even then the proof says
		if (this.#failure !== undefined) throw this.#failure;
	}

	#take(wanted: Wanted): void {
		const before = this.#wanted;
		this.#wanted = wanted;
		for (const [index, { attempt, cancel }] of this.#running) if (wanted.cancelled.has(attemptKey(index, attempt))) cancel.abort();
		if (wanted.paused !== before.paused) this.#tell({ type: wanted.paused ? "paused" : "continued" });
		if (wanted.concurrency !== undefined && wanted.concurrency !== before.concurrency) this.#tell({ type: "concurrency", concurrency: wanted.concurrency });
		this.#look();
	}

	get #concurrency(): number {
		return this.#wanted.concurrency ?? this.#options.concurrency;
	}

	/** Requests that take something back, or score it again: the latter so many at a time as there are episodes. */
	async #carryOut(): Promise<void> {
		const { progress } = this.#ledger;
		for (const request of this.#wanted.rows) {
			const { id, index, attempt } = request;
			const item = this.#options.items[index];
			if (progress.requests.has(id) || this.#rescoring.has(id) || !item || progress.results.get(index)?.attempt !== attempt) continue;
			if (request.do === "requeue") {
				await this.#write({ t: "requeued", index, attempt, request: id });
				this.#tell({ type: "requeued", index, attempt });
				this.#queue.again(item, 0);
				continue;
			}
			if (this.#rescoring.size >= this.#concurrency) continue;
			const scoring = this.#rescore(item, attempt, id).catch((error: unknown) => this.#fail(error));
			this.#rescoring.set(
				id,
				scoring.finally(() => {
					this.#rescoring.delete(id);
					this.#look();
				}),
			);
		}
	}

	/** Ends cancelled attempts before they begin. */
	async #cancelWaiting(): Promise<void> {
		const { cancelled } = this.#wanted;
		if (cancelled.size === 0) return;
		for (const { index, key } of this.#queue.remove((item) => cancelled.has(attemptKey(item.index, this.#next(item))))) {
			const attempt = this.#next({ index });
			const result = { ...cancelledOutcome, conversation: null, usage: { input: 0, output: 0 }, tools: [], seconds: 0, ended: [], gone: true };
			await this.#write({ t: "result", index, attempt, ...result });
			this.#tell({ type: "result", index, key, attempt, again: false, ...result });
		}
	}

	#next({ index }: Pick<RunItem, "index">): number {
		return (this.#ledger.progress.attempts.get(index) ?? 0) + 1;
	}

	async #rescore(item: RunItem, attempt: number, request: string): Promise<void> {
		const { index } = item;
		const before = this.#ledger.progress.results.get(index);
		if (!before) return;
		const { outcome, problem } = await rescoreAttempt(this.#options, this.#runtime, item, before);
		await this.#write({ t: "rescored", index, attempt, request, outcome, ...(problem === undefined ? {} : { problem }) });
		this.#tell({ type: "rescored", index, attempt, outcome, before: before.outcome, ...(problem === undefined ? {} : { problem }) });
	}

	#startMore(): void {
		while (this.#queue.size > 0 && this.#running.size < this.#concurrency) {
			const held = this.#wanted.paused ? undefined : this.#admission.diskProblem();
			if (held !== this.#held) this.#tell(held === undefined ? { type: "room" } : { type: "held", why: held });
			this.#held = held;
			if (this.#wanted.paused || held !== undefined) return;
			const next = this.#queue.first((item) => this.#admitted(item));
			if (!next) return;
			this.#start(next.item, next.with.admitted, next.with.slot);
		}
	}

	#admitted(item: RunItem): { admitted: Admitted; slot: Slot } | undefined {
		const slot = this.#pool.take(item, this.#failedOn.get(item.index));
		if (!slot) return undefined;
		const admitted = this.#admission.admit(declaredMemory(item, slot.place));
		if (admitted) return { admitted, slot };
		slot.release(false);
		return undefined;
	}

	#start(item: RunItem, admitted: Admitted, slot: Slot): void {
		const { index } = item;
		const attempt = this.#next(item);
		const cancel = new AbortController();
		const over = this.#attempt(item, attempt, cancel.signal, admitted, slot)
			.catch((error: unknown) => this.#fail(error))
			.finally(() => {
				this.#running.delete(index);
				slot.release(this.#failedOn.get(index) === slot.name);
				admitted.over();
				this.#look();
			});
		this.#running.set(index, { attempt, cancel, over });
		if (this.#wanted.cancelled.has(attemptKey(index, attempt))) cancel.abort(); // asked while the loop was between its steps
	}

	async #attempt(item: RunItem, attempt: number, cancelled: AbortSignal, admitted: Admitted, slot: Slot): Promise<void> {
		const { manifest, signal } = this.#options;
		const { index, key, digest } = item;
		const task = attemptName(manifest, index, attempt);
		await this.#write({ t: "start", index, attempt, key, digest, task, place: slot.name });
		this.#tell({ type: "start", index, key, attempt, task, place: slot.name });
		const played = await playAttempt(this.#options, this.#runtime, {
			...{ item, attempt, task, place: slot.place },
			signal: anySignal([signal, cancelled]),
			started: (place) => {
				this.#used.set(lookKey(place), place);
				admitted.started();
			},
		});
		if (!played.gone) this.#unended.add(task);
		const unfinished = played.outcome.kind === "error";
		if (unfinished && signal.aborted) return this.#stopped(item, attempt, played);
		if (unfinished && cancelled.aborted) return this.#result(item, attempt, { ...played, ...cancelledOutcome }, slot);
		return this.#result(item, attempt, played, slot);
	}

	async #result(item: RunItem, attempt: number, result: EpisodeResult, slot: Slot): Promise<void> {
		const { index, key } = item;
		const { outcome } = result;
		const placeFailed = outcome.kind === "error" && outcome.of === "place";
		if (placeFailed) this.#failedOn.set(index, slot.name);
		else this.#failedOn.delete(index);
		const ms = retryAfter(outcome, this.#ledger.progress.failures.get(index) ?? 0, this.#options.retryMs ?? RETRY_MS);
		const touched = readAudit(this.#runtime, { task: attemptName(this.#options.manifest, index, attempt) }).filter(isTaken).length;
		await this.#write({ t: ms === undefined ? "result" : "failed", index, attempt, place: slot.name, ...(touched > 0 ? { touched } : {}), ...result });
		if (ms !== undefined) this.#queue.again(item, ms);
		this.#tell({ type: "result", index, key, attempt, again: ms !== undefined, ...result });
	}

	/** The run ends before the episode did: it has no result, and is made again. */
	async #stopped({ index }: RunItem, attempt: number, { ended, usage, gone }: EpisodeResult): Promise<void> {
		await this.#write({ t: "lost", index, attempt, ended, why: "stopped", usage });
		this.#tell({ type: "stopped", index, attempt, ended, gone });
	}

	/** Resolves when the row is on the disk; waits while that is full. */
	async #write(row: Unstamped<LedgerRow>): Promise<void> {
		for (let told = false; ; ) {
			try {
				await this.#ledger.add(row);
				if (told) this.#tell({ type: "room" });
				return;
			} catch (error) {
				if (!(error instanceof AgentError) || error.code !== "NO_SPACE" || this.#options.signal.aborted) throw error;
				if (!told) this.#tell({ type: "held", why: "the disk is full: results wait until there is room" });
				told = true;
				await sleep(FULL_MS, undefined, { signal: this.#options.signal }).catch(() => {}); // aborted: the next failure ends it
			}
		}
	}

	/** Waits until something has changed, or what tells nothing has to be looked at. */
	async #wait(): Promise<void> {
		if (!this.#woken) {
			const times = [this.#queue.nextMs, this.#pool.restMs, this.#held === undefined ? undefined : LOOK_MS].filter((ms) => ms !== undefined);
			await new Promise<void>((resolve) => {
				this.#wake = resolve;
				if (times.length > 0) setTimeout(resolve, Math.max(1, Math.min(...times)));
			});
		}
		this.#wake = undefined;
		this.#woken = false;
	}

	#look(): void {
		this.#woken = true;
		this.#wake?.();
	}

	#fail(error: unknown): void {
		this.#failure ??= fromSystem(error, "the run cannot go on");
		this.#look();
	}

	#tell(event: RunEvent): void {
		this.#options.tell(event);
	}
}

const isTaken = ({ event, outcome }: AuditEvent): boolean => event === "keyboard" && outcome === "taken";

const cancelledOutcome = {
	outcome: { kind: "error", of: "runner", code: "cancelled", words: "a person cancelled this episode; `requeue` makes it again", again: false },
} as const;
