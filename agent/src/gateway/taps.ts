/** Buttons that people press. What a press decides is on the disk before the platform is told that it was taken. */
import type { Choice } from "holdfast";
import { type Chat, shortHash } from "./chat.js";
import type { Chats } from "./chats.js";
import type { Hall, Link } from "./hall.js";
import { askId } from "./handle.js";
import type { Tapped } from "./platforms/platform.js";
import type { Questions } from "./questions.js";
import { shownName } from "./route.js";

export class Taps {
	readonly #hall: Hall;
	readonly #questions: Questions;
	readonly #chats: Chats;

	constructor(hall: Hall, questions: Questions, chats: Chats) {
		this.#hall = hall;
		this.#questions = questions;
		this.#chats = chats;
	}

	async tapped(link: Link, tap: Tapped): Promise<void> {
		if (this.#hall.people.roleOf(link.name, tap.person) === undefined) return tap.show("You may not use this agent.");
		const [kind, id = "", what = ""] = tap.data.split(":");
		if (kind === "a") return tap.show(await this.#questions.answer(link, tap.person, id, what as Choice));
		const chat = this.#chats.chatOf(link, tap);
		if (kind === "q" && chat) return this.#choose(chat, link, tap, id, Number(what));
		if (kind === "p" && chat) return tap.show(await this.#endProcesses(chat, link, tap, Number(id)));
		return tap.show("This button does nothing any more.");
	}

	/** An answer to the model: as if it had been written in reply. */
	async #choose(chat: Chat, link: Link, tap: Tapped, hash: string, n: number): Promise<void> {
		const { conversation } = await chat.agent();
		const question = conversation.questions.find((one) => shortHash(askId(conversation.id, one.id)) === hash);
		const choice = question?.choices[n];
		if (choice === undefined) return tap.show("This question was answered, or is void.");
		const by = { platform: link.name, person: tap.person.id, name: shownName(tap.person), message: tap.message, reply: tap.message };
		await chat.accept({ kind: "user", id: `${link.name}/tap/${tap.id}`, text: choice, by, mode: "queue" });
		return tap.show(choice);
	}

	/** Those that the message with the button has named: what was started since goes on. */
	async #endProcesses(chat: Chat, link: Link, tap: Tapped, listed: number): Promise<string> {
		if (!this.#hall.people.may(link.name, tap.person, "approve")) return "You may not end processes.";
		const running = this.#hall.runtime
			.list({ task: chat.task, ended: false })
			.filter((process) => process.status().status === "running" && process.spec.startedAt <= listed);
		await Promise.all(running.map((process) => process.kill()));
		if (running.length === 0) return "None of them runs any more.";
		return running.length === 1 ? "One process was ended." : `${running.length} processes were ended.`;
	}
}
