/**
 * A process whose task wants notices of it. Each look turns what is new since the last into notices, and then notes how far
 * that was: a crash in between finds the same again, under the same ids. Between looks nothing but a directory watch remains.
 */
import fs from "node:fs";
import path from "node:path";
import { DRAIN_MS, statIfThere } from "../base/index.js";
import { segmentName, segmentStarts } from "../keeper/index.js";
import { isOver, type Process, type Status } from "../process/index.js";
import type { Armed } from "./armed.js";
import type { Clock } from "./clock.js";
import { judge } from "./limits.js";
import type { News } from "./notice.js";
import { LineSearch } from "./search.js";
import { completed, match, progress, watchDisabled } from "./words.js";

const STILL_MS = 500; // nothing printed for so long: a line without an end is taken as it is
const APART_MS = 100; // between two looks at output that comes thick and fast
const THICK = 64 * 1024;
const AGAIN_MS = 5_000; // after a look that failed
const SAVE_EVERY = 4 * 1024 * 1024; // so much is searched again after a crash, at most

/** The receiver of news about a process. */
export interface Desk {
	readonly clock: Clock;
	/** False: another program looks after this task now, and this one keeps its hands off. */
	mine(): boolean;
	put(news: News): void;
	/** May a match be reported, or are there too many in the whole task? */
	admit(): boolean;
	save(armed: Armed): void;
	/** Called when there is nothing more to tell. */
	done(watched: Watched): void;
}

export class Watched {
	readonly process: Process;
	readonly #desk: Desk;
	#armed: Armed;
	#search: LineSearch | undefined;
	#searched = 0; // bytes since the last save
	#changed = true; // something other than output
	#live = false;
	#stopped = false;
	#unwatch: (() => void) | undefined;
	#cancelTick: (() => void) | undefined;
	#soon: NodeJS.Timeout | undefined;
	#lookedAt = Number.NEGATIVE_INFINITY;
	#thick = false;
	#turn: Promise<unknown> = Promise.resolve();
	#next: Promise<void> | undefined;

	constructor(process: Process, armed: Armed, desk: Desk) {
		this.process = process;
		this.#armed = armed;
		this.#desk = desk;
		if (armed.patterns.length > 0) this.#search = new LineSearch(process, armed.patterns, armed.search);
	}

	/** From now on look whenever something happens. */
	start(): void {
		this.#live = true;
		const telling = new Set(["exit", "state", path.basename(this.process.dir)]); // the last: it is being removed
		this.#unwatch = this.process.watch((name) => {
			if (name === null || telling.has(name)) this.lookNow();
			else if (this.#search && name.startsWith("out.")) this.#lookAtOutput();
		});
		this.lookNow();
	}

	/** Look at everything, not only at output. */
	look(): Promise<void> {
		this.#changed = true;
		return this.#enqueue();
	}

	lookNow(): void {
		this.#changed = true;
		this.#enqueueLive();
	}

	/** Resolves when no look is under way any more. */
	async stop(): Promise<void> {
		this.#stopped = true;
		this.#unwatch?.();
		this.#cancelTick?.();
		clearTimeout(this.#soon);
		await this.#turn;
		this.#search?.close();
	}

	/** Queues a look: one runs at a time, and callers during one share the next. After a failed look (a full disk) comes another: matches are kept. */
	#enqueue(): Promise<void> {
		this.#next ??= this.#turn.then(() => {
			this.#next = undefined;
			return this.#stopped ? undefined : this.#look();
		});
		this.#turn = this.#next.catch(() => this.#lookSoon(AGAIN_MS));
		return this.#next;
	}

	#enqueueLive(): void {
		this.#enqueue().catch(() => {}); // no call waits for it
	}

	#lookAtOutput(): void {
		const wait = this.#thick ? this.#lookedAt + APART_MS - performance.now() : 0;
		if (wait > 0) this.#lookSoon(wait);
		else this.#enqueueLive();
	}

	#lookSoon(ms: number): void {
		if (this.#stopped || !this.#live) return;
		clearTimeout(this.#soon);
		this.#soon = setTimeout(() => this.lookNow(), ms);
	}

	async #look(): Promise<void> {
		const { process } = this;
		clearTimeout(this.#soon);
		let status: Status | undefined;
		if (this.#changed) {
			this.#changed = false;
			status = process.status();
		}
		const end = status && isOver(status) ? status : undefined;
		if (end) await process.wait({ timeout: DRAIN_MS });
		if (this.#search) await this.#readOn(this.#search, end !== undefined);
		if (this.#stopped || !this.#desk.mine()) return;
		// Nothing is awaited from here on.
		if (end?.status === "error" || (end && !fs.existsSync(process.dir))) return this.#desk.done(this); // its start has failed, which its caller was told; or it was pruned
		this.#tellMatches();
		if (end) this.#tellEnd(end);
		else this.#tellProgress();
	}

	async #readOn(search: LineSearch, over: boolean): Promise<void> {
		const { end } = this.process.log.bounds();
		const read = await search.readOn(end, over || stillFor(this.process.dir) >= STILL_MS);
		this.#lookedAt = performance.now();
		this.#searched += read;
		this.#thick = read >= THICK || search.found.count > 0;
		if (search.undecided && !over) this.#lookSoon(STILL_MS);
	}

	#tellMatches(): void {
		if (!this.#search) return;
		const { found, position } = this.#search;
		const { limit } = this.#armed;
		if (found.count > 0) {
			const { verdict, next } = judge(limit, found.count, this.#desk.clock.now());
			if (verdict === "drop") this.#save({ limit: next });
			else if (verdict === "tell") {
				if (this.#desk.admit()) {
					this.#desk.put(match(this.process, found, { suppressed: limit.suppressed, missed: position.missed }));
					this.#save({ limit: next });
				} else this.#save({ limit: { ...limit, suppressed: limit.suppressed + found.count } });
			} else {
				this.#desk.put(watchDisabled(this.process, verdict === "disable: enough" ? "enough" : "too often", limit.suppressed + found.count));
				this.#save({ limit: next, patterns: [], notify: true });
				this.#search.close();
				this.#search = undefined;
			}
			this.#search?.forget();
		} else if (this.#searched >= SAVE_EVERY) this.#save({});
	}

	#tellProgress(): void {
		const { interval } = this.#armed;
		if (interval === null) return;
		const now = this.#desk.clock.now();
		const { at, offset } = this.#armed.progress;
		let due = at + interval * 1000;
		if (now >= due || now < at) {
			const { end } = this.process.log.bounds();
			if (end > offset) {
				this.#desk.put(progress(this.process, offset, now));
				this.#save({ progress: { at: now, offset: end } });
			} else this.#armed = { ...this.#armed, progress: { at: now, offset } };
			due = now + interval * 1000;
		}
		this.#cancelTick?.();
		if (this.#live) this.#cancelTick = this.#desk.clock.after(due - now, () => this.lookNow());
	}

	#tellEnd(status: Extract<Status, { status: "exited" | "killed" | "lost" }>): void {
		if (this.#armed.notify) this.#desk.put(completed(this.process, status));
		this.#desk.done(this);
	}

	#save(changes: Partial<Armed>): void {
		const armed = { ...this.#armed, ...changes, search: this.#search?.position ?? this.#armed.search };
		this.#desk.save(armed);
		this.#armed = armed;
		this.#searched = 0;
	}
}

/** Milliseconds since something was last printed; more than enough of them if the clock was set back since. */
function stillFor(dir: string): number {
	const last = segmentStarts(dir).at(-1);
	const stat = last === undefined ? undefined : statIfThere(path.join(dir, segmentName(last)));
	return stat ? Math.abs(Date.now() - stat.mtimeMs) : 0;
}
