/** Handles a message in a chat: an answer to a question, a command, or something that is said to the conversation. */
import type { TurnEvent } from "../turn/index.js";
import { type Chat, type ChatMessage as Message, shortHash } from "./chat.js";
import { isCommand, runCommand } from "./commands.js";
import { putFiles } from "./files.js";
import type { PersonRef } from "./platforms/platform.js";
import type { Questions } from "./questions.js";
import { resetReason } from "./reset.js";
import { shownName } from "./route.js";

const DAY_MS = 86_400_000;

export async function handle(chat: Chat, item: Message, questions: Questions): Promise<void> {
	const person: PersonRef = { id: item.by.person, ...(item.by.name === undefined ? {} : { name: item.by.name }) };
	if (chat.hall.people.roleOf(chat.link.name, person) === undefined) return; // may not write any more
	const reply = (text: string, more: { readonly buttons?: { label: string; data: string }[] } = {}): Promise<void> =>
		chat.say(`cmd_${shortHash(item.id)}`, text, { rings: true, replyTo: chat.state.chat.kind === "group" ? item.by.message : undefined, ...more });
	const answered = item.files?.length ? undefined : await questions.word(chat, person, item);
	if (answered !== undefined) return reply(answered);
	if (isCommand(item.text)) return runCommand({ chat, person, item, questions, reply });
	if (!item.files?.length && (await answerModel(chat, item))) return;
	await say(chat, item);
}

/** A question of the model that waits: a reply to its message answers it, and so does any message if it is the only one. */
async function answerModel(chat: Chat, item: Message): Promise<boolean> {
	const { conversation } = chat;
	const open = conversation?.questions ?? [];
	if (!conversation || open.length === 0) return false;
	const replied = item.by.reply === undefined ? undefined : chat.link.outbox.store.idOf(item.by.reply);
	const wanted = open.find(({ id }) => askId(conversation.id, id) === replied) ?? (open.length === 1 ? open[0] : undefined);
	if (!wanted) return false;
	conversation.answer(wanted.id, item.text);
	// The message leaves the inbox when the answer is in the log: until then it may be needed again.
	await chat.until(() => !conversation.busy || !conversation.log.openCalls.some(({ id }) => id === wanted.id));
	return true;
}

/** Asks in the chat what the model wants to know; takes the buttons away when it is answered. */
export async function askedByModel(chat: Chat, event: Extract<TurnEvent, { type: "question" | "answered" }>): Promise<void> {
	const { conversation, link, state } = chat;
	if (!conversation) return;
	const id = askId(conversation.id, event.id);
	const { store } = link.outbox;
	if (event.type === "answered") {
		const at = store.chatOf(id);
		const asked = chat.asks.get(id);
		chat.asks.delete(id);
		if (at && asked !== undefined && link.platform.traits.edits)
			await link.outbox.put({ id: `${id}-done`, edits: id, chat: at, text: `${asked}\n\nAnswered.`, rings: false, buttons: [] });
		return;
	}
	const choices = event.choices.map((choice, n) => `${n + 1}. ${choice}`);
	const text = chat.hall.keys.redact([event.text, ...(link.platform.traits.buttons ? [] : choices)].join("\n"));
	const buttons = link.platform.traits.buttons ? event.choices.map((choice, n) => ({ label: choice.slice(0, 40), data: `q:${shortHash(id)}:${n}` })) : [];
	chat.asks.set(id, text);
	await link.outbox.put({ id, chat: state.chat, text, rings: true, buttons });
}

export const askId = (conversation: string, call: string): string => `ask_${conversation}_${shortHash(call)}`;

async function say(chat: Chat, item: Message): Promise<void> {
	await resetIfDue(chat, item);
	const { conversation } = await chat.agent();
	const { files = [], problems = [] } = item.files?.length ? await putFiles(conversation, item.files) : {};
	const said = item.text.startsWith("//") ? item.text.slice(1) : item.text;
	const named =
		chat.state.chat.kind === "group" ? `[${shownName({ id: item.by.person, ...(item.by.name === undefined ? {} : { name: item.by.name }) })}] ${said}` : said;
	const text = [named, ...problems.map((problem) => `(${problem})`)].join("\n").trim();
	const { did } = await conversation.send(text, item.by, { id: item.id, ...(files.length > 0 ? { files } : {}) });
	chat.state.active = chat.hall.clock.now();
	if (did === "queued") await chat.say(`ack_${shortHash(item.id)}`, "Queued: it is heard when this turn is over.");
}

/** A conversation that is over by the policy, and in which nothing is left, is exchanged for a new one. */
async function resetIfDue(chat: Chat, item: Message): Promise<void> {
	const { hall, state } = chat;
	const now = hall.clock.now();
	if (state.conversation === undefined) return;
	const why = resetReason(hall.settings.config.gateway.reset, state.active, now);
	if (why === undefined) return;
	const { conversation } = await chat.agent();
	if (conversation.log.hasMessage(item.id) || conversation.waiting().length > 0) return;
	const said = conversation.log.entries.filter(({ t }) => t === "user" || t === "assistant" || t === "partial").length;
	if (said === 0 || isHeld(chat)) return;
	const old = hall.runtime.list({ task: chat.task, ended: false }).filter((process) => process.status().status === "running");
	const before = await chat.exchange(undefined, why, { carry: true });
	const goOn =
		old.length === 0
			? ""
			: ` ${old.length === 1 ? "One process goes" : `${old.length} processes go`} on: ${old.map(({ id, spec }) => `${id} ${spec.name ?? spec.command.slice(0, 40)}`).join(", ")}.`;
	await chat.say(`reset_${before}`, `A new conversation, since ${why} (${said} messages before). /resume ${before} goes back.${goOn}`);
}

/** A turn runs, a question is open, something is undelivered, or a process runs that was started within a day. */
function isHeld(chat: Chat): boolean {
	const { hall, link, state, conversation } = chat;
	if (!conversation || conversation.busy || conversation.questions.length > 0 || conversation.log.openCalls.length > 0) return true;
	if (hall.runtime.approvals.list({ task: chat.task }).length > 0) return true;
	if (link.outbox.store.waiting.some(({ item }) => item.chat.id === state.chat.id && item.chat.thread === state.chat.thread)) return true;
	return hall.runtime
		.list({ task: chat.task, ended: false })
		.some((process) => process.status().status === "running" && hall.clock.now() - process.spec.startedAt < DAY_MS);
}
