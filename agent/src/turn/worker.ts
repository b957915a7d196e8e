/**
 * Makes the turns of a conversation, one at a time: takes the log, settles what a killed program has left open, hears what waits in the inbox, asks the model,
 * and lets go of the log. It works when something was said, by whichever program, and when a turn that was cut short is to go on.
 */
import { setTimeout as sleep } from "node:timers/promises";
import { AgentError, type Clock, systemClock } from "../base/index.js";
import type { Model } from "../model/index.js";
import { admit, type Compacted, type Entry, type EntryBody, Inbox, type InboxItem, type Log, writeSessionLog } from "../talk/index.js";
import { TurnContext } from "./context.js";
import type { TurnEnd, TurnEvent } from "./events.js";
import { atEndpoint, isUnanswered, lastSaid } from "./lines.js";
import { News } from "./news.js";
import type { OpenedParts } from "./open.js";
import { Steering } from "./steer.js";
import { Teller } from "./teller.js";
import { runTurn, type TurnResult } from "./turn.js";
import { NO_USAGE } from "./usage.js";

const BUSY_LOOK_MS = 200;
const CRASHES = 2;
/** Ends after which trying again changes nothing, until something else does. */
const STALLED: readonly TurnEnd[] = ["left", "approval", "disk", "error"];

export class Worker {
	readonly inbox: Inbox;
	readonly news: News;
	readonly context: TurnContext;
	readonly teller: Teller;
	model: Model;
	readonly #parts: OpenedParts;
	readonly #clock: Clock;
	readonly #closing = new AbortController();
	#turn: { readonly steering: Steering; readonly over: Promise<void> } | undefined;
	#working: Promise<void> | undefined;
	#wanted = false;
	/** Ends what a person has asked for between turns. */
	#compacting: AbortController | undefined;
	/** The work that has the log in hand between turns. */
	#holding: Promise<unknown> = Promise.resolve();
	#last: TurnResult | undefined;
	/** Messages that waited at the last look. */
	#seen: ReadonlySet<string> = new Set();
	/** The messages that waited when the last turn stalled. */
	#stalled: string | undefined;

	constructor(parts: OpenedParts) {
		this.#parts = parts;
		this.model = parts.model;
		this.#clock = parts.clock ?? systemClock;
		this.inbox = new Inbox(parts.home, parts.log.id, { clock: this.#clock });
		this.news = new News(parts, this.inbox);
		this.context = new TurnContext(parts, this.#clock);
		this.teller = new Teller(parts.log, this.inbox, parts.hub);
	}

	/** Something is under way in this program, or about to be. */
	get busy(): boolean {
		return this.#working !== undefined;
	}

	get inTurn(): boolean {
		return this.#turn !== undefined;
	}

	get closed(): boolean {
		return this.#closing.signal.aborted;
	}

	/** Something was put into the inbox, by this program or another. Each message steers once, and only a turn that was under way when it came. */
	heard(): void {
		if (this.closed) return;
		const waiting = this.inbox.waiting();
		const fresh = waiting.filter(({ id }) => !this.#seen.has(id));
		this.#see(waiting);
		this.teller.waiting();
		const modes = fresh.flatMap((item) => (item.kind === "user" ? [item.mode] : []));
		if (modes.includes("interrupt")) this.#turn?.steering.want("stop");
		else if (modes.includes("steer")) this.#turn?.steering.want("steer");
		if (waiting.length > 0 && idsOf(waiting) !== this.#stalled) this.resume();
	}

	/** Goes on if there is something to do. */
	resume(): void {
		if (!this.#working) {
			this.#log.refresh();
			this.teller.lines();
			if (!this.#unfinished()) return;
		}
		this.#wanted = true;
		this.#start();
	}

	/** Resolves when nothing is under way, with how the last turn ended. */
	async idle(): Promise<TurnResult | undefined> {
		while (this.#working) await this.#working;
		return this.#last;
	}

	/** Stops the turn under way, or the summary that is being written, and resolves when it is over. False: there was none. */
	async interrupt(): Promise<boolean> {
		if (this.#compacting) {
			this.#compacting.abort();
			await this.#holding;
			return true;
		}
		const turn = this.#turn;
		turn?.steering.want("stop");
		await turn?.over;
		if (turn && !this.#unfinished()) await this.#working; // else the next turn begins
		return turn !== undefined;
	}

	/** Lets commands go on, and lets go of the log. */
	async close(): Promise<void> {
		this.#closing.abort();
		this.#turn?.steering.want("leave");
		await this.#working;
		await this.#log.leave();
	}

	async append(body: EntryBody): Promise<Entry> {
		const entry = await this.#log.append(body);
		this.teller.lines();
		return entry;
	}

	/** Does something with the log in hand: between turns, or beside one. Throws `BUSY` while another program has it. */
	held<T>(work: () => Promise<T>): Promise<T> {
		if (this.closed) return Promise.reject(new AgentError("INVALID", "this conversation is closed; open it again"));
		if (this.#turn && this.#log.held) return work();
		const run = this.#holding.then(async () => {
			this.#takeLog();
			try {
				return await work();
			} finally {
				this.teller.lines();
				if (!this.#turn) await this.#log.leave();
			}
		});
		this.#holding = run.catch(() => {}); // its caller is told
		return run;
	}

	/** Makes the conversation shorter now. The log is in hand. */
	async compactNow(): Promise<Compacted> {
		const stop = new AbortController();
		this.#compacting = stop;
		const signal = AbortSignal.any([stop.signal, this.#closing.signal]);
		const compacted = await this.context.compact(this.model, { force: true, signal, system: this.context.system() }).finally(() => {
			this.#compacting = undefined;
		});
		if (compacted.did !== "nothing") this.emit({ type: "compacted", before: compacted.before, after: compacted.after });
		return compacted;
	}

	emit(event: TurnEvent): void {
		this.#parts.hub.emit(event);
	}

	get #log(): Log {
		return this.#parts.log;
	}

	#start(): void {
		if (this.#working || this.closed) return;
		// Not at once: who has just opened the conversation wants to listen first.
		this.#working = new Promise<void>((resolve) => setImmediate(resolve))
			.then(() => this.#work())
			.catch((error: unknown) => this.#ended(failed(error)))
			.finally(() => {
				this.#working = undefined;
				if (this.#wanted) this.#start();
			});
	}

	async #work(): Promise<void> {
		while (this.#wanted && !this.closed) {
			this.#wanted = false;
			for (let holding: unknown; holding !== this.#holding; ) {
				holding = this.#holding;
				await holding;
			}
			if (!(await this.#take())) return;
			await this.#makeTurn();
		}
	}

	/** Takes the log if there is something to do. While another program has it, that one does it. */
	async #take(): Promise<boolean> {
		for (;;) {
			this.#log.refresh();
			this.teller.lines();
			if (!this.#unfinished() || this.closed) return false;
			try {
				this.#takeLog();
				this.teller.lines();
				return true;
			} catch (error) {
				if (!(error instanceof AgentError) || error.code !== "BUSY") throw error;
			}
			await sleep(BUSY_LOOK_MS);
		}
	}

	/** A torn last line, which a crash in the middle of a write has left, is cut off. */
	#takeLog(): void {
		const cut = this.#log.take();
		if (cut === 0) return;
		const { file } = this.#log;
		this.emit({
			type: "warning",
			text: `The last line of ${file} was torn by a crash: ${cut} bytes were cut off and are kept in ${file}.cut. All before it is there.`,
		});
	}

	#unfinished(): boolean {
		return isUnanswered(this.#log) || this.inbox.waiting().length > 0;
	}

	async #makeTurn(): Promise<void> {
		const steering = new Steering();
		let over = (): void => {};
		this.#see(this.inbox.waiting());
		this.#turn = { steering, over: new Promise((resolve) => (over = resolve)) };
		try {
			const result = await this.#run(steering).catch(failed);
			if (result.why === "left" || result.why === "approval") this.#parts.state.leftAt(this.#log.entries.length);
			this.#writeSession();
			this.#turn = undefined; // what is said from now on is for the next one
			await this.#log.leave();
			const waiting = this.inbox.waiting();
			const stalls = STALLED.includes(result.why);
			this.#stalled = stalls ? idsOf(waiting) : undefined;
			// A person who has written is heard, though a call waits for their approval.
			this.#wanted = result.why === "approval" ? waiting.some(({ kind }) => kind === "user") : !stalls && this.#unfinished();
			this.#ended(result);
		} finally {
			this.#turn = undefined;
			await this.#log.leave();
			over();
		}
	}

	async #run(steering: Steering): Promise<TurnResult> {
		const { log, state, limits, toolbox, keys } = this.#parts;
		const resumed = isUnanswered(log);
		const again = !resumed || state.resumedAt(log.entries.length, this.#clock.now()) < (this.#parts.crashes ?? CRASHES);
		if (!this.#modelIsKnown()) await this.append({ t: "set", model: this.model.name, ...atEndpoint(this.#parts), auto: true });
		if (this.closed) steering.want("leave");
		return runTurn({
			log,
			admit: (which) => this.#admit(which),
			model: () => this.model,
			tools: toolbox.registry,
			system: () => this.context.system(),
			limits,
			steering,
			emit: (event) => this.emit(event),
			append: (body) => this.append(body),
			keep: (call, whole) => state.keepWhole(call, whole),
			news: async (notices) => {
				for (const notice of notices) await this.news.put(notice);
			},
			redact: keys.redact,
			spoken: () => this.inbox.waiting().some(({ kind }) => kind === "user"),
			compact: (how) => this.context.compact(this.model, { ...how, signal: steering.request }),
			resumed,
			again,
			record: this.#parts.record === true,
		});
	}

	/** The log names the model, and no other endpoint for it. */
	#modelIsKnown(): boolean {
		const { log, endpoint } = this.#parts;
		const said = lastSaid(log.entries, "endpoint");
		return lastSaid(log.entries, "model") === this.model.name && (said === endpoint || said === undefined || endpoint === undefined);
	}

	async #admit(which: (item: InboxItem) => boolean): Promise<void> {
		const lines = await admit(this.inbox, this.#log, which);
		this.teller.lines();
		if (lines.length > 0) this.teller.waiting();
	}

	#ended(result: TurnResult): void {
		this.#last = result;
		this.emit({ type: "end", ...result });
	}

	/** For people and other programs; without it nothing is lost. */
	#writeSession(): void {
		const { home, endpoint, keys, toolbox } = this.#parts;
		try {
			const toolsets = toolbox.sets.filter(({ availability }) => availability.ok).map(({ name }) => name);
			writeSessionLog(home, this.#log, { endpoint: endpoint ?? "", toolsets, redact: keys.redact });
		} catch (error) {
			this.emit({ type: "warning", text: error instanceof Error ? error.message : String(error) });
		}
	}

	#see(waiting: readonly InboxItem[]): void {
		this.#seen = new Set(waiting.map(({ id }) => id));
	}
}

const idsOf = (items: readonly InboxItem[]): string => items.map(({ id }) => id).join("\n");

function failed(error: unknown): TurnResult {
	const text = error instanceof Error ? error.message : String(error);
	return { why: error instanceof AgentError && error.code === "NO_SPACE" ? "disk" : "error", text, usage: NO_USAGE };
}
