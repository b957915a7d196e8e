/**
 * A chat on a platform, with its conversation. What people write is in the chat's own inbox first, on the disk; from there it goes to the conversation, or is a
 * command. What the conversation says is told from its log, line by line. So a gateway that is killed goes on where it was, and says nothing twice.
 */
import { createHash } from "node:crypto";
import { AgentError, fileKey } from "../base/index.js";
import { type Agent, openAgent } from "../chat/index.js";
import { Inbox, type InboxItem, Log, type WaitingItem } from "../talk/index.js";
import type { AgentTool } from "../tools/index.js";
import { type Conversation, isUnanswered, type TurnEvent } from "../turn/index.js";
import { type ChatState, isClean, writeChatState } from "./chat-state.js";
import { answerItems } from "./deliver.js";
import type { Hall, Link } from "./hall.js";
import type { OutItem } from "./outbox-store.js";
import { Progress } from "./progress.js";
import { Telling } from "./telling.js";
import { startText } from "./words.js";

const RETRY_MS = 5_000;

/** Handles a message in a chat: a command, an answer to a question, or something said. In handle.ts. */
export type Handle = (chat: Chat, item: ChatMessage) => Promise<void>;

/** A person's message, with the time at which it was stored. */
export type ChatMessage = Extract<WaitingItem, { kind: "user" }>;

export interface ChatParts {
	readonly handle: Handle;
	/** A question of the model came or went. */
	readonly asked: (chat: Chat, event: Extract<TurnEvent, { type: "question" | "answered" }>) => Promise<void>;
	readonly tools: (chat: Chat) => readonly AgentTool[];
}

export class Chat {
	readonly hall: Hall;
	readonly link: Link;
	readonly state: ChatState;
	readonly #parts: ChatParts;
	readonly #inbox: Inbox;
	#agent: Promise<Agent> | undefined;
	/** Until all of it is told, also when it is closed already. */
	#conversation: Conversation | undefined;
	#leaving: Promise<void> = Promise.resolve();
	#progress: Progress | undefined;
	#unattend: (() => void) | undefined;
	#working: Promise<void> | undefined;
	#wanted = false;
	readonly #telling = new Telling(this);
	#closed = false;
	readonly #waiters = new Set<() => void>();
	/** Questions of the model that were shown, by the ids of their messages. */
	readonly asks = new Map<string, string>();

	constructor(hall: Hall, link: Link, state: ChatState, parts: ChatParts) {
		this.hall = hall;
		this.link = link;
		this.state = state;
		this.#parts = parts;
		this.#inbox = new Inbox(hall.home, fileKey(state.key), { clock: hall.clock });
	}

	get key(): string {
		return this.state.key;
	}

	/** As far as it is open now. */
	get conversation(): Conversation | undefined {
		return this.#conversation;
	}

	/** The task of its conversation: its own, unless one of another door was resumed here. */
	get task(): string {
		return this.conversation?.task.name ?? this.state.task ?? this.key;
	}

	/** Takes a message: it is on the disk when this resolves. False: it was known. Rejects if it cannot be stored. */
	async accept(item: InboxItem): Promise<boolean> {
		const fresh = await this.#inbox.put(item);
		if (fresh) this.wake();
		return fresh;
	}

	/** Notes which message was stored last. It may be behind after a crash: what then comes again is known. */
	stored(last: NonNullable<ChatState["last"]>): void {
		if (this.state.last !== undefined && this.state.last.at > last.at) return;
		this.state.last = last;
		this.saveQuietly();
	}

	wake(): void {
		this.#wanted = true;
		if (this.#working || this.#closed) return;
		this.#working = this.#work()
			.catch((error: unknown) => {
				this.hall.report(`${this.key}: ${error instanceof Error ? error.message : error}`);
				this.#wakeLater(); // a full disk, or a file that a person has to look at
			})
			.finally(() => {
				this.#working = undefined;
				if (this.#wanted) this.wake();
			});
	}

	/** Something was written that the conversation has not heard. */
	get hasUnheard(): boolean {
		return this.#inbox.waiting().length > 0;
	}

	/** Something was left to do by the program before. */
	get unfinished(): boolean {
		return !isClean(this.hall.home, this.state);
	}

	/** Goes on with what was left: tells what was not told, and continues the turn. */
	async recover(): Promise<void> {
		if (this.state.conversation !== undefined) await this.agent();
		this.wake();
	}

	/** A call that a person has decided about is made, or news is heard. */
	async resume(): Promise<void> {
		const { conversation } = await this.agent();
		if (!conversation.busy) conversation.resume();
	}

	/** The agent with the chat's conversation; it is opened, or begun, if it is not. */
	agent(): Promise<Agent> {
		if (this.#closed) return Promise.reject(new AgentError("ABORTED", "the gateway stops; it goes on when it is started again"));
		this.#agent ??= this.#leaving
			.then(() => this.#opened())
			.catch((error: unknown) => {
				this.#agent = undefined;
				throw error;
			});
		return this.#agent;
	}

	/** Exchanges the conversation: without an id for a new one, which with `carry` is told of the one before. Returns that. */
	async exchange(id?: string, why = "another was begun", { carry = false }: { readonly carry?: boolean } = {}): Promise<string> {
		const agent = await this.agent();
		const before = agent.conversation.id;
		if (before === id) return before;
		await agent.conversation.interrupt();
		await this.#telling.tell();
		this.#detach();
		await agent.open(id, carry ? { from: before } : {});
		if (id === undefined) await endLog(this.hall, before, why);
		this.#know(agent.conversation, { begun: id === undefined });
		this.#attach(agent.conversation);
		agent.conversation.resume();
		return before;
	}

	/** Says something that is no part of the conversation. The same id is said once. */
	async say(
		id: string,
		text: string,
		more: { readonly rings?: boolean; readonly buttons?: OutItem["buttons"]; readonly replyTo?: string | undefined } = {},
	): Promise<void> {
		const { platform, outbox } = this.link;
		const items = answerItems(id, text, { chat: this.state.chat, platform, redact: this.hall.keys.redact, rings: more.rings ?? false, replyTo: more.replyTo });
		const last = items.at(-1);
		await outbox.put(...items.slice(0, -1), ...(last ? [{ ...last, ...(more.buttons ? { buttons: [...more.buttons] } : {}) }] : []));
	}

	/** Resolves when it holds; looked at after every event of the conversation, or its end. */
	async until(holds: () => boolean): Promise<void> {
		while (!holds() && this.#conversation && !this.#closed) await new Promise<void>((resolve) => this.#waiters.add(resolve));
	}

	save(options: { readonly sync?: boolean } = {}): void {
		writeChatState(this.hall.paths, this.state, options);
	}

	/** Closes the conversation if nothing is under way in it; what happens in its processes opens it again. */
	async leaveIdle(before: number): Promise<void> {
		const { conversation } = this;
		if (!conversation || this.#working || conversation.busy || this.state.active > before) return;
		if (conversation.waiting().length > 0 || conversation.questions.length > 0) return;
		const answered = !isUnanswered(conversation.log);
		await this.#leave();
		if (answered && isUnanswered(conversation.log)) await this.agent(); // news came in that moment: its turn goes on
	}

	/** Leaves all as it is. */
	async close(): Promise<void> {
		this.#closed = true;
		this.#poke();
		await this.#leave();
		await this.#working;
		await this.#telling.close();
	}

	async #opened(): Promise<Agent> {
		const { hall, state } = this;
		const { settings, cwd, runtime, keys } = hall;
		const known = state.conversation !== undefined && isThere(hall, state.conversation) ? state.conversation : undefined;
		const agent = await openAgent({
			...{ settings, cwd, runtime, keys, door: { name: "gateway", kind: "chat" }, task: this.key, tools: this.#parts.tools(this) },
			extra: (from) => startText(hall, this.link, state, from),
			...(known === undefined ? {} : { resume: known }),
			...(hall.crashes === undefined ? {} : { crashes: hall.crashes }),
		});
		if (known === undefined) this.#know(agent.conversation, { begun: true });
		this.#attach(agent.conversation);
		await this.#telling.tell();
		agent.conversation.resume();
		return agent;
	}

	/** From here on this is the chat's conversation. On the disk before anything is said in it. */
	#know(conversation: Conversation, { begun }: { readonly begun: boolean }): void {
		const { name } = conversation.task;
		const task = name === this.key ? undefined : name;
		Object.assign(this.state, { conversation: conversation.id, task, told: begun ? 0 : conversation.log.entries.length, clean: undefined });
		this.save({ sync: true });
	}

	#attach(conversation: Conversation): void {
		this.#conversation = conversation;
		const { link, hall, state } = this;
		this.#progress = new Progress({
			...{ platform: link.platform, outbox: link.outbox, chat: state.chat, redact: hall.keys.redact, message: state.progress },
			kept: (message) => {
				state.progress = message;
				this.saveQuietly();
			},
		});
		this.#unattend = hall.runtime.approvals.attend({ task: conversation.task.name });
		const events = conversation.events[Symbol.asyncIterator](); // from now on
		void this.#listen(conversation, events).catch((error: unknown) => hall.report(`${this.key}: ${error instanceof Error ? error.message : error}`));
	}

	#detach(): void {
		this.#unattend?.();
		this.#unattend = undefined;
		void this.#progress?.close();
		this.#progress = undefined;
	}

	async #listen(conversation: Conversation, events: AsyncIterator<TurnEvent>): Promise<void> {
		for (let next = await events.next(); !next.done; next = await events.next()) {
			const event = next.value;
			this.#poke();
			if (event.type === "text" || event.type === "reasoning") continue;
			this.#progress?.take(event);
			if (event.type === "question" || event.type === "answered") await this.#parts.asked(this, event).catch((error: Error) => this.hall.report(error.message));
			if (event.type === "entry" || event.type === "end") void this.#telling.tell();
			if (event.type === "end") await this.#ended(conversation, event);
		}
	}

	async #ended(conversation: Conversation, { why, text }: Extract<TurnEvent, { type: "end" }>): Promise<void> {
		this.hall.counters.add("turns", this.link.name);
		if (why !== "answered" && why !== "interrupted" && why !== "left" && why !== "approval") this.hall.counters.add("failures", this.link.name);
		// The log has no line of these.
		if (why === "error" || why === "disk")
			await this.say(`end_${conversation.id}_${conversation.log.entries.length}`, text, { rings: true }).catch((error: Error) =>
				this.hall.report(error.message),
			);
		void conversation.idle().then(() => this.#telling.tell());
	}

	/** Without it more is looked at when the gateway starts. */
	saveQuietly(): void {
		try {
			this.save();
		} catch (error) {
			this.hall.report(`${this.key}: ${error instanceof Error ? error.message : error}`);
		}
	}

	async #work(): Promise<void> {
		while (this.#wanted && !this.#closed) {
			this.#wanted = false;
			for (let [item] = this.#inbox.waiting(); item && !this.#closed; [item] = this.#inbox.waiting()) {
				const { id } = item;
				if (item.kind === "user" && !(await this.#handled(item))) break;
				await this.#inbox.move(
					(one) => one.id === id,
					async () => {},
				);
			}
			void this.#telling.tell();
		}
	}

	/** False: it cannot be done now, and is tried again. */
	async #handled(item: ChatMessage): Promise<boolean> {
		try {
			await this.#parts.handle(this, item);
			return true;
		} catch (error) {
			if (this.#closed) return false;
			const words = error instanceof Error ? error.message : String(error);
			if (error instanceof AgentError && error.code === "NO_SPACE") {
				this.hall.report(`${this.key}: ${words}`);
				this.#wakeLater();
				return false;
			}
			await this.say(`err_${shortHash(item.id)}`, words, { rings: true, replyTo: item.by.message }).catch(() => {});
			return true;
		}
	}

	#wakeLater(): void {
		setTimeout(() => this.wake(), RETRY_MS).unref();
	}

	/** Closes the conversation. A caller that wants it meanwhile waits, and opens it anew. */
	#leave(): Promise<void> {
		const opening = this.#agent;
		this.#agent = undefined;
		this.#leaving = this.#leaving.then(async () => {
			const agent = await opening?.catch(() => undefined);
			this.#detach();
			await agent?.close();
			await this.#telling.tell();
			this.#conversation = undefined;
			this.#poke();
		});
		return this.#leaving;
	}

	#poke(): void {
		for (const wake of [...this.#waiters]) wake();
		this.#waiters.clear();
	}
}

/** Hashes ids of others, which may hold anything, for ids of ours. */
export const shortHash = (text: string): string => createHash("sha256").update(text).digest("hex").slice(0, 16);

function isThere(hall: Hall, id: string): boolean {
	try {
		Log.read(hall.home, id);
		return true;
	} catch (error) {
		if (error instanceof AgentError && error.code === "NOT_FOUND") return false; // it was old, and removed
		throw error;
	}
}

/** Marks it as over; it can be resumed all the same. */
async function endLog({ home, clock }: Hall, id: string, why: string): Promise<void> {
	try {
		await using log = await Log.open(home, id, { clock, what: "gateway" });
		if (log.openCalls.length === 0) await log.append({ t: "ended", why });
	} catch (error) {
		if (!(error instanceof AgentError)) throw error; // another program has it open: then it is not over
	}
}
