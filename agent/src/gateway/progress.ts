/** One silent message that says what a turn is doing, edited at most every three seconds. It is shown only while nothing else waits for the chat, and dropped else. */
import { randomBytes } from "node:crypto";
import { callLine } from "../chat/index.js";
import type { TurnEvent } from "../turn/index.js";
import type { Outbox } from "./outbox.js";
import { type OutItem, refOf } from "./outbox-store.js";
import { type Platform, PlatformError } from "./platforms/platform.js";

const EVERY_MS = 3_000;
const TYPING_MS = 4_000;
const REQUEST_MS = 20_000;
const LINE_CHARS = 200;

export interface ProgressOptions {
	readonly platform: Platform;
	readonly outbox: Outbox;
	readonly chat: OutItem["chat"];
	readonly redact: (text: string) => string;
	/** The message of a turn that a killed program had under way. */
	readonly message?: string | undefined;
	/** It is another one now, or none. */
	readonly kept: (message: string | undefined) => void;
	readonly everyMs?: number;
}

export class Progress {
	readonly #options: ProgressOptions;
	#message: string | undefined;
	#line = "";
	#shown = "";
	#calls = 0;
	#since: number | undefined;
	#timer: NodeJS.Timeout | undefined;
	#typed = 0;
	#last: Promise<void> = Promise.resolve();

	constructor(options: ProgressOptions) {
		this.#options = options;
		this.#message = options.message;
	}

	take(event: TurnEvent): void {
		if (event.type === "asking" || event.type === "call" || event.type === "progress") {
			this.#since ??= Date.now();
			this.#typing();
		}
		if (event.type === "call") {
			this.#calls++;
			this.#show(callLine(event.name, event.args));
		}
		if (event.type === "retry") this.#show(`waits: ${event.why}`);
		if (event.type === "compacting" && !event.done) this.#show("makes the conversation shorter");
		if (event.type === "compacting" && event.done && this.#since === undefined) this.end(); // a person has asked for it: no turn ends
		if (event.type === "entry" && event.entry.t === "assistant" && event.entry.calls.length > 0 && event.entry.text.trim() !== "")
			this.#show(event.entry.text.trim().split("\n").at(-1) ?? "");
		if (event.type === "end") this.end();
	}

	/** The turn is over: the message says so, and the next turn has one of its own. */
	end(): void {
		clearTimeout(this.#timer);
		this.#timer = undefined;
		const seconds = Math.round((Date.now() - (this.#since ?? Date.now())) / 1_000);
		const calls = this.#calls === 1 ? "1 step" : `${this.#calls} steps`;
		const said = this.#calls > 0 ? `✓ ${calls}, ${seconds} s` : "✓";
		this.#since = undefined;
		this.#calls = 0;
		this.#line = "";
		this.#shown = "";
		this.#last = this.#last.then(async () => {
			const message = this.#message;
			if (message === undefined) return;
			this.#message = undefined;
			this.#options.kept(undefined);
			await this.#edit(message, said);
		});
	}

	/** Resolves when no request is under way. */
	async close(): Promise<void> {
		clearTimeout(this.#timer);
		await this.#last;
	}

	#show(text: string): void {
		const { platform } = this.#options;
		if (!platform.traits.edits || !platform.edit) return; // it would be a message each time
		this.#line = `… ${this.#options.redact(text).slice(0, LINE_CHARS)}`;
		this.#timer ??= setTimeout(() => {
			this.#timer = undefined;
			this.#last = this.#last.then(() => this.#flush());
		}, this.#options.everyMs ?? EVERY_MS);
	}

	async #flush(): Promise<void> {
		const { outbox, chat, platform } = this.#options;
		const text = this.#line;
		if (text === "" || text === this.#shown || !outbox.quiet(chat)) return;
		this.#shown = text;
		if (this.#message !== undefined) return this.#edit(this.#message, text);
		await this.#request(async (signal) => {
			const { id } = await platform.send({ id: `prog_${randomBytes(8).toString("hex")}`, chat: refOf(chat), text, rings: false }, signal);
			this.#message = id;
			this.#options.kept(id);
		});
	}

	async #edit(message: string, text: string): Promise<void> {
		const { platform, chat, outbox } = this.#options;
		if (outbox.store.isPaused(chat.id) || outbox.store.chat(chat.id).dead !== undefined) return;
		await this.#request(async (signal) => platform.edit?.(message, { id: "progress", chat: refOf(chat), text, rings: false }, signal));
	}

	/** Makes a request; an update that fails is not shown. A pause that the platform asks for counts for the whole chat. */
	async #request(work: (signal: AbortSignal) => Promise<unknown>): Promise<void> {
		try {
			await work(AbortSignal.timeout(REQUEST_MS));
		} catch (error) {
			if (error instanceof PlatformError && error.kind === "later" && error.until !== undefined)
				await this.#options.outbox.paused(this.#options.chat.id, error.until).catch(() => {}); // a full disk: the next request is told again
		}
	}

	#typing(): void {
		const { platform, chat, outbox } = this.#options;
		const now = Date.now();
		if (!platform.traits.typing || !platform.typing || now - this.#typed < TYPING_MS || !outbox.quiet(chat)) return;
		this.#typed = now;
		void this.#request((signal) => platform.typing?.(refOf(chat), signal) ?? Promise.resolve());
	}
}
