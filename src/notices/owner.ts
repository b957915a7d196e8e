/**
 * The program that looks after the notices of a task: one at a time, by a lease, for each host and container that shares the home. Alive,
 * it watches the processes that a caller wants to hear about; others stand by until it has gone. Nothing is lost when no program
 * does it: the next program finds in the logs what there is to tell. A caller that only wants to know what is due now does it for
 * a moment. A program that only shows notices, and hands none out, says so in its lease, and gives way to one that does.
 */
import fs from "node:fs";
import path from "node:path";
import { ensureDir, HoldfastError, here, Lease, readIfThere, writeWhole } from "../base/index.js";
import { procDir } from "../keeper/index.js";
import type { Process, Runtime } from "../process/index.js";
import { type Armed, armedIn, disarm, parseOrPutAside, readArmed, saveArmed } from "./armed.js";
import type { Clock } from "./clock.js";
import { admit, FLOOD_PAUSE_MS, type FloodState, floodIsOver, floodSchema, NO_FLOOD } from "./limits.js";
import type { News, Notice } from "./notice.js";
import type { Queue } from "./queue.js";
import { type Desk, Watched } from "./watched.js";
import { flood, floodOver } from "./words.js";

const STAND_BY_MS = 5_000; // no event tells when the holder of the lease is killed

export class NoticesOwner implements Desk {
	readonly queue: Queue;
	readonly clock: Clock;
	readonly #runtime: Runtime;
	readonly #dir: string;
	readonly #leaseName = `owner.${here()}`;
	readonly #watched = new Map<string, Watched>();
	readonly #listeners = new Set<(put?: Notice) => void>();
	#handsOut = false;
	#lease: Lease | undefined;
	#taking: Promise<void> | undefined;
	#flood: FloodState = NO_FLOOD;
	#cancelFlood: (() => void) | undefined;
	#live = false;
	#unwatch: (() => void) | undefined;
	#standBy: NodeJS.Timeout | undefined;
	#stopped = false;

	constructor(runtime: Runtime, queue: Queue, clock: Clock) {
		this.#runtime = runtime;
		this.queue = queue;
		this.clock = clock;
		this.#dir = queue.dir;
	}

	/** Look after it from now on, or stand by until that is possible. */
	start(): void {
		this.#live = true;
		ensureDir(this.#dir);
		this.#unwatch = this.#runtime.home.watch.directory(this.#dir, (name) => this.#changed(name));
		this.#takeOver();
	}

	/** Whether this program hands notices out from now on: then one that only shows them gives way. */
	handOut(does: boolean): void {
		if (this.#handsOut === does) return;
		this.#handsOut = does;
		this.#lease?.release(); // it says otherwise
		this.#takeOver();
	}

	/** Whatever is due now is in the queue afterwards, unless another program sees to that. */
	async lookAll(): Promise<void> {
		await this.#takeLease();
		if (!this.mine()) return;
		this.#endFlood();
		await Promise.all([...this.#watched.values()].map((watched) => watched.look()));
	}

	/** Calls back when the queue may have something new, and with what this program has put into it. Returns a function that ends that. */
	listen(listener: (put?: Notice) => void): () => void {
		this.#listeners.add(listener);
		return () => this.#listeners.delete(listener);
	}

	async stop(): Promise<void> {
		this.#stopped = true;
		this.#unwatch?.();
		clearTimeout(this.#standBy);
		await this.#taking?.catch(() => {});
		await this.#standDown();
		this.#lease?.release();
	}

	mine(): boolean {
		return this.#lease?.held() ?? false;
	}

	put(news: News): void {
		this.#tell(this.queue.put(news, this.clock.now()));
	}

	admit(): boolean {
		this.#endFlood();
		const now = this.clock.now();
		const { verdict, next } = admit(this.#flood, now);
		if (verdict === "tripped") this.put(flood(now));
		this.#saveFlood(next);
		return verdict === "tell";
	}

	save(armed: Armed): void {
		saveArmed(this.#dir, armed);
	}

	done(watched: Watched): void {
		disarm(this.#dir, watched.process.id);
		this.#watched.delete(watched.process.id);
		void watched.stop();
	}

	#changed(name: string | null): void {
		if (name === null || name.startsWith(this.#leaseName) || name.startsWith("armed.")) this.#takeOver();
		if (!name?.startsWith(".")) this.#tell();
	}

	#tell(put?: Notice): void {
		for (const listener of this.#listeners) listener(put);
	}

	/** Take the lease if that can be had, and look after whatever is there to be looked after. */
	#takeOver(): void {
		this.#takeLease().catch(() => this.#tryLater()); // a home that cannot be written to, or no file descriptor left, just now
	}

	#takeLease(): Promise<void> {
		this.#taking ??= this.#tryLease().finally(() => {
			this.#taking = undefined;
		});
		return this.#taking;
	}

	async #tryLease(): Promise<void> {
		if (this.#stopped) return;
		if (!this.mine()) {
			await this.#standDown();
			ensureDir(this.#dir);
			const file = path.join(this.#dir, this.#leaseName);
			const givesWay = this.#handsOut && Lease.holder(file)?.about.shows === true;
			this.#lease = Lease.take(file, { about: { shows: !this.#handsOut }, force: givesWay });
			if (this.#stopped) return;
			if (!this.#lease) {
				if (this.queue.mayHaveSome()) this.#tryLater(); // else whatever comes is an event
				return;
			}
			this.#flood = parseFlood(this.#dir);
			this.#awaitFlood();
			this.#tell();
		}
		this.#adopt();
	}

	#tryLater(): void {
		clearTimeout(this.#standBy);
		if (this.#live && !this.#stopped) this.#standBy = setTimeout(() => this.#takeOver(), STAND_BY_MS);
	}

	/** Let go of what only the one with the lease does. */
	async #standDown(): Promise<void> {
		this.#cancelFlood?.();
		const watched = [...this.#watched.values()];
		this.#watched.clear();
		await Promise.all(watched.map((one) => one.stop()));
	}

	#adopt(): void {
		for (const id of armedIn(this.#dir)) {
			if (this.#watched.has(id)) continue;
			const process = this.#find(id);
			const armed = process && readArmed(this.#dir, id);
			if (!armed) continue;
			const watched = new Watched(process, armed, this);
			this.#watched.set(id, watched);
			if (this.#live) watched.start();
		}
	}

	/** Returns undefined for a process that this program cannot see, or that is gone for good. */
	#find(id: string): Process | undefined {
		try {
			const process = this.#runtime.get(id);
			return process.status().status === "elsewhere" ? undefined : process;
		} catch (error) {
			if (!(error instanceof HoldfastError)) throw error;
			if (!fs.existsSync(procDir(this.#runtime.home, id))) disarm(this.#dir, id); // it was pruned, or never started
			return undefined;
		}
	}

	#endFlood(): void {
		const now = this.clock.now();
		if (!floodIsOver(this.#flood, now)) return;
		this.put(floodOver(now, this.#flood.dropped));
		this.#saveFlood(NO_FLOOD);
	}

	#saveFlood(state: FloodState): void {
		writeWhole(path.join(this.#dir, "flood"), JSON.stringify(state));
		this.#flood = state;
		this.#awaitFlood();
	}

	#awaitFlood(): void {
		this.#cancelFlood?.();
		if (this.#live && this.#flood.until > 0)
			this.#cancelFlood = this.clock.after(Math.min(this.#flood.until - this.clock.now(), FLOOD_PAUSE_MS), () => this.#endFloodLive());
	}

	#endFloodLive(): void {
		try {
			if (this.mine()) this.#endFlood();
		} catch {
			// a full disk: it is said with the next match, or by the next program that looks
		}
	}
}

function parseFlood(dir: string): FloodState {
	const file = path.join(dir, "flood");
	const text = readIfThere(file);
	return (text === undefined ? undefined : parseOrPutAside(floodSchema, text, file)) ?? NO_FLOOD;
}
