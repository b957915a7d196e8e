/**
 * Ends unused containers. A runtime that has used a container keeps it as long as its task is open: until the task is left or ended, the
 * runtime is closed, or a day has passed without use. Only after that does its lifetime count. Beside `places/KEY.json` in the home, the
 * mtime of `KEY.used` is the last use by any program, and the lease in `KEY.end` names the program that is ending it. A user
 * writes the mark first and then checks the lease; a program that ends the container takes the lease first and then checks the
 * mark: so one of the two always sees the other.
 */
import fs from "node:fs";
import path from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { ensureDir, type Home, Lease, statIfThere, unlinkIfThere } from "../base/index.js";

export interface Lived {
	readonly key: string;
	/** The container ends after so many seconds without use and without a running process. */
	readonly seconds: number;
	/** Returns whether a process runs in it, started by any program. */
	busy(): boolean | Promise<boolean>;
	/** Stops it. Returns what was stopped, a sentence each. */
	stop(): Promise<readonly string[]>;
	/** If present: suspends the unused container instead of stopping it. The end of its task then stops it. */
	readonly rest?: () => Promise<void>;
}

interface Known {
	readonly lived: Lived;
	/** Calls in progress. */
	users: number;
	/** The task is open in this program: used since it was last left. */
	open: boolean;
	/** By performance.now(). */
	usedAt: number;
}

const FRESH_MS = 1_000;
const OPEN_MS = 24 * 3_600_000; // as long as an idle shell stays (shell/birth.ts)
const LONGEST_LOOK_MS = 30_000;
const SHORTEST_LOOK_MS = 50;
const ENDING_LOOK_MS = 50;
const ENDING_MOST_MS = 60_000;

export class Lifetimes {
	readonly #dir: string;
	readonly #openMs: number;
	readonly #known = new Map<string, Known>();
	readonly #ending = new Map<string, Promise<readonly string[]>>();
	/** When this program last wrote the mark. */
	readonly #marked = new Map<string, number>();
	#timer: NodeJS.Timeout | undefined;
	/** When the next look is due, by performance.now(). */
	#lookAt = Number.POSITIVE_INFINITY;
	#closed = false;

	constructor(home: Pick<Home, "root">, { openMs = OPEN_MS }: { readonly openMs?: number } = {}) {
		this.#dir = path.join(home.root, "places");
		this.#openMs = openMs;
	}

	/** Marks it as used; waits if it is being stopped. Does not keep it alive: see `use`. */
	async touch(key: string, signal?: AbortSignal): Promise<void> {
		this.#freshen(key);
		if (Lease.isFree(this.#lease(key))) return;
		await this.#untilEnded(key, signal);
		this.#mark(key);
	}

	/** Returns whether any program has used it since it was last ended. */
	mayBeThere(key: string): boolean {
		return statIfThere(this.#file(key, "used")) !== undefined;
	}

	/**
	 * Marks the container as in use until the returned function is called, however long that takes, and then as open until `leave`. This runtime ends it
	 * when it is neither, and no program has used it for its lifetime. First waits for an end in progress. `looks`: a use that does
	 * not open it, such as a page that shows its processes.
	 */
	async use(lived: Lived, { signal, looks = false }: { signal?: AbortSignal | undefined; looks?: boolean } = {}): Promise<() => void> {
		const known: Known = this.#known.get(lived.key) ?? { lived, users: 0, open: false, usedAt: 0 };
		this.#known.set(lived.key, known);
		known.users++;
		if (!looks) known.open = true;
		this.#lookLater();
		let used = true;
		const leave = () => {
			if (!used) return;
			used = false;
			known.users--;
			if (!looks) known.usedAt = performance.now();
			this.#freshen(lived.key);
		};
		try {
			await this.touch(lived.key, signal);
		} catch (error) {
			leave();
			throw error;
		}
		return leave;
	}

	async #untilEnded(key: string, signal: AbortSignal | undefined): Promise<void> {
		const until = performance.now() + ENDING_MOST_MS; // the program that ends it is stuck; its effect is noticed like any other end
		while (!Lease.isFree(this.#lease(key)) && performance.now() < until) await sleep(ENDING_LOOK_MS, undefined, signal ? { signal } : {});
	}

	/** Ends it now, even if it is in use. Of several concurrent callers, one learns what was stopped. */
	async end(lived: Lived): Promise<readonly string[]> {
		const stopped = await this.#end(lived);
		if (stopped.length > 0 || lived.rest === undefined) return stopped;
		await this.#untilEnded(lived.key, undefined); // another caller was ending it, and may only have suspended it
		return this.mayBeThere(lived.key) ? this.#end(lived) : [];
	}

	async #end(lived: Lived): Promise<readonly string[]> {
		const under = this.#ending.get(lived.key);
		if (under) {
			await under.catch(() => {}); // reported to the first caller
			return [];
		}
		return this.#once(lived.key, () => this.#alone(lived.key, () => this.#stop(lived)));
	}

	/** The container's task is no longer open in this program: its lifetime counts from now on. */
	leave(key: string): void {
		const known = this.#known.get(key);
		if (known) known.open = false;
	}

	/** Drops local knowledge of an ended container. */
	forget(key: string): void {
		this.#known.delete(key);
		this.#marked.delete(key);
	}

	/** Stops ending containers. Each container has a switch of its own. */
	async close(): Promise<void> {
		this.#closed = true;
		clearTimeout(this.#timer);
		await Promise.allSettled(this.#ending.values());
	}

	#once(key: string, act: () => Promise<readonly string[]>): Promise<readonly string[]> {
		const ending = act().finally(() => this.#ending.delete(key));
		this.#ending.set(key, ending);
		return ending;
	}

	/** Returns nothing if another program holds the lease. */
	async #alone(key: string, act: () => Promise<readonly string[]>): Promise<readonly string[]> {
		ensureDir(path.dirname(this.#lease(key)));
		const lease = Lease.take(this.#lease(key));
		if (!lease) return [];
		try {
			return await act();
		} finally {
			lease.release();
		}
	}

	async #stop(lived: Lived): Promise<readonly string[]> {
		const stopped = await lived.stop();
		this.#unwatch(lived.key);
		unlinkIfThere(this.#file(lived.key, "used"));
		this.#marked.delete(lived.key);
		return stopped;
	}

	/** Unmanaged until its next use. */
	#unwatch(key: string): void {
		if (this.#known.get(key)?.users === 0) this.#known.delete(key);
	}

	/** The timer does not keep the program alive, and its work is detached. A container that is added later may need an earlier check. */
	#lookLater(): void {
		if (this.#closed) return;
		const shortest = Math.min(...[...this.#known.values()].map(({ lived }) => lived.seconds * 250), LONGEST_LOOK_MS);
		const pause = Math.max(shortest, SHORTEST_LOOK_MS);
		if (performance.now() + pause >= this.#lookAt) return;
		clearTimeout(this.#timer);
		this.#lookAt = performance.now() + pause;
		this.#timer = setTimeout(() => {
			this.#lookAt = Number.POSITIVE_INFINITY;
			this.#look();
			if (this.#known.size > 0) this.#lookLater();
		}, pause).unref();
	}

	#look(): void {
		for (const [key, { lived, users, open, usedAt }] of this.#known) {
			if (users > 0 || (open && performance.now() - usedAt < this.#openMs)) this.#mark(key);
			else if (this.mayBeThere(key) && this.#isOver(lived) && !this.#ending.has(key)) this.#once(key, () => this.#stopIdle(lived)).catch(() => {}); // the next check retries
		}
	}

	/** Asks before the lease is taken, so that no caller waits for the answer: a start in the meantime marks it as used. */
	async #stopIdle(lived: Lived): Promise<readonly string[]> {
		if (await lived.busy()) {
			this.#mark(lived.key); // its lifetime begins when nothing runs any more
			return [];
		}
		return this.#alone(lived.key, async () => {
			if (!this.#isOver(lived)) return [];
			if (lived.rest === undefined) return this.#stop(lived);
			await lived.rest();
			this.#unwatch(lived.key);
			return [];
		});
	}

	#isOver({ key, seconds }: Lived): boolean {
		return Date.now() - (statIfThere(this.#file(key, "used"))?.mtimeMs ?? 0) >= seconds * 1000;
	}

	/** Often enough for other programs to see, and no more: most uses take less than a millisecond. */
	#freshen(key: string): void {
		if (performance.now() - (this.#marked.get(key) ?? Number.NEGATIVE_INFINITY) >= FRESH_MS) this.#mark(key);
	}

	#mark(key: string): void {
		const file = this.#file(key, "used");
		try {
			ensureDir(this.#dir);
			fs.closeSync(fs.openSync(file, "a", 0o600));
			const now = new Date();
			fs.utimesSync(file, now, now);
			this.#marked.set(key, performance.now());
		} catch {
			// a full disk: the mark stays too old, but running processes still count
		}
	}

	#file(key: string, what: "used"): string {
		return path.join(this.#dir, `${key}.${what}`);
	}

	/** In a directory of its own: it is checked before each use. */
	#lease(key: string): string {
		return path.join(this.#dir, `${key}.end`, "lease");
	}
}
