/** Gives the outbox what a chat was not told yet of its conversation: one line after another, each once. */
import { isUnanswered } from "../turn/index.js";
import type { Chat } from "./chat.js";
import { chatSizes } from "./chat-state.js";
import { deliveries } from "./deliver.js";

const RETRY_MS = 5_000;

export class Telling {
	readonly #chat: Chat;
	#last: Promise<void> = Promise.resolve();
	#timer: NodeJS.Timeout | undefined;
	#closed = false;

	constructor(chat: Chat) {
		this.#chat = chat;
	}

	/** Resolves when all that is in the log now is in the outbox, or cannot be put there now; then it is tried again. */
	tell(): Promise<void> {
		const { key, hall } = this.#chat;
		this.#last = this.#last.then(async () => {
			try {
				await this.#told();
			} catch (error) {
				hall.report(`${key}: ${error instanceof Error ? error.message : error}`);
				this.#later(RETRY_MS); // a full disk
			}
		});
		return this.#last;
	}

	/** Tells nothing more by itself. Resolves when nothing is under way. */
	close(): Promise<void> {
		this.#closed = true;
		clearTimeout(this.#timer);
		return this.#last;
	}

	async #told(): Promise<void> {
		const { conversation, state, link, hall } = this.#chat;
		if (!conversation || conversation.id !== state.conversation) return;
		const { entries } = conversation.log;
		const { items, told, again } = deliveries(entries, {
			...{ conversation: conversation.id, from: state.told, chat: state.chat, name: link.name, platform: link.platform },
			...{ news: state.news ?? hall.settings.config.gateway.news, now: hall.clock.now(), redact: hall.keys.redact },
			known: (id) => link.outbox.store.has(id),
		});
		if (items.length > 0) {
			await link.outbox.put(...items);
			state.active = hall.clock.now();
		}
		state.told = told;
		if (again !== undefined) this.#later(again);
		else this.#settle();
	}

	/** Nothing is left to do: the next start need not look at it. */
	#settle(): void {
		const { state, hall, conversation, hasUnheard } = this.#chat;
		if (!conversation || isUnanswered(conversation.log)) return; // a turn that is about to go on
		if (conversation.busy || state.told < conversation.log.entries.length || hasUnheard || conversation.waiting().length > 0) return;
		const clean = chatSizes(hall.home, state);
		if (JSON.stringify(clean) === JSON.stringify(state.clean)) return;
		state.clean = clean;
		this.#chat.saveQuietly();
	}

	#later(ms: number): void {
		clearTimeout(this.#timer);
		if (this.#closed) return;
		this.#timer = setTimeout(() => void this.tell(), ms);
	}
}
