/**
 * A random life of a conversation: a small turn loop over the real log, inbox, history and compaction, on real files, with everything that can happen to it.
 * What must hold is checked whenever a request could be made, and at the end. `Mistakes` plants one in a part; a life must find it.
 */
import fs from "node:fs";
import { isDeepStrictEqual } from "node:util";
import fc from "fast-check";
import { AgentError, type AgentHome, agentConfigSchema } from "../../../src/base/index.js";
import type { Answer, Message, Model, ModelRequest, Piece, WireFormat } from "../../../src/model/index.js";
import {
	admit,
	compact,
	type Entry,
	type EntryBody,
	type History,
	history,
	Inbox,
	Log,
	type LogRules,
	recallResult,
	type Sequence,
} from "../../../src/talk/index.js";
import { CrashDisk, Killed } from "./crash-disk.js";
import { broken, FORMATS, reasoningOf } from "./wire.js";

export interface Mistakes {
	readonly rules?: (sequence: Sequence) => LogRules;
	readonly history?: History;
	readonly admit?: typeof admit;
	/** Before a log is opened after a crash. */
	readonly beforeOpen?: (file: string) => void;
	readonly syncs?: (file: string) => boolean;
	/** After an interrupt, or a crash, calls stay open. */
	readonly forgetsCalls?: "interrupt" | "crash";
}

const share = fc.double({ min: 0, max: 1, noNaN: true });
const small = fc.integer({ min: 0, max: 3 });
const op = fc.oneof(
	{ weight: 5, arbitrary: fc.record({ k: fc.constant("say" as const), mode: fc.constantFrom("steer", "queue", "interrupt"), long: fc.boolean() }) },
	{ weight: 1, arbitrary: fc.record({ k: fc.constant("again" as const), which: fc.nat(20) }) },
	{ weight: 1, arbitrary: fc.record({ k: fc.constant("takeBack" as const), which: fc.nat(3) }) },
	{ weight: 2, arbitrary: fc.record({ k: fc.constant("notice" as const) }) },
	{
		weight: 10,
		arbitrary: fc.record({
			k: fc.constant("answer" as const),
			calls: small,
			text: fc.boolean(),
			thinks: fc.boolean(),
			badArgs: fc.boolean(),
			idsFrom: fc.integer({ min: 0, max: 40 }),
		}),
	},
	{ weight: 2, arbitrary: fc.record({ k: fc.constant("cut" as const), text: fc.boolean(), why: fc.constantFrom("interrupted", "cut", "length") }) },
	{ weight: 8, arbitrary: fc.record({ k: fc.constant("run" as const), chars: fc.constantFrom(0, 10, 700, 4_000), fails: fc.boolean() }) },
	{ weight: 2, arbitrary: fc.record({ k: fc.constant("interrupt" as const) }) },
	{ weight: 1, arbitrary: fc.record({ k: fc.constant("note" as const) }) },
	{ weight: 2, arbitrary: fc.record({ k: fc.constant("undo" as const) }) },
	{
		weight: 2,
		arbitrary: fc.record({
			k: fc.constant("compact" as const),
			force: fc.boolean(),
			window: fc.constantFrom(2_048, 4_096, 100_000),
			does: fc.constantFrom("answer", "answer", "answer", "fail", "stop"),
		}),
	},
	{ weight: 1, arbitrary: fc.record({ k: fc.constant("model" as const), format: fc.constantFrom(...FORMATS) }) },
	{ weight: 2, arbitrary: fc.record({ k: fc.constant("illegal" as const), which: fc.nat(7), line: fc.nat(40) }) },
	{ weight: 2, arbitrary: fc.record({ k: fc.constant("other" as const), title: fc.boolean() }) },
	{ weight: 2, arbitrary: fc.record({ k: fc.constant("crash" as const), log: share, inbox: share }) },
	{ weight: 2, arbitrary: fc.record({ k: fc.constant("tear" as const), writes: fc.nat(4), share }) },
	{ weight: 1, arbitrary: fc.record({ k: fc.constant("full" as const), writes: fc.nat(4), share }) },
);
export const lives = (longest: number) => fc.array(op, { minLength: 5, maxLength: longest, size: "max" });
export type Op = typeof op extends fc.Arbitrary<infer One> ? One : never;

/** Plays a life in a home; throws if something that must hold does not. Returns how many requests were checked. */
export async function play(home: AgentHome, ops: readonly Op[], mistakes: Mistakes = {}): Promise<number> {
	const life = new Life(home, mistakes);
	try {
		await life.begin();
		for (const one of ops) await life.step(one);
		await life.end();
		return life.requests;
	} finally {
		await life.remove();
	}
}

const BY = { platform: "test", person: "p1" };
const SETTINGS = agentConfigSchema.parse({}).compact;

class Life {
	requests = 0;
	readonly #home: AgentHome;
	readonly #mistakes: Mistakes;
	readonly #disk = new CrashDisk();
	readonly #history: History;
	#log!: Log;
	#inbox!: Inbox;
	#id = "";
	#count = 0;
	#checked = 0;
	#format: WireFormat = "chat";
	/** Messages that were accepted; those whose fate a crash has left open; those that were taken back. */
	readonly #accepted = new Set<string>();
	readonly #open = new Set<string>();
	readonly #back = new Set<string>();

	constructor(home: AgentHome, mistakes: Mistakes) {
		this.#home = home;
		this.#mistakes = mistakes;
		this.#history = mistakes.history ?? history;
		if (mistakes.syncs) this.#disk.syncs = mistakes.syncs;
	}

	async begin(): Promise<void> {
		this.#log = await Log.begin(this.#home, { task: "t", place: "local", model: "chat" }, this.#options);
		this.#id = this.#log.id;
		this.#inbox = this.#newInbox();
	}

	get #options() {
		return { disk: this.#disk, ...(this.#mistakes.rules ? { rules: this.#mistakes.rules } : {}) };
	}

	#newInbox(): Inbox {
		return new Inbox(this.#home, this.#id, { disk: this.#disk, rewriteBytes: 2_000 });
	}

	async step(one: Op): Promise<void> {
		try {
			await this.#do(one);
			this.#check();
		} catch (error) {
			if (error instanceof AgentError && error.cause instanceof Killed) return this.#crash(0.5, 0.5);
			if (error instanceof AgentError && error.code === "NO_SPACE") return;
			throw error;
		}
	}

	async #do(one: Op): Promise<void> {
		const log = this.#log;
		switch (one.k) {
			case "say":
				return this.#say({ kind: "user", text: `said ${this.#next()}${one.long ? "x".repeat(600) : ""}.`, by: BY, mode: one.mode as "steer" }, one.mode);
			case "notice":
				return this.#say({ kind: "notice", text: `said ${this.#next()}.` }, "queue");
			case "again": {
				const id = [...this.#accepted][one.which];
				if (id === undefined) return;
				if (await this.#inbox.put({ kind: "user", id, text: "doubled", by: BY, mode: "queue" })) throw new Error(`${id} was accepted twice`);
				return;
			}
			case "takeBack": {
				const item = this.#inbox.waiting()[one.which];
				if (!item || log.hasMessage(item.id)) return;
				this.#back.add(item.id);
				if (!(await this.#inbox.takeBack(item.id))) throw new Error("what waits could not be taken back");
				return;
			}
			case "answer":
				return this.#answer(one);
			case "cut":
				if (log.answerable && one.text) await log.append({ t: "partial", text: `half ${this.#next()}`, why: one.why as "cut" });
				return;
			case "run": {
				const [call] = log.openCalls;
				if (!call) return;
				await log.append({ t: "result", call: call.id, text: `${call.id} ${"r".repeat(one.chars)}`, failed: one.fails, how: "ran" });
				return this.#admit();
			}
			case "interrupt":
				if (this.#mistakes.forgetsCalls !== "interrupt") await this.#settle("skipped");
				if (log.openCalls.length > 0) throw new Error("stuck: open calls after an interrupt");
				return this.#admit();
			case "note":
				if (log.openCalls.length === 0) await log.append({ t: "note", text: "your answer was empty" });
				return;
			case "undo": {
				const last = log.entries.findLast(({ t, n }) => t === "user" && n > this.#summarised && !this.#isUndone(n));
				if (last && log.openCalls.length === 0) await log.append({ t: "undone", from: last.n });
				return;
			}
			case "compact":
				return this.#compact(one);
			case "model":
				await log.append({ t: "set", model: one.format });
				this.#format = one.format;
				return;
			case "illegal":
				return this.#illegal(one);
			case "other":
				return this.#other(one.title);
			case "crash":
				return this.#crash(one.log, one.inbox);
			case "tear":
			case "full":
				this.#disk.failLater(one.k, one.writes, one.share);
				return;
		}
	}

	#next(): number {
		return ++this.#count;
	}

	async #say(item: { kind: "user"; text: string; by: typeof BY; mode: "steer" } | { kind: "notice"; text: string }, mode: string): Promise<void> {
		const id = `m${this.#count}`;
		this.#open.add(id);
		await this.#inbox.put({ id, ...item });
		this.#open.delete(id);
		this.#accepted.add(id);
		if (mode !== "queue") await this.#settle("skipped");
		await this.#admit();
	}

	async #admit(): Promise<void> {
		try {
			await (this.#mistakes.admit ?? admit)(this.#inbox, this.#log);
		} finally {
			this.#disk.replaced(this.#inbox.file); // it may have been written anew
		}
	}

	async #settle(how: "skipped" | "unknown"): Promise<void> {
		for (const call of [...this.#log.openCalls]) await this.#log.append({ t: "result", call: call.id, text: `not run: ${how}`, failed: false, how });
	}

	/** Endpoints number their calls as they like, and begin anew: an id that was used is given another, as the loop does. */
	async #answer({ calls, text, thinks, badArgs, idsFrom }: Extract<Op, { k: "answer" }>): Promise<void> {
		const log = this.#log;
		if (!log.answerable || (calls === 0 && !text)) return;
		const n = this.#next();
		const made = (id: (at: number) => string): EntryBody => ({
			t: "assistant",
			text: text ? `text ${n}` : "",
			...(thinks ? { reasoning: [reasoningOf(this.#format, `thought of ${this.#format}`, String(n))] } : {}),
			calls: Array.from({ length: calls }, (_, at) => ({ id: id(at), name: "terminal", args: badArgs ? '{"command":"rm -rf bu' : '{"command":"true"}' })),
			stop: calls > 0 ? "calls" : "done",
			model: this.#format,
		});
		const body = made((at) => `call_${idsFrom + at}`);
		const used = Array.from({ length: calls }, (_, at) => `call_${idsFrom + at}`).some((id) => this.#callIds().has(id));
		if (!used) return void (await log.append(body));
		if (!this.#mistakes.rules) await this.#refused(body);
		else if (await this.#takes(body)) return;
		await log.append(made((at) => `made_${n}_${at}`));
	}

	#callIds(): Set<string> {
		return new Set(this.#log.entries.flatMap((entry) => (entry.t === "assistant" ? entry.calls.map(({ id }) => id) : [])));
	}

	async #compact({ force, window, does }: Extract<Op, { k: "compact" }>): Promise<void> {
		const log = this.#log;
		if (log.openCalls.length > 0) return;
		const before = log.entries.length;
		const stop = new AbortController();
		const model = summariser(does === "fail" ? "fail" : does === "stop" ? () => stop.abort() : `summary ${this.#next()}`);
		const done = await compact(log, {
			model,
			window,
			force,
			settings: { ...SETTINGS, keepMessages: 300, keepResults: 300 },
			digest: () => "nothing runs",
			signal: stop.signal,
		});
		if ((done.did === "nothing") !== (log.entries.length === before))
			throw new Error(`compaction did ${done.did}, and ${log.entries.length - before} lines came`);
		if (does === "stop" && done.did === "summarised") throw new Error("summarised although it was interrupted");
	}

	/** Lines that must not come now: refused, and nothing of them is in the file. */
	async #illegal({ which, line }: Extract<Op, { k: "illegal" }>): Promise<void> {
		const { openCalls, entries } = this.#log;
		const [call] = openCalls;
		const isOpen = call !== undefined;
		const inside = entries.findLast((entry, at) => entry.t === "assistant" && entry.calls.length > 0 && at < entries.length - 1 && at > this.#summarised);
		const bodies: readonly (EntryBody | undefined)[] = [
			isOpen ? { t: "user", id: `never${this.#next()}`, text: "too early", by: BY } : undefined,
			{ t: "result", call: `nobody_${line}`, text: "of nothing", failed: false, how: "ran" },
			call && openCalls[1] ? { t: "result", call: openCalls[1].id, text: "out of order", failed: false, how: "ran" } : undefined,
			this.#log.answerable ? undefined : { t: "assistant", text: "unasked", calls: [], stop: "done", model: "m" },
			{ t: "assistant", text: "  ", calls: [], stop: "done", model: "m" },
			isOpen ? undefined : { t: "summary", upto: entries.length + line, text: "of the future", before: 1, after: 1 },
			isOpen || !inside ? undefined : { t: "summary", upto: inside.n, text: "between call and result", before: 1, after: 1 },
			{ t: "begun", v: 1, id: this.#id, task: "t", place: "local", model: "m" },
		];
		const body = bodies[which];
		if (!body) return;
		if (!this.#mistakes.rules) await this.#refused(body);
		else await this.#takes(body);
	}

	async #refused(body: EntryBody): Promise<void> {
		const before = fs.readFileSync(this.#log.file);
		if (await this.#takes(body)) throw new Error(`an illegal line was taken: ${JSON.stringify(body)}`);
		if (!fs.readFileSync(this.#log.file).equals(before)) throw new Error("an illegal line has changed the file");
	}

	async #takes(body: EntryBody): Promise<boolean> {
		try {
			await this.#log.append(body);
			return true;
		} catch (error) {
			if (error instanceof AgentError && error.code === "SEQUENCE") return false;
			throw error;
		}
	}

	/** A second program: refused while we hold the conversation; it may write when we have let go, and we go on from what it wrote. */
	async #other(writes: boolean): Promise<void> {
		const refused = await Log.open(this.#home, this.#id, this.#options).then(
			() => false,
			(error: unknown) => error instanceof AgentError && error.code === "BUSY",
		);
		if (!refused) throw new Error("two writers at once");
		await this.#log.leave();
		try {
			if (!writes) return;
			await using second = await Log.open(this.#home, this.#id, this.#options);
			await second.append({ t: "set", title: `title ${this.#next()}` });
		} finally {
			this.#log.take();
			this.#inbox = this.#newInbox();
		}
	}

	async #crash(log: number, inbox: number): Promise<void> {
		await this.#log.leave();
		this.#disk.cut(this.#log.file, log);
		this.#disk.cut(this.#inbox.file, inbox);
		this.#mistakes.beforeOpen?.(this.#log.file);
		this.#log = await Log.open(this.#home, this.#id, this.#options);
		this.#inbox = this.#newInbox();
		this.#format = modelOf(this.#log.entries);
		if (this.#mistakes.forgetsCalls !== "crash") await this.#settle("unknown");
		if (this.#log.openCalls.length > 0) throw new Error("stuck: open calls after a crash");
		await this.#admit();
		this.#check();
	}

	/** What must hold at every moment: a request that could be made now is valid, and says what it must. */
	#check(): void {
		if (!this.#log.answerable || this.#checked === this.#log.entries.length) return;
		this.#checked = this.#log.entries.length;
		const messages = this.#history(this.#log.entries);
		this.requests++;
		const rule = broken(messages);
		if (rule) throw new Error(`${rule}\n${messages.map(shape).join("\n")}`);
		this.#checkTexts(messages);
		const foreign = messages.some((message) => message.role === "assistant" && message.reasoning.some(({ format }) => format !== this.#format));
		if (foreign) throw new Error("reasoning of another model is sent");
	}

	/** Each message that was said, and not taken back or summarised, is sent once; those that were undone are not. */
	#checkTexts(messages: readonly Message[]): void {
		const all = messages.map(({ text }) => text).join("\n");
		for (const entry of this.#log.entries) {
			if (entry.t !== "user" && entry.t !== "notice") continue;
			const times = all.split(entry.text).length - 1;
			if (entry.n <= this.#summarised) continue;
			const wanted = this.#isUndone(entry.n) ? 0 : 1;
			if (times !== wanted) throw new Error(`"${entry.text.slice(0, 20)}" is sent ${times} times, not ${wanted}`);
		}
	}

	get #summarised(): number {
		return this.#log.entries.findLast((entry) => entry.t === "summary")?.upto ?? -1;
	}

	#isUndone(n: number): boolean {
		return this.#log.entries.some((entry) => entry.t === "undone" && entry.from <= n && n < entry.n);
	}

	async end(): Promise<void> {
		await this.#crash(1, 1);
		const { entries } = this.#log;
		const read = Log.read(this.#home, this.#id).entries;
		if (!isDeepStrictEqual(JSON.parse(JSON.stringify(read)), JSON.parse(JSON.stringify(entries)))) throw new Error("what is on the disk is not what was known");
		const waiting = this.#inbox.waiting().map(({ id }) => id);
		const said = entries.flatMap((entry) => (entry.t === "user" || entry.t === "notice" ? [entry.id] : []));
		const times = (id: string) => [...waiting, ...said].filter((one) => one === id).length;
		for (const id of this.#accepted) if (!this.#back.has(id) && times(id) !== 1) throw new Error(`accepted message ${id} is there ${times(id)} times`);
		for (const id of [...this.#open, ...this.#back]) if (times(id) > 1) throw new Error(`message ${id} is there ${times(id)} times`);
		for (const id of said) if (!this.#accepted.has(id) && !this.#open.has(id)) throw new Error(`message ${id} was never sent`);
		for (const entry of entries) {
			if (entry.t === "result" && recallResult(entries, entry.call) !== entry.text) throw new Error("a result cannot be read back");
			if (entry.t === "assistant")
				for (const { id } of entry.calls) if (resultsOf(entries, id) !== 1) throw new Error(`call ${id} has ${resultsOf(entries, id)} results`);
		}
	}

	async remove(): Promise<void> {
		await this.#log?.leave();
		for (const file of [this.#log?.file, `${this.#log?.file}.cut`, this.#inbox?.file, `${this.#inbox?.file}.cut`]) if (file) fs.rmSync(file, { force: true });
		for (const dir of fs.readdirSync(this.#home.claims)) fs.rmSync(`${this.#home.claims}/${dir}`, { recursive: true, force: true });
	}
}

const resultsOf = (entries: readonly Entry[], call: string): number => entries.filter((entry) => entry.t === "result" && entry.call === call).length;
const modelOf = (entries: readonly Entry[]): WireFormat => {
	const last = entries.findLast((entry) => (entry.t === "set" || entry.t === "begun") && entry.model !== undefined);
	return (last?.t === "set" || last?.t === "begun" ? last.model : "chat") as WireFormat;
};
const shape = (message: Message): string =>
	message.role === "assistant"
		? `assistant ${message.calls.map(({ id }) => id)}`
		: message.role === "result"
			? `result ${message.call}`
			: `user ${message.text.slice(0, 40)}`;

/** A model that summarises, fails, or is interrupted while it does. */
function summariser(does: string | (() => void)): Model {
	return {
		name: "summariser",
		format: "chat",
		window: { tokens: 100_000, from: "default" },
		async *ask(_request: ModelRequest, signal: AbortSignal): AsyncGenerator<Piece, Answer> {
			if (typeof does === "function") does();
			signal.throwIfAborted();
			if (does === "fail") throw new Error("the endpoint is down");
			yield { type: "text", text: "…" };
			return { text: String(does), reasoning: [], calls: [], stop: "done", model: "summariser" };
		},
	};
}
