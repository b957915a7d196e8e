/** The chats of a gateway by their keys: those of its disk, and those that begin. Few of them have their conversation open at once. */
import { Chat, type ChatParts } from "./chat.js";
import { type ChatState, readChatStates } from "./chat-state.js";
import type { Hall, Link } from "./hall.js";
import type { Incoming, LastSeen, Tapped } from "./platforms/platform.js";
import { keyOf, shownName } from "./route.js";

/** Conversations that are kept open although nothing happens in them: each holds memory and files. */
const OPEN_AT_MOST = 24;

export class Chats {
	readonly #hall: Hall;
	readonly #parts: ChatParts;
	readonly #all = new Map<string, Chat>();
	#trimming = false;

	constructor(hall: Hall, parts: ChatParts) {
		this.#hall = hall;
		this.#parts = parts;
	}

	get byKey(): ReadonlyMap<string, Chat> {
		return this.#all;
	}

	get all(): readonly Chat[] {
		return [...this.#all.values()];
	}

	/** Those of platforms that are in use now. */
	load(links: ReadonlyMap<string, Link>): void {
		for (const state of readChatStates(this.#hall.paths)) {
			const link = links.get(state.platform);
			if (link) this.#all.set(state.key, new Chat(this.#hall, link, state, this.#parts));
		}
	}

	ofTask(task: string): Chat | undefined {
		return this.#all.get(task) ?? this.all.find((chat) => chat.task === task);
	}

	/** The private chat with a person, if there was one. */
	direct(link: Link, person: string): Chat | undefined {
		return this.all.find(({ link: one, state }) => one === link && state.chat.kind === "direct" && state.person?.id === person);
	}

	/** The chat of a message; it is made, on the disk, if it is the first. */
	chatFor(key: string, link: Link, { chat, person }: Incoming): Chat {
		const there = this.#all.get(key);
		const name = chat.name === undefined ? {} : { name: shownName(chat) };
		const ref = { id: chat.id, kind: chat.kind, ...(chat.thread === undefined ? {} : { thread: chat.thread }), ...name };
		const who = { id: person.id, ...(person.name === undefined ? {} : { name: shownName(person) }) };
		if (there) {
			Object.assign(there.state, { chat: ref, person: who });
			return there;
		}
		const state: ChatState = { key, platform: link.name, chat: ref, person: who, told: 0, active: this.#hall.clock.now() };
		const made = new Chat(this.#hall, link, state, this.#parts);
		made.save({ sync: true }); // before its first message: else nobody would look into its inbox
		this.#all.set(key, made);
		return made;
	}

	chatOf(link: Link, { chat, person }: Tapped): Chat | undefined {
		const { perPerson } = this.#hall.settings.config.gateway.groups;
		return this.#all.get(keyOf(link.name, { chat, person }, perPerson));
	}

	/** Returns the last stored message of each chat of a platform. */
	seen(link: Link): LastSeen[] {
		return this.all.flatMap(({ state: { platform, chat, last } }) => (platform === link.name && last ? [{ chat, ...last }] : []));
	}

	/** Closes conversations in which nothing has happened since. */
	async leaveIdle(before: number): Promise<void> {
		for (const chat of this.all) await chat.leaveIdle(before).catch((error: Error) => this.#hall.report(error.message));
	}

	/** The ones that were used last stay open. */
	async trim(): Promise<void> {
		if (this.#trimming) return;
		this.#trimming = true;
		try {
			const open = this.all.filter(({ conversation }) => conversation).sort((a, b) => a.state.active - b.state.active);
			for (const chat of open.slice(0, Math.max(0, open.length - OPEN_AT_MOST))) await chat.leaveIdle(Number.POSITIVE_INFINITY);
		} catch (error) {
			this.#hall.report(error instanceof Error ? error.message : String(error));
		} finally {
			this.#trimming = false;
		}
	}
}
