/**
 * A conversation as doors use it. Whatever is said goes to the inbox first, so any program may say something at any moment. Closing it ends nothing: commands
 * go on, and a turn under way goes on when the conversation is opened again.
 */
import type { Task } from "holdfast";
import { AgentError, newMessageId } from "../base/index.js";
import type { Model } from "../model/index.js";
import {
	type BusyMode,
	type Compacted,
	type Entry,
	type FileRef,
	type InboxItem,
	type Log,
	type Origin,
	setTitle,
	type ToolStatistics,
	toolStatistics,
} from "../talk/index.js";
import { readTodo, type TodoItem, type ToolsetState, type UserQuestion } from "../tools/index.js";
import { changedFiles, openQuestions, runningProcesses } from "./digest.js";
import type { TurnEvent } from "./events.js";
import { atEndpoint, lastSaid } from "./lines.js";
import type { OpenedParts } from "./open.js";
import { parsePlace } from "./place.js";
import type { TurnResult } from "./turn.js";
import { Worker } from "./worker.js";

export interface Sent {
	readonly id: string;
	/** The effect: a turn began; the turn under way hears it now; it waits; the turn under way was stopped for it; or it was known already. */
	readonly did: "started" | "steered" | "queued" | "interrupted" | "known";
}

export interface SendOptions {
	/** Default: the configuration's. */
	readonly mode?: BusyMode;
	/** The id of the platform's message: the same one is taken once. */
	readonly id?: string;
	readonly files?: readonly FileRef[];
}

export class Conversation implements AsyncDisposable {
	readonly id: string;
	/** Each listener has all events from when it began to listen. */
	readonly events: AsyncIterable<TurnEvent>;
	readonly #parts: OpenedParts;
	readonly #worker: Worker;
	readonly #ends: (() => unknown)[];

	constructor(parts: OpenedParts) {
		this.#parts = parts;
		this.id = parts.log.id;
		this.events = parts.hub;
		this.#worker = new Worker(parts);
		this.#ends = [this.#worker.inbox.watch(() => this.#worker.heard()), this.#worker.news.listen(() => this.#worker.heard())];
		if (parts.resume) this.resume();
	}

	get log(): Log {
		return this.#parts.log;
	}

	get task(): Task {
		return this.#parts.task;
	}

	get model(): Model {
		return this.#worker.model;
	}

	get place(): string {
		return lastSaid(this.log.entries, "place") ?? "";
	}

	get title(): string | undefined {
		return lastSaid(this.log.entries, "title");
	}

	/** The sets of tools that it has, those that are off with the reason. */
	get toolsets(): readonly ToolsetState[] {
		return this.#parts.toolbox.sets;
	}

	get tools(): readonly string[] {
		return this.#parts.toolbox.registry.names;
	}

	/** Returns the warning to read before the first message. */
	get warning(): string | undefined {
		return this.#parts.toolbox.warning;
	}

	/** A turn is under way in this program. */
	get busy(): boolean {
		return this.#worker.busy;
	}

	get questions(): UserQuestion[] {
		return this.#parts.questions.open;
	}

	get todo(): TodoItem[] {
		return readTodo(this.#parts.state.todo);
	}

	get statistics(): Map<string, ToolStatistics> {
		return toolStatistics(this.log.entries);
	}

	/** Returns running processes, open questions and changed files, a line each. */
	get underWay(): { readonly processes: string[]; readonly questions: string[]; readonly files: string[] } {
		const source = this.#worker.context.source;
		return { processes: runningProcesses(source), questions: openQuestions(source), files: changedFiles(this.log.entries) };
	}

	/** Messages that wait. */
	waiting(): readonly InboxItem[] {
		return this.#worker.inbox.waiting();
	}

	/** Takes a message back that waits: the last one, or one by its id. */
	async takeBack(id?: string): Promise<string | undefined> {
		const wanted = id ?? this.#worker.inbox.waiting().findLast(({ kind }) => kind === "user")?.id;
		const item = wanted === undefined ? undefined : await this.#worker.inbox.takeBack(wanted);
		if (item) this.#worker.teller.waiting();
		return item?.text;
	}

	/** Says something, with keys masked. It is on the disk when this resolves; rejects, and takes nothing, if that cannot be. */
	async send(text: string, by: Origin, options: SendOptions = {}): Promise<Sent> {
		if (this.#worker.closed) throw new AgentError("INVALID", "this conversation is closed; open it again");
		const mode = options.mode ?? lastSaid(this.log.entries, "mode") ?? this.#parts.config.busy;
		const id = options.id ?? newMessageId();
		const item: InboxItem = { kind: "user", id, text: this.#parts.keys.redact(text), by, mode, ...(options.files?.length ? { files: options.files } : {}) };
		const { busy } = this;
		if (!(await this.#worker.inbox.put(item))) return { id, did: "known" };
		const turn = this.#worker.inTurn;
		this.#worker.heard();
		if (!busy) return { id, did: "started" };
		return { id, did: !turn || mode === "queue" ? "queued" : mode === "steer" ? "steered" : "interrupted" };
	}

	/** Answers a question of the model. */
	answer(id: string, text: string): void {
		this.#parts.questions.answer(id, this.#parts.keys.redact(text));
	}

	/** Stops the turn under way, as Esc does: commands in the foreground are killed, processes go on. False: there was none. */
	interrupt(): Promise<boolean> {
		return this.#worker.interrupt();
	}

	/** Goes on with what was cut short, or waits for an answer that was given meanwhile. */
	resume(): void {
		this.#worker.resume();
	}

	/** Resolves when nothing is under way, with how the last turn ended. */
	idle(): Promise<TurnResult | undefined> {
		return this.#worker.idle();
	}

	/** Takes the last message back, with all that followed from it in the conversation. What was done stays done. Returns its text. */
	async undo(): Promise<string | undefined> {
		return (await this.#undo())?.text;
	}

	/** Says the last message once more, in place of what came of it. */
	async retry(): Promise<boolean> {
		const last = await this.#undo();
		if (!last) return false;
		await this.send(last.text, last.by, { mode: "queue", ...(last.files ? { files: last.files } : {}) });
		return true;
	}

	async setModel(model: Model): Promise<void> {
		await this.#set({ model: model.name, ...atEndpoint(this.#parts) });
		this.#worker.model = model;
	}

	/** From the next call on. */
	async setPlace(place: string): Promise<void> {
		await this.#set({ place });
		this.#parts.place.current = parsePlace(place);
	}

	async setMode(mode: BusyMode): Promise<void> {
		await this.#set({ mode });
	}

	async setTitle(title: string): Promise<void> {
		await this.#worker.held(() => setTitle(this.log, this.#parts.keys.redact(title)));
	}

	/** Makes the conversation shorter now. */
	async compact(): Promise<Compacted> {
		this.#idleOnly("made shorter");
		return this.#worker.held(() => this.#worker.compactNow());
	}

	/** Leaves it. Commands and processes go on, and so does the turn when it is opened again. Idempotent. */
	async close(): Promise<void> {
		await this.#worker.close();
		for (const end of this.#ends.splice(0)) await end();
		await this.#parts.toolbox.close();
		await this.task.close();
		this.#parts.hub.close();
	}

	[Symbol.asyncDispose](): Promise<void> {
		return this.close();
	}

	async #undo(): Promise<Extract<Entry, { t: "user" }> | undefined> {
		this.#idleOnly("changed");
		return this.#worker.held(async () => {
			for (const entry of [...this.log.entries].reverse()) {
				if (entry.t !== "user") continue;
				try {
					await this.#worker.append({ t: "undone", from: entry.n });
					return entry;
				} catch (error) {
					if (!(error instanceof AgentError) || error.code !== "SEQUENCE") throw error; // taken back before, or part of a summary
				}
			}
			return undefined;
		});
	}

	async #set(values: { readonly model?: string; readonly endpoint?: string; readonly place?: string; readonly mode?: BusyMode }): Promise<void> {
		await this.#worker.held(() => this.#worker.append({ t: "set", ...values }));
	}

	#idleOnly(what: string): void {
		if (this.busy) throw new AgentError("BUSY", `the conversation cannot be ${what} while a turn is under way; stop it first, or wait`);
	}
}
