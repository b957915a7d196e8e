/**
 * One conversation. Its file is written by one program at a time, which holds a claim for as long as a turn lasts; any program may read it at any moment.
 * Lines are on the disk before they are acted on.
 */
import fs from "node:fs";
import {
	AgentError,
	type AgentHome,
	Claim,
	type Clock,
	conversationFile,
	heldBy,
	isConversationId,
	isoTime,
	type LineDisk,
	LineFile,
	newConversationId,
	readLines,
	syncDir,
	systemClock,
} from "../base/index.js";
import type { ModelCall } from "../model/index.js";
import type { Entry, EntryBody } from "./entry.js";
import { asEntry } from "./entry-schema.js";
import { type LogRules, Sequence } from "./sequence.js";

export interface LogOptions {
	readonly clock?: Clock;
	/** The kind of this program, for the words to another that wants to write: "chat", "gateway" … */
	readonly what?: string;
	/** The id of a new conversation; if one has it already, another id is made. */
	readonly id?: string;
	readonly disk?: LineDisk;
	/** In place of the sequence's own: for tests that plant a mistake. */
	readonly rules?: (sequence: Sequence) => LogRules;
}

/** How a conversation begins; its id is made. */
export type Beginning = Omit<Extract<EntryBody, { t: "begun" }>, "t" | "v" | "id">;

/** Lines that must not be lost once a step is made upon them. `partial`, `set`, `note`, `shortened` and `failure` can be. */
const SYNCED = new Set<EntryBody["t"]>(["begun", "user", "notice", "assistant", "result", "summary", "undone", "stopped"]);

export class Log implements AsyncDisposable {
	readonly id: string;
	readonly #home: AgentHome;
	readonly #options: LogOptions;
	readonly #entries: Entry[] = [];
	readonly #messages = new Map<string, Entry>();
	readonly #sequence = new Sequence();
	readonly #rules: LogRules;
	#read = { bytes: 0, lines: 0 };
	#writer: { readonly claim: Claim; readonly file: LineFile } | undefined;
	#last: Promise<unknown> = Promise.resolve();

	private constructor(home: AgentHome, id: string, options: LogOptions) {
		this.#home = home;
		this.id = id;
		this.#options = options;
		this.#rules = options.rules?.(this.#sequence) ?? this.#sequence;
	}

	/** Begins a conversation, and holds it. */
	static async begin(home: AgentHome, beginning: Beginning, options: LogOptions = {}): Promise<Log> {
		for (let wanted = options.id; ; wanted = undefined) {
			const id = wanted ?? newConversationId(options.clock ?? systemClock);
			const log = new Log(home, id, options);
			log.#take({ make: true });
			if (log.#entries.length > 0) {
				await log.leave(); // the same second and the same digits: once in sixteen million
				continue;
			}
			try {
				await log.append({ t: "begun", v: 1, id, ...beginning });
				syncDir(home.conversations);
				return log;
			} catch (error) {
				await log.leave();
				fs.rmSync(log.file, { force: true }); // nothing is in it
				throw error;
			}
		}
	}

	/**
	 * Opens a conversation and holds it. Cuts a torn last line off; `openCalls` are calls that have to be settled before anything else can be said. Throws
	 * `BUSY` while another program holds it, `BROKEN` if a line in the middle is damaged, `NOT_FOUND`.
	 */
	static async open(home: AgentHome, id: string, options: LogOptions = {}): Promise<Log> {
		const log = Log.read(home, id, options);
		log.take();
		return log;
	}

	/** Reads a conversation without holding it: for lists, exports, and before `take`. */
	static read(home: AgentHome, id: string, options: LogOptions = {}): Log {
		const log = new Log(home, id, options);
		if (isConversationId(id)) log.refresh();
		if (log.#entries.length === 0) throw new AgentError("NOT_FOUND", `there is no conversation ${id}; \`holdfast-agent sessions\` lists them`);
		return log;
	}

	get file(): string {
		return conversationFile(this.#home, this.id);
	}

	get entries(): readonly Entry[] {
		return this.#entries;
	}

	/** Calls without a result, in their order. */
	get openCalls(): readonly ModelCall[] {
		return this.#sequence.openCalls;
	}

	/** A request can be made: the last message is not the model's, and no call is open. */
	get answerable(): boolean {
		return this.#sequence.answerable;
	}

	/** Ids of all calls there ever were: each is used once in a conversation, and some endpoints count from 0 in every answer. */
	get callIds(): ReadonlySet<string> {
		return this.#sequence.callIds;
	}

	/** The message or notice of that id is in the log. */
	hasMessage(id: string): boolean {
		return this.#messages.has(id);
	}

	get held(): boolean {
		return this.#writer?.claim.held() === true;
	}

	/** Holds it for a turn: reads what another program has appended meanwhile, and cuts a torn last line off. Returns how many bytes those were. */
	take(): number {
		return this.#writer ? 0 : this.#take({ make: false });
	}

	#take({ make }: { readonly make: boolean }): number {
		const claim = Claim.take(this.#claimDir, this.#options.what ?? "holdfast-agent");
		if (!(claim instanceof Claim))
			throw new AgentError("BUSY", `conversation ${this.id} is in use by ${heldBy(claim)}; wait until its turn is over, or end that program`);
		let file: LineFile | undefined;
		try {
			file = LineFile.open(this.file, { after: this.#read, make, ...(this.#options.disk ? { disk: this.#options.disk } : {}) });
			this.#replay(file.values, file.bytes);
			this.#writer = { claim, file };
			return file.cut ?? 0;
		} catch (error) {
			claim.release();
			void file?.close();
			if (!fs.existsSync(this.file)) throw new AgentError("NOT_FOUND", `conversation ${this.id} was removed meanwhile; begin a new one`, { cause: error });
			throw error;
		}
	}

	/** Lets another program write. What is known stays; `take` goes on. Idempotent. */
	async leave(): Promise<void> {
		await this.#last.catch(() => {});
		const writer = this.#writer;
		this.#writer = undefined;
		await writer?.file.close();
		writer?.claim.release();
	}

	[Symbol.asyncDispose](): Promise<void> {
		return this.leave();
	}

	/** Reads what another program has appended since. */
	refresh(): void {
		if (this.#writer) return;
		const { values, bytes } = readLines(this.file, this.#read);
		this.#replay(values, bytes);
	}

	/**
	 * Appends a line; resolves when it is in the file and, if anything is to follow from it, on the disk. A second line with the id of a message that is there
	 * is not written: the first is returned. Rejects with `SEQUENCE` if the line must not come next, with `NO_SPACE` on a full disk; nothing is written then.
	 */
	append(body: EntryBody): Promise<Entry> {
		const run = this.#last.then(() => this.#append(body));
		this.#last = run.catch(() => {});
		return run;
	}

	async #append(body: EntryBody): Promise<Entry> {
		const writer = this.#writer;
		if (!writer?.claim.held()) throw new AgentError("BUSY", `conversation ${this.id} is not held by this program; nothing was written, take it first`);
		const known = body.t === "user" || body.t === "notice" ? this.#messages.get(body.id) : undefined;
		if (known) return known;
		const problem = this.#rules.check(body);
		if (problem) throw new AgentError("SEQUENCE", `a line "${body.t}" cannot be written to conversation ${this.id}: ${problem}`);
		const entry: Entry = { n: this.#entries.length, at: isoTime(this.#options.clock ?? systemClock), ...body };
		await writer.file.append([entry], { sync: SYNCED.has(body.t) });
		this.#know(entry);
		this.#read = { bytes: writer.file.bytes, lines: this.#entries.length };
		return entry;
	}

	#replay(values: readonly unknown[], bytes: number): void {
		for (const value of values) {
			const entry = asEntry(value);
			const problem = typeof entry === "string" ? entry : entry.n === this.#entries.length ? this.#rules.check(entry) : `it has the number ${entry.n}`;
			if (typeof entry === "string" || problem) throw this.#brokenAt(problem ?? "");
			if (entry.t === "begun" && entry.id !== this.id) throw this.#brokenAt(`it is of conversation ${entry.id}`);
			this.#know(entry);
		}
		this.#read = { bytes, lines: this.#entries.length };
	}

	#brokenAt(why: string): AgentError {
		const line = this.#entries.length + 1;
		return new AgentError("BROKEN", `line ${line} of ${this.file} cannot be: ${why}; the file was left as it is, copy it and cut the copy before that line`);
	}

	#know(entry: Entry): void {
		this.#entries.push(entry);
		this.#rules.advance(entry);
		if (entry.t === "user" || entry.t === "notice") this.#messages.set(entry.id, entry);
	}

	get #claimDir(): string {
		return `${this.#home.claims}/${this.id}`;
	}
}
