/** Takes incoming messages: strangers are told a code, and a known person's message is on the disk before the platform is told that we have it. */
import type { Chats } from "./chats.js";
import { takeFiles } from "./files.js";
import type { Hall, Link } from "./hall.js";
import type { Incoming } from "./platforms/platform.js";
import { keyOf, shownName } from "./route.js";

const MESSAGE_CHARS = 256 * 1024;

export class Intake {
	readonly #hall: Hall;
	readonly #chats: Chats;
	/** Chats that were told that nothing can be stored, until something could. */
	readonly #full = new Set<string>();

	constructor(hall: Hall, chats: Chats) {
		this.#hall = hall;
		this.#chats = chats;
	}

	/** Stored and synced when this resolves; then the platform may acknowledge it. */
	async message(link: Link, message: Incoming): Promise<void> {
		const { people, counters, settings, paths } = this.#hall;
		const { chat, person } = message;
		if (people.roleOf(link.name, person) === undefined) return this.#stranger(link, message);
		if (chat.kind === "group" && !message.addressed) return counters.add("ignored", link.name);
		if (message.text.trim() === "" && message.files.length === 0) return;
		const key = keyOf(link.name, message, settings.config.gateway.groups.perPerson);
		try {
			const at = this.#chats.chatFor(key, link, message);
			await link.outbox.wrote(chat.id);
			const { files, problems } = await takeFiles(paths, key, message.files, settings.config.gateway.fileBytes);
			const long = message.text.length > MESSAGE_CHARS;
			const text = [
				long ? `${message.text.slice(0, MESSAGE_CHARS)}\n(The message was longer; the rest was not taken.)` : message.text,
				...problems.map((one) => `(${one})`),
			].join("\n");
			const name = person.name === undefined ? {} : { name: shownName(person) };
			const by = { platform: link.name, person: person.id, ...name, message: message.id, ...(message.replyTo === undefined ? {} : { reply: message.replyTo }) };
			const fresh = await at.accept({
				kind: "user",
				id: `${link.name}/${chat.id}/${message.id}`,
				text: text.trim(),
				by,
				mode: settings.config.busy,
				...(files.length > 0 ? { files } : {}),
			});
			at.stored({ message: message.id, at: message.at });
			counters.add(fresh ? "received" : "redelivered", link.name);
			this.#full.delete(key);
		} catch (error) {
			counters.add("unstored", link.name);
			this.#hall.report(`A message on ${link.name} could not be stored: ${error instanceof Error ? error.message : error}`);
			this.#tellFull(link, message, key);
			throw error;
		}
	}

	/** Once: it cannot be kept, since nothing can. */
	#tellFull(link: Link, { chat }: Incoming, key: string): void {
		if (this.#full.has(key)) return;
		this.#full.add(key);
		const text = "Your message was not taken: it cannot be stored (the disk may be full). It is tried again if this platform keeps it; else write again later.";
		link.platform.send({ id: `full_${Date.now()}`, chat, text, rings: true }, AbortSignal.timeout(20_000)).catch(() => {}); // it is said, or it is not
	}

	/** No model hears of it. In private they are told a code, once an hour; in a group nothing. */
	async #stranger(link: Link, { chat, person }: Incoming): Promise<void> {
		const { people, counters } = this.#hall;
		counters.add("strangers", link.name);
		if (chat.kind !== "direct") return;
		const code = await people.meet(link.name, person);
		if (code === undefined) return;
		const text = `I do not know you. If this agent is yours, or its owner wants you to use it, run this where it is installed, within an hour:\n\n    holdfast-agent pairing approve ${code}\n\nYou are ${link.name}/${person.id}.`;
		await link.outbox.wrote(chat.id);
		await link.outbox.put({
			id: `pair_${code}`,
			chat: { id: chat.id, kind: chat.kind, ...(chat.thread === undefined ? {} : { thread: chat.thread }) },
			text,
			rings: true,
		});
	}
}
