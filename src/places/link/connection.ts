/** A link to a host, shared by all callers, opened on first use, and reopened after it broke. */
import { Deadlines, HoldfastError } from "../../base/index.js";
import type { Host, Started } from "../host.js";
import { notYet } from "../pending.js";
import { LinkBroken } from "./broken.js";
import type { Facts } from "./facts.js";
import { BOOT, Link, type LinkStreamOptions } from "./link.js";

const FIRST_PAUSE_MS = 200;
const LONGEST_PAUSE_MS = 5_000;
const TOTAL_MS = 30_000;
const IDLE_MS = 60_000;
const REPEATS = 20; // work that breaks every link is not retried for ever

export interface ConnectionOptions extends Omit<LinkStreamOptions, "signal"> {
	/** Deadlines of the calls that use it. Default: none. */
	readonly deadlines?: Deadlines;
	/** Closes the link after this time without use. */
	readonly idleMs?: number;
	/** How long to reconnect after a link broke. */
	readonly totalMs?: number;
	/** Called for the first link and after each reconnect. */
	readonly onConnected?: (facts: Facts, started: Started) => void;
	/** Called when the host is unreachable; the caller may retry. */
	readonly onFailed?: (error: HoldfastError) => void;
}

export interface UseOptions {
	/** The request is idempotent. */
	readonly again: boolean | (() => boolean);
	readonly signal?: AbortSignal;
}

export class Connection {
	readonly #host: Host;
	readonly #options: ConnectionOptions;
	readonly #deadlines: Deadlines;
	readonly #closing = new AbortController();
	#link: Link | undefined;
	#opening: Promise<Link> | undefined;
	#worked = false;
	/** Since when it is unreachable, and why. */
	#away: { readonly since: number; readonly why: HoldfastError } | undefined;
	/** Ends the pause between two attempts. */
	#hurry: (() => void) | undefined;
	/** For the start in progress. */
	#starting: AbortController | undefined;
	#users = 0;
	#idle: NodeJS.Timeout | undefined;
	/** What the start in progress waits for, if known: a queue, an image. */
	pending: string | undefined;

	constructor(host: Host, options: ConnectionOptions) {
		this.#host = host;
		this.#options = options;
		this.#deadlines = options.deadlines ?? new Deadlines();
	}

	/** Returns the open link, if any. */
	get link(): Link | undefined {
		return this.#link?.open ? this.#link : undefined;
	}

	/** Makes the next attempt at once, without the pause: a caller waits for the answer. */
	hurry(): void {
		this.#hurry?.();
	}

	/**
	 * Runs work on a link. When the link breaks, retries work that is idempotent; otherwise throws `LinkBroken`, which says what may have happened.
	 * Waits no longer than the deadline of the call that it belongs to.
	 */
	async use<T>(work: (link: Link) => Promise<T>, { again, signal }: UseOptions): Promise<T> {
		this.#users++;
		clearTimeout(this.#idle);
		try {
			for (let repeats = 0; ; repeats++) {
				const link = await this.#deadlines.inTime(this.#get(signal), () => this.#late(false));
				if (this.#deadlines.isLate()) throw this.#late(false);
				try {
					return await this.#deadlines.inTime(work(link), () => this.#late(true));
				} catch (error) {
					if (!(error instanceof LinkBroken) || !(typeof again === "function" ? again() : again)) throw error;
					if (repeats >= REPEATS || this.#deadlines.isLate() || this.#closing.signal.aborted) throw error;
				}
			}
		} finally {
			this.#users--;
			if (this.#users === 0) this.#rest();
		}
	}

	/** Cancels the start in progress, if any: no caller will use the machine. The host takes back what it has queued. */
	giveUp(): void {
		this.#starting?.abort();
	}

	/** Ends the link with all its requests. The connection cannot be used any more. */
	close(): void {
		this.#closing.abort();
		clearTimeout(this.#idle);
		this.#link?.close();
	}

	async #get(signal: AbortSignal | undefined): Promise<Link> {
		if (signal?.aborted) throw aborted();
		if (this.#closing.signal.aborted) throw new LinkBroken(`the connection to ${this.#host.address} is closed`, { mayHaveHappened: false });
		if (this.#link?.open) return this.#link;
		// An attempt that was already in progress says nothing about now, should it fail.
		if (this.#opening) await unlessAborted(this.#opening, signal).catch(unlessUnreachable);
		if (this.#link?.open) return this.#link;
		this.#opening ??= this.#reopen().finally(() => {
			this.#opening = undefined;
		});
		return unlessAborted(this.#opening, signal);
	}

	/**
	 * The first attempt works at once or not at all: then the cause is one that waiting does not change. After that, a break counts as temporary
	 * for a while; once it lasts longer, each caller makes one attempt.
	 */
	async #reopen(): Promise<Link> {
		const total = this.#worked ? (this.#options.totalMs ?? TOTAL_MS) : 0;
		for (let pause = FIRST_PAUSE_MS, tries = 1; ; tries++) {
			try {
				return await this.#open();
			} catch (error) {
				if (this.#closing.signal.aborted || !(error instanceof HoldfastError) || error.code !== "UNREACHABLE") throw error;
				this.#away = { since: this.#away?.since ?? performance.now(), why: error };
				this.#options.onFailed?.(error);
				if (performance.now() + pause > this.#away.since + total) {
					this.#away = { since: Number.NEGATIVE_INFINITY, why: error };
					throw tries === 1 ? error : gaveUp(this.#host.address, tries, error);
				}
			}
			const paused = new AbortController();
			this.#hurry = () => paused.abort();
			await sleep(pause, AbortSignal.any([this.#closing.signal, paused.signal]));
			this.#hurry = undefined;
			pause = Math.min(pause * 2, LONGEST_PAUSE_MS);
		}
	}

	/** `asked`: an expected answer did not come. */
	#late(asked: boolean): HoldfastError {
		if (this.pending !== undefined && !asked) return notYet(this.#host.address, this.pending);
		const why = this.#away && !this.link ? this.#away.why.message : `${this.#host.address} does not answer`;
		return new LinkBroken(`${why}. That was waited for as long as this call has; what runs there runs on, and the next call tries again`, {
			mayHaveHappened: asked,
			cause: this.#away?.why,
		});
	}

	async #open(): Promise<Link> {
		this.#starting = new AbortController();
		const signal = AbortSignal.any([this.#closing.signal, this.#starting.signal]);
		const started = await this.#host.start(signal).finally(() => {
			this.pending = undefined;
			this.#starting = undefined;
		});
		const stream = await this.#host.open(BOOT, signal);
		const own = started.dir === undefined ? {} : { dir: started.dir, name: "" };
		const beat = started.lifetime === undefined ? {} : { beatMs: started.lifetime * 250 };
		const whySilent = this.#host.whySilent && { whySilent: () => this.#host.whySilent?.() ?? Promise.resolve(undefined) };
		const link = await Link.open(stream, { ...this.#options, ...own, ...beat, ...whySilent, signal });
		this.#link = link;
		this.#worked = true;
		this.#away = undefined;
		this.#options.onConnected?.(link.facts, started);
		return link;
	}

	/** Closes the link after a while without a caller. */
	#rest(): void {
		this.#idle = setTimeout(() => this.#link?.close(), this.#options.idleMs ?? IDLE_MS);
		this.#idle.unref();
	}
}

const aborted = (): HoldfastError => new HoldfastError("ABORTED", "the call was aborted");

const gaveUp = (address: string, tries: number, cause: HoldfastError): LinkBroken =>
	new LinkBroken(`${address} cannot be reached any more (${tries} tries): ${cause.message}. What runs there runs on; the next call tries again`, {
		mayHaveHappened: false,
		cause,
	});

function unlessUnreachable(error: unknown): void {
	if (!(error instanceof HoldfastError && error.code === "UNREACHABLE")) throw error;
}

function unlessAborted<T>(promise: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
	if (!signal) return promise;
	return new Promise((resolve, reject) => {
		const stop = () => reject(aborted());
		signal.addEventListener("abort", stop, { once: true });
		promise.then(resolve, reject).finally(() => signal.removeEventListener("abort", stop));
	});
}

function sleep(ms: number, signal: AbortSignal): Promise<void> {
	return new Promise((resolve) => {
		const done = () => {
			clearTimeout(timer);
			signal.removeEventListener("abort", done);
			resolve();
		};
		const timer = setTimeout(done, ms);
		signal.addEventListener("abort", done, { once: true });
	});
}
