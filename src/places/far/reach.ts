/**
 * The way to another machine: its one link, and what may be done over it. There are four ways to do something, by what it is worth starting
 * a machine for that has ended: `use` starts it again; `ask` fails when it is over, `look` says so, and `quietly` then has nothing to do.
 */
import { setTimeout as sleep } from "node:timers/promises";
import { afterwards, inTime } from "../../base/due.js";
import { HoldfastError } from "../../base/errors.js";
import type { Host, Over } from "../host.js";
import { Connection, type Link, LinkBroken } from "../link/index.js";
import { directoryIn, makeReady, type Ready } from "./ready.js";

export interface ReachOptions {
	/** As people call it. */
	readonly name: string;
	/** What this home calls itself there. */
	readonly owner: string;
	/** Somebody is about to use it, and is not just looking on; what is returned says that he is done. */
	readonly enter?: ((how: { readonly signal: AbortSignal | undefined; readonly looks: boolean }) => Promise<() => void>) | undefined;
	/** It has been reached, in this life of it. */
	readonly onLife?: ((life: string) => void) | undefined;
	/** A try to reach it has failed. */
	readonly onTrouble: (reason: string) => void;
}

const CLOSE_MS = 1_000;
const REPEATS = 20; // of a look whose link breaks

export class Reach {
	readonly name: string;
	readonly #host: Host;
	readonly #enter: ReachOptions["enter"];
	readonly #connection: Connection;
	/** What was found out about it, by the link it was found out through: another one may lead to another life of it. */
	readonly #known = new WeakMap<Link, Promise<Ready>>();
	/** What nobody waits for. */
	readonly #later = new Set<Promise<unknown>>();
	readonly #notes: string[] = [];
	#again: Promise<Ready> | undefined;
	/** Who is told when a try to reach it fails. */
	readonly #impatient = new Set<(why: string) => void>();
	#cwd: string | undefined;
	#closed = false;
	/** How often it has been ended on purpose. */
	#ends = 0;
	#resting = false;
	/** What was found there, once it has been reached. */
	login: Ready | undefined;
	/** Why the last try to reach it failed. */
	trouble: string | undefined;
	/** How much later it is there than here, in milliseconds. */
	skew = 0;
	/** Which start of the machine this is; "" where that cannot be told. */
	boot = "";
	/** One life of it: what was made in another one is gone. Known once it has been reached. */
	life = "";

	constructor(host: Host, { name, owner, enter, onLife, onTrouble }: ReachOptions) {
		this.name = name;
		this.#host = host;
		this.#enter = enter;
		this.#connection = new Connection(host, {
			dir: "",
			name: owner,
			onConnected: (facts, { notes, cwd, instance }) => {
				this.trouble = undefined;
				this.#notes.push(...notes, ...facts.notes);
				this.#cwd = cwd;
				this.skew = facts.skewMs;
				this.boot = facts.bootId ?? "";
				this.life = instance ?? this.boot;
				onLife?.(this.life);
			},
			onFailed: ({ message }) => {
				this.trouble = message;
				onTrouble(message);
				for (const tell of this.#impatient) tell(message);
			},
		});
	}

	/** What its user should know, once. */
	takeNotes(): string[] {
		return this.#notes.splice(0);
	}

	/** A link is open: asking costs a round trip, and no wait for a machine that is gone. */
	get connected(): boolean {
		return this.#connection.link !== undefined;
	}

	/** Reach it, with everything there that a start needs. */
	ready(signal?: AbortSignal): Promise<Ready> {
		return this.use((link) => this.prepare(link), { signal });
	}

	/** Our directory there has been removed, under the link that it was found through: it is made anew, once for all who need it, and its user is told. */
	makeReadyAgain(): Promise<Ready> {
		this.#again ??= this.use((link) => {
			this.#known.delete(link);
			return this.prepare(link, () =>
				this.#notes.push(
					`what Holdfast keeps on ${this.name} had been removed from there, and was made anew: output and state of what ran there before are lost`,
				),
			);
		}).finally(() => {
			this.#again = undefined;
		});
		return this.#again;
	}

	/** Where the directory of a process is there. Only after `ready`. */
	directoryOf(id: string): string {
		if (!this.login) throw new HoldfastError("UNREACHABLE", `${this.name} has not been reached yet`);
		return directoryIn(this.login, id);
	}

	/** `again`: it does no harm if it is done twice, should its link break in the middle. */
	async use<T>(work: (link: Link) => Promise<T>, { signal, again = true }: { signal?: AbortSignal | undefined; again?: boolean } = {}): Promise<T> {
		return this.#inUse({ signal, looks: false }, () => {
			const ends = this.#ends;
			return this.#connection.use(work, { again: () => again && this.#ends === ends, ...(signal ? { signal } : {}) });
		});
	}

	/** About those that run there: there are none in what would have to be started for it. */
	async ask<T>(work: (link: Link) => Promise<T>, { again }: { again: boolean }): Promise<T> {
		const over = await this.#over().catch(() => undefined); // whoever reaches for it tries for longer
		if (over) throw new HoldfastError("ENDED", `it is over: ${over.why}`);
		return this.#connection.use(work, { again });
	}

	/** `onlyLooking`: nobody has asked for it, so it is not in use because of this. */
	async look<T>(
		work: (link: Link, ready: Ready) => Promise<T>,
		options: { readonly onlyLooking: boolean; readonly signal: AbortSignal | undefined },
	): Promise<{ readonly over: Over } | { readonly found: T }> {
		return options.onlyLooking ? this.#look(work, options) : this.#inUse({ signal: options.signal, looks: true }, () => this.#look(work, options));
	}

	async #look<T>(
		work: (link: Link, ready: Ready) => Promise<T>,
		{ onlyLooking, signal }: { readonly onlyLooking: boolean; readonly signal: AbortSignal | undefined },
	): Promise<{ readonly over: Over } | { readonly found: T }> {
		for (let repeats = 0; ; repeats++) {
			const over = await this.#over(signal).catch((error) => {
				if (onlyLooking) throw error;
				return undefined; // whoever reaches for it tries for longer
			});
			if (over) return { over };
			let reached = false; // if not, others have tried for long enough
			try {
				const found = await this.#connection.use(
					async (link) => {
						reached = true;
						return work(link, await this.prepare(link));
					},
					{ again: false, ...(signal ? { signal } : {}) },
				);
				return { found };
			} catch (error) {
				if (!(error instanceof LinkBroken) || !reached || this.#closed || repeats >= REPEATS) throw error;
			}
		}
	}

	async quietly(work: (link: Link) => Promise<unknown>): Promise<void> {
		if (await this.#over()) return;
		const ends = this.#ends;
		await this.#connection.use(work, { again: () => this.#ends === ends });
	}

	/** Housekeeping that nobody waits for, quietly. What it cannot reach stays. */
	tidy(script: string, then: () => void = () => {}): void {
		const done = afterwards(() => this.quietly((link) => link.run(script))).then(then, () => {});
		this.#later.add(done);
		void done.finally(() => this.#later.delete(done));
	}

	/** For who does not wait for a machine that may come back: tries now, and resolves when a try has failed. */
	failure(signal: AbortSignal): Promise<string> {
		return new Promise((resolve) => {
			this.#impatient.add(resolve);
			signal.addEventListener("abort", () => this.#impatient.delete(resolve), { once: true });
			setImmediate(() => this.#connection.hurry()); // once what is to be tried for has been asked
		});
	}

	/** Waits for it only as long as the call has time that this is done for. */
	inTime<T>(work: Promise<T>): Promise<T> {
		return inTime(
			work,
			() => new LinkBroken(`${this.trouble ?? `${this.name} does not answer`}. That was waited for as long as this call has`, { mayHaveHappened: false }),
		);
	}

	/** All that ran in it is known to be over. */
	async isOver(): Promise<boolean> {
		return (await this.#over().catch(() => undefined)) !== undefined; // out of reach: not known
	}

	/** It is ended on purpose: meanwhile nobody opens another link, and what was under way does not do so afterwards; the next use does. */
	async restDuring<T>(end: () => Promise<T>): Promise<T> {
		this.#ends++;
		this.#resting = true;
		this.#connection.link?.close();
		try {
			return await end();
		} finally {
			this.#resting = false;
		}
	}

	/** Waits a moment for housekeeping that is under way. */
	async close(): Promise<void> {
		if (this.connected && this.#later.size > 0) {
			const done = new AbortController(); // a timer that is left would keep the program from ending
			const late = sleep(CLOSE_MS, undefined, { signal: done.signal }).catch(() => {});
			await Promise.race([Promise.all(this.#later), late]).finally(() => done.abort());
		}
		this.#closed = true;
		this.#connection.close();
	}

	/** What is at the other end of a link. `onInstalled`: our scripts were not there. */
	prepare(link: Link, onInstalled?: () => void): Promise<Ready> {
		let known = this.#known.get(link);
		if (!known) {
			known = makeReady(link, { name: this.name, cwd: this.#cwd, onInstalled }).then((ready) => {
				this.login = ready;
				return ready;
			});
			this.#known.set(link, known);
			known.catch(() => this.#known.delete(link));
		}
		return known;
	}

	/** Why all that ran in it is over, unless it can be asked itself. */
	async #over(signal?: AbortSignal): Promise<Over | undefined> {
		if (this.#resting) return { why: "the container that it ran in was ended", kept: true };
		return this.#connection.link || this.#closed || !this.#host.over ? undefined : this.inTime(this.#host.over(signal));
	}

	/** Nobody ends it for want of use meanwhile, however long it takes. */
	async #inUse<T>(how: { readonly signal: AbortSignal | undefined; readonly looks: boolean }, act: () => Promise<T>): Promise<T> {
		if (!this.#enter) return act();
		const entering = this.#enter(how);
		const leave = await this.inTime(entering).catch((error) => {
			void entering.then((late) => late()).catch(() => {}); // nobody waits for that any more
			throw error;
		});
		try {
			return await act();
		} finally {
			leave();
		}
	}
}
