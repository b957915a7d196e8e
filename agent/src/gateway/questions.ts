/**
 * Questions about commands, asked in chats. A question has one message, by its id; whoever answers first counts, wherever that was; then its message says who
 * and what, and has no buttons any more.
 */
import { type Approval, type Choice, HoldfastError } from "holdfast";
import { oneLine, visible } from "../chat/index.js";
import type { Chat, ChatMessage } from "./chat.js";
import type { Chats } from "./chats.js";
import type { Hall, Link } from "./hall.js";
import type { OutItem } from "./outbox-store.js";
import type { PersonRef } from "./platforms/platform.js";
import { shownName } from "./route.js";
import { opening } from "./split.js";
import { clockTime } from "./words.js";

const COMMAND_CHARS = 1_500;
const LABELS: Readonly<Record<Choice, string>> = { once: "Once", task: "This chat", always: "Always", no: "No" };
const SAID: Readonly<Record<Choice, string>> = { once: "Allowed once", task: "Allowed in this chat", always: "Allowed always", no: "Refused" };
const WORDS: Readonly<Record<string, Choice>> = {
	...{ yes: "once", y: "once", ok: "once", once: "once", task: "task", "this chat": "task", always: "always", no: "no", n: "no" },
};

export class Questions {
	readonly #hall: Hall;
	readonly #chats: Chats;
	readonly #links: () => readonly Link[];
	readonly #timers = new Map<string, NodeJS.Timeout>();

	constructor(hall: Hall, chats: Chats, links: () => readonly Link[]) {
		this.#hall = hall;
		this.#chats = chats;
		this.#links = links;
	}

	/** Asks what waits, and tells what was answered, until the signal. */
	async run(signal: AbortSignal): Promise<void> {
		try {
			for await (const event of this.#hall.runtime.events({ signal })) {
				if (event.type === "listening" || event.type === "gap") await this.look();
				if (event.type === "approval.asked") await this.#ask(event.approval_id);
				if (event.type === "approval.answered") await this.#settle(event.approval_id);
			}
		} finally {
			for (const timer of this.#timers.values()) clearTimeout(timer);
			this.#timers.clear();
		}
	}

	/** Asks what waits, and settles what was answered while the gateway did not listen. */
	async look(): Promise<void> {
		for (const { id, state } of this.#hall.runtime.approvals.list({ all: true })) {
			if (state === "pending") await this.#ask(id);
			else await this.#settle(id);
		}
	}

	/** Questions that are open in a chat: those of its task, and those that were asked here for a group. */
	open(chat: Chat): Approval[] {
		const lane = chat.state.chat;
		return this.#hall.runtime.approvals.list().filter(({ id, task }) => {
			const asked = chat.link.outbox.store.chatOf(id);
			return task === chat.task || (asked !== undefined && asked.id === lane.id && asked.thread === lane.thread);
		});
	}

	/** Answers for a person. Returns what came of it, in words; never rejects for what a person can cause. */
	async answer(link: Link, person: PersonRef, id: string, choice: Choice, message?: string): Promise<string> {
		const { people, runtime } = this.#hall;
		if (!people.may(link.name, person, "approve")) {
			const who = people.approvers(link.name);
			return `You may not decide that${who.length > 0 ? `; ${who.join(", ")} can` : ""}.`;
		}
		try {
			await runtime.approvals.answer(id, { answer: choice, by: answererOf(link, person), ...(message === undefined || message === "" ? {} : { message }) });
			await this.#settle(id);
			return `${SAID[choice]}.`;
		} catch (error) {
			if (!(error instanceof HoldfastError)) throw error;
			await this.#settle(id).catch(() => {}); // one that is not there any more has no message to change
			const now = this.#get(id);
			return now && now.state !== "pending" ? outcomeOf(now) : error.message;
		}
	}

	/** A word alone that answers: as a reply to the question's message, or if only one was open when it was written. Undefined: it is no answer. */
	async word(chat: Chat, person: PersonRef, { text, by: { reply }, at }: ChatMessage): Promise<string | undefined> {
		const choice = WORDS[text.trim().toLowerCase().replace(/[.!]$/, "")];
		if (choice === undefined) return undefined;
		const replied = reply === undefined ? undefined : chat.link.outbox.store.idOf(reply);
		if (replied?.startsWith("appr_")) return this.answer(chat.link, person, replied, choice);
		const open = this.#openAt(chat, at);
		const [only] = open;
		if (!only) return this.#answered(chat, person, at);
		if (open.length > 1) return undefined;
		return only.choices.includes(choice) ? this.answer(chat.link, person, only.id, choice) : undefined;
	}

	/** `/approve [digits] [task|always]`, `/approve all`; `at`: when it was written. */
	async approve(chat: Chat, person: PersonRef, rest: string, at: string): Promise<string> {
		const words = rest.toLowerCase().split(/\s+/).filter(Boolean);
		if (words[0] === "all") {
			const open = this.#openAt(chat, at);
			if (open.length === 0) return this.#answered(chat, person, at) ?? this.#noneWaits(chat);
			const lines: string[] = [];
			for (const { id, command } of open) lines.push(`${digits(id)} ${oneLine(command, 100)}: ${await this.answer(chat.link, person, id, "once")}`);
			return lines.join("\n");
		}
		const long = words.find((word) => word === "task" || word === "always" || word === "once") as Choice | undefined;
		const wanted = words.find((word) => /^(appr_)?[0-9a-f]{4,12}$/.test(word));
		const one = this.#chosen(chat, person, wanted, at);
		return typeof one === "string" ? one : `${digits(one.id)}: ${await this.answer(chat.link, person, one.id, long ?? "once")}`;
	}

	/** `/deny [digits] [reason]`; the reason reaches the model. A reason may begin with a word that could be digits: "added by mistake". */
	async deny(chat: Chat, person: PersonRef, rest: string, at: string): Promise<string> {
		const [, first, behind = ""] = /^((?:appr_)?[0-9a-f]{4,12})(?:\s+(.*))?$/is.exec(rest.trim()) ?? [];
		const wanted = first !== undefined && (/\d/.test(first) || this.open(chat).some(named(first))) ? first : undefined;
		const one = this.#chosen(chat, person, wanted, at);
		const reason = wanted === undefined ? rest : behind;
		return typeof one === "string" ? one : `${digits(one.id)}: ${await this.answer(chat.link, person, one.id, "no", reason.trim())}`;
	}

	/** By its digits; without them the only one that was open then. Else what to say. */
	#chosen(chat: Chat, person: PersonRef, wanted: string | undefined, at: string): Approval | string {
		const open = wanted === undefined ? this.#openAt(chat, at) : this.open(chat);
		const fit = wanted === undefined ? open : open.filter(named(wanted));
		const [only] = fit;
		if (only && fit.length === 1) return only;
		if (wanted !== undefined && fit.length === 0) {
			const past = this.#get(wanted);
			if (past && past.state !== "pending") return outcomeOf(past);
		}
		if (open.length === 0) return this.#answered(chat, person, at) ?? this.#noneWaits(chat);
		return `${wanted === undefined ? "Several questions wait" : `No question is "${wanted}"`}:\n${listed(open)}`;
	}

	/**
	 * Those that were there when a message was stored: what came later its writer has not seen. A message is looked at again when the gateway was killed while
	 * it answered, and by then the next question may wait. A question that is younger than now is one of a clock that was set back.
	 */
	#openAt(chat: Chat, at: string): Approval[] {
		const written = Date.parse(at);
		return this.open(chat).filter(({ created_at }) => Date.parse(created_at) <= written || Date.parse(created_at) > Date.now());
	}

	/** Returns the decisions that this message made before the gateway was killed. */
	#answered({ link }: Chat, person: PersonRef, at: string): string | undefined {
		const by = answererOf(link, person);
		const then = this.#hall.runtime.approvals
			.list({ all: true })
			.filter((one) => one.state === "answered" && one.by === by && one.created_at <= at && (one.answered_at ?? "") >= at);
		return then.length === 0 ? undefined : then.map((one) => `${digits(one.id)}: ${outcomeOf(one)}`).join("\n");
	}

	#noneWaits(chat: Chat): string {
		const open = this.open(chat);
		if (open.length === 0) return "No question waits for an answer.";
		return `No question waited when you wrote that. Since then:\n${listed(open)}\n/approve with the digits answers one.`;
	}

	async #ask(id: string): Promise<void> {
		const approval = this.#get(id);
		const chat = approval && this.#chats.ofTask(approval.task);
		if (!approval || !chat || approval.state !== "pending") return;
		const at = this.#where(chat);
		const { outbox } = at.link;
		if (!this.#links().some((link) => link.outbox.store.has(id))) {
			this.#hall.counters.add("questions", at.link.name);
			const from = at === chat ? "" : `In the group ${shownName(chat.state.chat)}: `;
			await outbox.put({ id, chat: at.state.chat, text: `${from}${this.#text(approval)}`, rings: true, buttons: buttonsOf(approval, at.link) });
		}
		this.#watchEnd(approval);
	}

	/** In a group the question goes to the private chat of who wrote, or of one who may approve. */
	#where(chat: Chat): Chat {
		const { people, settings } = this.#hall;
		const { person } = chat.state;
		if (chat.state.chat.kind === "direct" || settings.config.gateway.groups.approveInGroup) return chat;
		const asker = person && people.may(chat.link.name, person, "approve") ? this.#chats.direct(chat.link, person.id) : undefined;
		const others = people.list().filter(({ platform, role }) => platform === chat.link.name && role !== "talk");
		const set = Object.entries(settings.config.gateway.people).flatMap(([who, role]) =>
			role !== "talk" && who.startsWith(`${chat.link.name}/`) ? [who.slice(chat.link.name.length + 1)] : [],
		);
		const [other] = [...others.map(({ id }) => id), ...set].flatMap((one) => this.#chats.direct(chat.link, one) ?? []);
		return asker ?? other ?? chat;
	}

	/** Its message says what became of it. Once: it has an id of its own. */
	async #settle(id: string): Promise<void> {
		const approval = this.#get(id);
		if (!approval || approval.state === "pending") return;
		clearTimeout(this.#timers.get(id));
		this.#timers.delete(id);
		const link = this.#links().find(({ outbox }) => outbox.store.has(id));
		const chat = link?.outbox.store.chatOf(id);
		const fresh = link !== undefined && !link.outbox.store.has(`${id}-done`);
		if (link && chat && fresh) {
			const done: OutItem = { id: `${id}-done`, edits: id, chat, text: `${this.#text(approval)}\n\n${outcomeOf(approval)}`, rings: false, buttons: [] };
			await link.outbox.put(done);
		}
		// A call that has given up waiting for it is made again.
		const asked = this.#chats.ofTask(approval.task);
		if (!asked || approval.state !== "answered" || asked.conversation?.busy || !(fresh || asked.conversation)) return;
		await asked.resume().catch((error: Error) => this.#hall.report(`${approval.task}: ${error.message}`));
	}

	/** Nothing tells when a question expires for which no call waits. */
	#watchEnd({ id, expires_at }: Approval): void {
		if (this.#timers.has(id)) return;
		const ms = Math.min(Math.max(0, Date.parse(expires_at) - Date.now()) + 500, 2 ** 31 - 1);
		const timer = setTimeout(() => {
			this.#timers.delete(id);
			this.#settle(id).catch((error: Error) => this.#hall.report(error.message));
		}, ms);
		this.#timers.set(id, timer.unref());
	}

	#get(id: string): Approval | undefined {
		try {
			return this.#hall.runtime.approvals.get(id);
		} catch (error) {
			if (error instanceof HoldfastError) return undefined; // it was settled long ago
			throw error;
		}
	}

	#text({ id, command, cwd, place, parts, expires_at }: Approval): string {
		const { redact } = this.#hall.keys;
		const shown = redact(visible(command));
		const cut =
			shown.length > COMMAND_CHARS
				? `${opening(shown, COMMAND_CHARS)}\n(${shown.length - COMMAND_CHARS} more characters: \`holdfast approvals\` or the page shows all)`
				: shown;
		const fence = "`".repeat(Math.max(3, ...[...cut.matchAll(/`+/g)].map(([marks]) => marks.length + 1)));
		const reasons = [...new Set(parts.map(({ reason, rule }) => `${oneLine(reason, 300)} (${rule})`))];
		const where = `In ${oneLine(cwd, 200)}${place === "local" ? "" : ` on ${oneLine(place, 100)}`}`;
		return [
			`**May this run?** ${digits(id)}`,
			`${fence}\n${cut}\n${fence}`,
			reasons.join("\n"),
			`${where}; waits until ${clockTime(Date.parse(expires_at))}.`,
		].join("\n");
	}
}

const answererOf = (link: Link, person: PersonRef): string => `${link.name}, ${shownName(person)}`;

const named =
	(wanted: string) =>
	({ id }: Approval): boolean =>
		id.replace("appr_", "").startsWith(wanted.replace(/^appr_/i, "").toLowerCase());

const listed = (open: readonly Approval[]): string => open.map(({ id, command }) => `${digits(id)}  ${oneLine(command, 100)}`).join("\n");

export const digits = (id: string): string => id.replace(/^appr_/, "").slice(0, 4);

function buttonsOf({ id, choices }: Approval, { platform }: Link): NonNullable<OutItem["buttons"]> {
	if (!platform.traits.buttons) return [];
	return choices.map((choice) => ({ label: LABELS[choice], data: `a:${id}:${choice}` }));
}

/** "Allowed once by telegram, Jo, 12:03." */
export function outcomeOf({ state, answer, by, message, answered_at }: Approval): string {
	if (state === "expired") return "Nobody answered in time: it was not run.";
	if (state === "withdrawn") return "The question was withdrawn: it is not run.";
	if (state === "pending") return "It waits for an answer.";
	const why = message === undefined ? "" : `: ${oneLine(message, 200)}`;
	return `${SAID[answer ?? "no"]} by ${oneLine(by ?? "another program", 80)}${answered_at === undefined ? "" : `, ${clockTime(Date.parse(answered_at))}`}${why}.`;
}
