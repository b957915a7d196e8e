/** Tells the listeners of a conversation what its files say, each thing once, whichever program has written it. */
import type { EntryBody, Inbox, Log } from "../talk/index.js";
import type { EventHub } from "./hub.js";

export class Teller {
	readonly #log: Log;
	readonly #inbox: Inbox;
	readonly #hub: EventHub;
	/** Lines up to here were told. */
	#lines: number;
	#waiting: readonly string[] | undefined;

	/** Lines that the log has already are not told. */
	constructor(log: Log, inbox: Inbox, hub: EventHub) {
		this.#log = log;
		this.#inbox = inbox;
		this.#hub = hub;
		this.#lines = log.entries.length;
	}

	lines(): void {
		const fresh = this.#log.entries.slice(this.#lines);
		this.#lines += fresh.length;
		for (const { n, at: _, ...entry } of fresh) this.#hub.emit({ type: "entry", n, entry: entry as EntryBody });
	}

	/** Tells the waiting messages, if they differ from those told last. */
	waiting(): void {
		const texts = this.#inbox.waiting().flatMap((item) => (item.kind === "user" ? [item.text] : []));
		if (this.#waiting?.length === texts.length && texts.every((text, at) => text === this.#waiting?.[at])) return;
		this.#waiting = texts;
		this.#hub.emit({ type: "waiting", texts });
	}
}
