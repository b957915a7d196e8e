/**
 * The connection to a remote machine: its one link, and the operations on it. The four ways to call the machine differ in what happens
 * if it has stopped: `use` restarts it, `ask` fails, `look` reports it, and `quietly` does nothing.
 */
import { setTimeout as sleep } from "node:timers/promises";
import { type Deadlines, HoldfastError } from "../../base/index.js";
import type { BoxIdentity, Host, Over, Stream } from "../host.js";
import { Connection, type Link, LinkBroken } from "../link/index.js";
import { directoryIn, makeReady, type Ready } from "./ready.js";

export interface ReachOptions {
	/** Display name. */
	readonly name: string;
	/** The name of this home on that machine. */
	readonly owner: string;
	/** Deadlines of the calls that use it. */
	readonly deadlines: Deadlines;
	/** Marks the machine as in use (not merely observed). Returns a function that releases it. */
	readonly enter?: ((how: { readonly signal: AbortSignal | undefined; readonly looks: boolean }) => Promise<() => void>) | undefined;
	/** Called when the machine has been reached in its current life. `ends`: when that life ends at the latest. */
	readonly onLife?: ((life: string, ends: number | undefined) => void) | undefined;
	/** Called when an attempt to reach it has failed. */
	readonly onTrouble: (reason: string) => void;
}

/** Limit on the output of a script. */
export const RUN_BYTES = 64 * 1024 * 1024;
const CLOSE_MS = 1_000;
const REPEATS = 20; // of a look whose link breaks

export class Reach {
	readonly name: string;
	readonly deadlines: Deadlines;
	readonly #host: Host;
	readonly #enter: ReachOptions["enter"];
	readonly #connection: Connection;
	/** Facts about the machine, by the link they came over: another link may lead to another life of it. */
	readonly #known = new WeakMap<Link, Promise<Ready>>();
	/** Work that no caller waits for. */
	readonly #later = new Set<Promise<unknown>>();
	readonly #notes: string[] = [];
	#again: Promise<Ready> | undefined;
	/** Called when an attempt to connect fails. */
	readonly #impatient = new Set<(why: string) => void>();
	#cwd: string | undefined;
	#closed = false;
	/** How often it has been ended on purpose. */
	#ends = 0;
	#resting = false;
	/** Facts about the machine, once it has been reached. */
	login: Ready | undefined;
	/** Why the last attempt to reach it failed. */
	trouble: string | undefined;
	/** The remote clock minus the local one, in milliseconds. */
	skew = 0;
	/** Identifies one boot of the machine; "" if unknown. */
	boot = "";
	/** Identifies one life of the machine: what was made in another life is gone. Known once the machine has been reached. */
	life = "";
	/** For a machine that is recreated when it is gone: its identity. */
	box: BoxIdentity | undefined;

	constructor(host: Host, { name, owner, deadlines, enter, onLife, onTrouble }: ReachOptions) {
		this.name = name;
		this.deadlines = deadlines;
		this.#host = host;
		this.#enter = enter;
		this.#connection = new Connection(host, {
			dir: "",
			name: owner,
			deadlines,
			onConnected: (facts, { notes, cwd, instance, box, ends }) => {
				this.trouble = undefined;
				this.#notes.push(...notes, ...facts.notes);
				this.#cwd = cwd;
				this.skew = facts.skewMs;
				this.boot = facts.bootId ?? "";
				this.life = instance ?? this.boot;
				this.box = box;
				onLife?.(this.life, ends);
			},
			onFailed: ({ message }) => {
				this.trouble = message;
				onTrouble(message);
				for (const tell of this.#impatient) tell(message);
			},
		});
	}

	/** Returns notes for the user, each once. */
	takeNotes(): string[] {
		return this.#notes.splice(0);
	}

	/** Returns what the start in progress waits for, if known. */
	get pending(): string | undefined {
		return this.#connection.pending;
	}

	set pending(line: string | undefined) {
		this.#connection.pending = line;
	}

	/** Cancels a start in progress. */
	giveUp(): void {
		this.#connection.giveUp();
	}

	/** Returns true if a link is open: a request costs a round trip, and no wait for a reconnect. */
	get connected(): boolean {
		return this.#connection.link !== undefined;
	}

	/** Reaches the machine and installs everything that a start needs. */
	ready(signal?: AbortSignal): Promise<Ready> {
		return this.use((link) => this.prepare(link), { signal });
	}

	/** Recreates our remote directory, which was removed while the link was open: once for all callers, with a note for the user. */
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

	/** Returns the remote directory of a process. Only after `ready`. */
	directoryOf(id: string): string {
		if (!this.login) throw new HoldfastError("UNREACHABLE", `${this.name} has not been reached yet`);
		return directoryIn(this.login, id);
	}

	/** Runs work, restarting the machine if needed. `again`: the work is idempotent and may be repeated after a broken link. */
	async use<T>(work: (link: Link) => Promise<T>, { signal, again = true }: { signal?: AbortSignal | undefined; again?: boolean } = {}): Promise<T> {
		return this.#inUse({ signal, looks: false }, () => {
			const ends = this.#ends;
			return this.#connection.use(work, { again: () => again && this.#ends === ends, ...(signal ? { signal } : {}) });
		});
	}

	/** Runs a script. `again`: the script is idempotent. */
	run(
		script: string,
		{ signal, starts = false, again = true }: { signal?: AbortSignal; starts?: boolean; again?: boolean } = {},
	): Promise<{ status: number; output: Buffer; error: string }> {
		return this.use((link) => link.run(script, { starts, limit: RUN_BYTES, ...(signal ? { signal } : {}) }), { signal, again });
	}

	/** Asks about running processes: a machine that would have to be started for it has none. */
	async ask<T>(work: (link: Link) => Promise<T>, { again }: { again: boolean }): Promise<T> {
		const over = await this.#over().catch(() => undefined); // a caller that uses the machine retries for longer
		if (over) throw new HoldfastError("ENDED", `it is over: ${over.why}`);
		return this.#connection.use(work, { again });
	}

	/** Opens a separate stream to a command, beside the link. The machine is in use until the stream ends. Throws ENDED if it would have to be started. */
	async stream(command: string, signal?: AbortSignal): Promise<Stream> {
		const over = await this.#over(signal).catch(() => undefined); // a caller that uses the machine retries for longer
		if (over) throw new HoldfastError("ENDED", `it is over: ${over.why}`);
		const leave = (await this.#enter?.({ signal, looks: false })) ?? (() => {});
		try {
			// The link comes first: a host opens streams only after its start.
			const stream = await this.#connection.use(() => this.#host.open(command, signal), { again: false, ...(signal ? { signal } : {}) });
			void stream.ended.then(leave);
			return stream;
		} catch (error) {
			leave();
			throw error;
		}
	}

	/** `onlyLooking`: no caller uses the machine, so this does not count as use. */
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
				return undefined; // a caller that uses the machine retries for longer
			});
			if (over) return { over };
			let reached = false; // if not, other callers have retried for long enough
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

	/** Runs housekeeping in the background and ignores errors. Unreachable files stay. */
	tidy(script: string, then: () => void = () => {}): void {
		const done = this.deadlines.afterwards(() => this.quietly((link) => link.run(script))).then(then, () => {});
		this.#later.add(done);
		void done.finally(() => this.#later.delete(done));
	}

	/** For callers that will not wait for a reconnect: tries now, and resolves when an attempt has failed. */
	failure(signal: AbortSignal): Promise<string> {
		return new Promise((resolve) => {
			this.#impatient.add(resolve);
			signal.addEventListener("abort", () => this.#impatient.delete(resolve), { once: true });
			setImmediate(() => this.#connection.hurry()); // after the request that needs the attempt has been made
		});
	}

	/** Waits for work no longer than the deadline of its call. */
	inTime<T>(work: Promise<T>): Promise<T> {
		return this.deadlines.inTime(
			work,
			() => new LinkBroken(`${this.trouble ?? `${this.name} does not answer`}. That was waited for as long as this call has`, { mayHaveHappened: false }),
		);
	}

	/** Returns true if everything that ran on it is known to be over. */
	async isOver(): Promise<boolean> {
		return (await this.#over().catch(() => undefined)) !== undefined; // unreachable: unknown
	}

	/** Ends the machine on purpose: meanwhile no link is opened, not even by work in progress; the next use opens one. */
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

	/** Waits a moment for housekeeping in progress. */
	async close(): Promise<void> {
		if (this.connected && this.#later.size > 0) {
			const done = new AbortController(); // a leftover timer would keep the program from ending
			const late = sleep(CLOSE_MS, undefined, { signal: done.signal }).catch(() => {});
			await Promise.race([Promise.all(this.#later), late]).finally(() => done.abort());
		}
		this.#closed = true;
		this.#connection.close();
	}

	/** Returns the facts about the remote end of a link. `onInstalled`: called if our scripts were missing. */
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

	/** Returns why everything that ran on it is over, unless the machine itself can be asked. */
	async #over(signal?: AbortSignal): Promise<Over | undefined> {
		if (this.#resting) return { why: "the container that it ran in was ended", kept: true };
		return this.#connection.link || this.#closed || !this.#host.over ? undefined : this.inTime(this.#host.over(signal));
	}

	/** Keeps the machine from being ended as idle meanwhile, however long that takes. */
	async #inUse<T>(how: { readonly signal: AbortSignal | undefined; readonly looks: boolean }, act: () => Promise<T>): Promise<T> {
		if (!this.#enter) return act();
		const entering = this.#enter(how);
		const leave = await this.inTime(entering).catch((error) => {
			void entering.then((late) => late()).catch(() => {}); // the caller has given up
			throw error;
		});
		try {
			return await act();
		} finally {
			leave();
		}
	}
}
