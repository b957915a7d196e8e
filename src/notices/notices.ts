/** The front of this room: ask for notices, hold them back, get them. docs/architecture.md has the whole story. */
import { setMaxListeners } from "node:events";
import * as z from "zod";
import { aSignal, counted, fromSystem, HoldfastError, parseOptions, Wakeup } from "../base/index.js";
import type { Process, Runtime } from "../process/index.js";
import { arm, isArmed } from "./armed.js";
import { type Clock, clockOf } from "./clock.js";
import type { Notice } from "./notice.js";
import { NoticesOwner } from "./owner.js";
import { noticesDir, QUEUED_AT_MOST, Queue, type TakenNotice } from "./queue.js";
import { sweep } from "./sweep.js";
import { tasksIn } from "./tasks.js";
import { holdEnd, markTold } from "./told.js";
import { type ArmResult, readWishes, type Wishes } from "./wishes.js";
import { completedId } from "./words.js";

/** How many notices, and how much text, one tool result carries. */
const TAKEN_AT_MOST = 10;
const TAKEN_CHARS = 8_000;
/** The answer to a call has gone out by then; a crash before that, and the next one gets its notices again. */
const ANSWERED_MS = 1_000;
const HELD_MS = 2_000; // until the next look at ends that are held back
const SWEEP_EVERY_MS = 3_600_000;
const SWEEP_AFTER_MS = 1_000; // not while something is being started

export interface StreamOptions {
	readonly signal?: AbortSignal;
	/** Only show them: each once, and all stay for `take` or another stream. */
	readonly leave?: boolean;
}

/** A task whose notices a stream has. */
interface Listened {
	readonly owner: NoticesOwner;
	readonly next: () => Pick<TakenNotice, "notice" | "acknowledge"> | undefined;
	end(): Promise<void>;
}

/** Notices about background processes, by task. Close it to hand over to other programs at once. */
export class Notices implements AsyncDisposable {
	readonly #runtime: Runtime;
	readonly #clock: Clock;
	readonly #owners = new Map<string, { owner: NoticesOwner; streams: number; handOut: number }>();
	readonly #looking = new Map<string, Promise<unknown>>();
	readonly #taken = new Map<string, TakenNotice>(); // by id of the notice
	readonly #closing = new AbortController();
	#swept = Number.NEGATIVE_INFINITY;
	#sweepTimer: NodeJS.Timeout | undefined;

	constructor(runtime: Runtime, options: { clock?: Clock } = {}) {
		this.#runtime = runtime;
		this.#clock = options.clock ?? clockOf(runtime.home);
		setMaxListeners(0, this.#closing.signal); // every stream listens to it
	}

	/**
	 * Ask for notices about a process; once, and best while it is being started (`runtime.spawn(options, prepare)`), so that no crash
	 * comes in between. Whatever it printed and did before counts too.
	 */
	arm(process: Process, wishes: Wishes): ArmResult {
		const { armed, result } = readWishes(process, wishes, this.#clock.now());
		if (armed) arm(noticesDir(this.#runtime.home, armed.task), armed);
		this.#sweepNowAndThen();
		return result;
	}

	/**
	 * Before a call that may tell of the end itself (wait, log, kill): until the returned function is called, no notice of it goes
	 * out; afterwards, if the call has told of it, none ever does.
	 */
	hold(process: Process): (told: boolean) => void {
		const queue = this.#queue(process.spec.task);
		if (!isArmed(queue.dir, process.id) && !queue.has(completedId(process.id))) return () => {}; // nothing will come
		let release = () => {};
		try {
			release = holdEnd(queue.dir, process.id);
		} catch {
			// as in markTold
		}
		return (told) => {
			if (told) this.consume(process);
			release();
		};
	}

	/** The agent knows of the end. */
	consume(process: Process): void {
		const queue = this.#queue(process.spec.task);
		if (!isArmed(queue.dir, process.id) && !queue.has(completedId(process.id))) return;
		markTold(process.dir);
		queue.remove(completedId(process.id));
	}

	/**
	 * Every notice of a task, or of all tasks, as it comes. It is told to one, once: it has arrived when the next one is asked for, or the loop is
	 * left. As long as there is a listener, this program looks after the task's processes, or stands by for another that does.
	 */
	stream(task: string, options?: StreamOptions): AsyncGenerator<Notice, void>;
	stream(options?: StreamOptions & { readonly task?: string }): AsyncGenerator<Notice, void>;
	stream(which: string | (StreamOptions & { readonly task?: string }) = {}, more: StreamOptions = {}): AsyncGenerator<Notice, void> {
		const { task, ...options } = streamOptions(typeof which === "string" ? { ...more, task: which } : which);
		return this.#stream(task, options);
	}

	async *#stream(task: string | undefined, { signal: given, leave = false }: StreamOptions): AsyncGenerator<Notice, void> {
		const signal = given ? AbortSignal.any([given, this.#closing.signal]) : this.#closing.signal;
		if (signal.aborted) return;
		const wakeup = new Wakeup();
		const listened = new Map<string, Listened>();
		const add = (name: string) => {
			if (listened.has(name)) return;
			const { owner, leave: end } = usingHome(() => this.#join(name, { handsOut: !leave }));
			const put: Notice[] = [];
			const unlisten = owner.listen((notice) => {
				if (notice && leave && put.length < QUEUED_AT_MOST) put.push(notice); // another stream may have handed it out before this one looks
				wakeup.poke();
			});
			const next = leave ? shower(owner.queue, put) : () => (owner.mine() ? owner.queue.claim() : undefined);
			const leaveTask = async () => {
				unlisten();
				await end();
			};
			listened.set(name, { owner, next, end: leaveTask });
		};
		const { home } = this.#runtime;
		const stirred = new Set<string | null>([null]);
		const unwatch =
			task !== undefined
				? () => {}
				: home.watch.directory(home.notices, (name) => {
						stirred.add(name);
						wakeup.poke();
					});
		try {
			if (task !== undefined) add(task);
			while (!signal.aborted) {
				if (task === undefined) for (const name of tasksIn(home, stirred)) add(name);
				stirred.clear();
				const claim = usingHome(() => nextOf(listened));
				if (claim) {
					try {
						yield claim.notice;
					} finally {
						claim.acknowledge();
					}
					continue;
				}
				if (task === undefined) await dropIdle(listened);
				const heldBack = [...listened.values()].some(({ owner }) => owner.queue.heldBack);
				await wakeup.next(heldBack ? HELD_MS : undefined, signal);
			}
		} finally {
			unwatch();
			await Promise.all([...listened.values()].map(({ end }) => end()));
		}
	}

	/** Takes the due notices for the result of a call: no more than fit there; the last one says if there are more. */
	async take(task: string): Promise<Notice[]> {
		if (this.#closing.signal.aborted) throw new HoldfastError("ABORTED", "these notices were closed; open the runtime again to get them");
		const queue = this.#queue(task);
		const taken: Notice[] = [];
		let left = 0;
		try {
			if (!queue.mayHaveSome()) return [];
			await this.#lookAll(task);
			let chars = 0;
			for (let claim = queue.claim(); claim; claim = left > 0 ? undefined : queue.claim()) {
				this.#keepUntilAnswered(claim);
				taken.push(claim.notice);
				chars += claim.notice.text.length;
				if (taken.length >= TAKEN_AT_MOST || chars >= TAKEN_CHARS) left = queue.waiting().length;
			}
		} catch (error) {
			if (taken.length === 0) throw fromSystem(error, "cannot get at the notices"); // else the next call gets what is left
		}
		return left === 0 ? taken : taken.map((notice, index) => (index < taken.length - 1 ? notice : { ...notice, text: `${notice.text}\n${moreText(left)}` }));
	}

	/** Returns the undelivered notices that were found so far, and leaves them there. */
	waiting(task: string): Notice[] {
		return usingHome(() => this.#queue(task).waiting());
	}

	/** These could not be delivered: the next one to ask gets them. */
	putBack(notices: readonly Notice[]): void {
		for (const notice of notices) {
			const claim = this.#taken.get(notice.id);
			this.#taken.delete(notice.id);
			if (claim) claim.putBack();
			else this.#queue(notice.task).restore(notice);
		}
	}

	/** Streams end; other programs may look after the tasks. */
	async close(): Promise<void> {
		this.#closing.abort();
		clearTimeout(this.#sweepTimer);
		for (const claim of [...this.#taken.values()]) this.#acknowledge(claim);
		await Promise.all([...this.#owners.values()].map(({ owner }) => owner.stop()));
		await Promise.all(this.#looking.values());
	}

	[Symbol.asyncDispose](): Promise<void> {
		return this.close();
	}

	#queue(task: string): Queue {
		return new Queue(this.#runtime.home, task);
	}

	/** Streams of one task share an owner, which lasts as long as the last of them. */
	#join(task: string, { handsOut }: { handsOut: boolean }): { owner: NoticesOwner; leave: () => Promise<void> } {
		let entry = this.#owners.get(task);
		if (!entry) {
			entry = { owner: new NoticesOwner(this.#runtime, this.#queue(task), this.#clock), streams: 0, handOut: 0 };
			entry.owner.start();
			this.#owners.set(task, entry);
		}
		const joined = entry;
		joined.streams++;
		if (handsOut) joined.handOut++;
		joined.owner.handOut(joined.handOut > 0);
		return {
			owner: joined.owner,
			leave: async () => {
				if (handsOut) joined.handOut--;
				if (--joined.streams > 0) {
					joined.owner.handOut(joined.handOut > 0);
					return;
				}
				if (this.#owners.get(task) === joined) this.#owners.delete(task);
				await joined.owner.stop();
			},
		};
	}

	/** Calls at the same time share one look. */
	#lookAll(task: string): Promise<unknown> {
		const looking = this.#looking.get(task) ?? this.#lookOnce(task).finally(() => this.#looking.delete(task));
		this.#looking.set(task, looking);
		return looking;
	}

	async #lookOnce(task: string): Promise<void> {
		const live = this.#owners.get(task)?.owner;
		const owner = live ?? new NoticesOwner(this.#runtime, this.#queue(task), this.#clock);
		try {
			await owner.lookAll();
		} catch {
			// the queue is still handed out; the next look finds the rest
		} finally {
			if (!live) await owner.stop();
		}
	}

	#keepUntilAnswered(claim: TakenNotice): void {
		this.#taken.set(claim.notice.id, claim);
		setTimeout(() => this.#acknowledge(claim), ANSWERED_MS).unref();
	}

	#acknowledge(claim: TakenNotice): void {
		this.#taken.delete(claim.notice.id);
		try {
			claim.acknowledge();
		} catch {
			// the home was removed
		}
	}

	#sweepNowAndThen(): void {
		const now = Date.now();
		if (now - this.#swept < SWEEP_EVERY_MS) return;
		this.#swept = now;
		this.#sweepTimer = setTimeout(() => sweep(this.#runtime.home, now), SWEEP_AFTER_MS).unref();
	}
}

function usingHome<T>(look: () => T): T {
	try {
		return look();
	} catch (error) {
		throw fromSystem(error, "cannot get at the notices");
	}
}

const moreText = (left: number): string => `(${counted(left, "more notice waits", "more notices wait")} for your next call.)`;

const streamSchema = z.lazy(() =>
	z.strictObject({
		task: z.string().min(1).optional(),
		signal: aSignal,
		leave: z.boolean().optional(),
	}),
);

function streamOptions(options: unknown): StreamOptions & { readonly task?: string } {
	return parseOptions("notices.stream", streamSchema, options) as StreamOptions & { readonly task?: string };
}

/** Returns the next notice, of one task after the other, so that a task with many does not delay the others. */
function nextOf(listened: Map<string, Listened>): ReturnType<Listened["next"]> {
	for (const [task, one] of listened) {
		const claim = one.next();
		if (!claim) continue;
		listened.delete(task);
		listened.set(task, one);
		return claim;
	}
	return undefined;
}

/** Lets go of tasks that have nothing to tell and nothing to come: what comes later is told by the watch of all tasks. */
async function dropIdle(listened: Map<string, Listened>): Promise<void> {
	for (const [task, { owner, end }] of [...listened]) {
		if (owner.queue.mayHaveSome()) continue;
		listened.delete(task);
		await end();
	}
}

/** Like `claim`, but it leaves them where they are, and has each only once. */
function shower(queue: Queue, put: Notice[]): () => Pick<TakenNotice, "notice" | "acknowledge"> | undefined {
	let shown = new Set<string>();
	return () => {
		const there = queue.shown();
		const ids = new Set(there.map(({ id }) => id));
		const gone = put.splice(0).filter(({ id }) => !ids.has(id) && !shown.has(id));
		put.push(...gone.slice(1));
		shown = new Set([...shown].filter((id) => ids.has(id))); // those that are gone need not be remembered
		const notice = gone[0] ?? there.find(({ id }) => !shown.has(id));
		if (!notice) return undefined;
		shown.add(notice.id);
		return { notice, acknowledge: () => {} };
	};
}
