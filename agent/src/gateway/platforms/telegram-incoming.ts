/** Messages and pressed buttons, as Telegram tells of them. */
import type { CallbackQuery, Chat, Message, User } from "grammy/types";
import { cleanFileName, cleanName } from "./names.js";
import type { ChatRef, Incoming, IncomingFile, PersonRef, Tapped } from "./platform.js";

type ReadFile = (id: string, limit: number, signal: AbortSignal) => Promise<Uint8Array>;

/** Message ids count per chat, so ours have the chat in them. */
export const idOf = (message: string): number => Number(message.slice(message.lastIndexOf(":") + 1));

/** Returns undefined for what is no message of a person: joins, pinned messages, other bots. */
export function messageOf(message: Message, me: User, read: ReadFile): Incoming | undefined {
	const files = filesOf(message, read);
	const said = message.text ?? message.caption ?? "";
	if (!message.from || message.from.is_bot || (said === "" && files.length === 0)) return undefined;
	const chat = chatOf(message.chat, message.is_topic_message ? message.message_thread_id : undefined);
	const answered = message.reply_to_message;
	return {
		id: `${message.chat.id}:${message.message_id}`,
		chat,
		person: personOf(message.from),
		text: withoutMention(said, me),
		at: message.date * 1000,
		...(answered && !answered.forum_topic_created ? { replyTo: `${message.chat.id}:${answered.message_id}` } : {}),
		addressed: chat.kind === "direct" || answered?.from?.id === me.id || speaksTo(message, said, me),
		files,
	};
}

export function tapOf(query: CallbackQuery, show: (text: string) => Promise<void>): Tapped | undefined {
	const { message, data } = query;
	if (!message || data === undefined) return undefined;
	const thread = "is_topic_message" in message && message.is_topic_message ? message.message_thread_id : undefined;
	const chat = chatOf(message.chat, thread);
	return { id: query.id, chat, person: personOf(query.from), message: `${message.chat.id}:${message.message_id}`, data, show };
}

function chatOf(chat: Chat, thread: number | undefined): ChatRef {
	const name = cleanName(chat.title ?? [chat.first_name, chat.last_name].filter(Boolean).join(" "));
	return {
		id: String(chat.id),
		kind: chat.type === "private" ? "direct" : "group",
		...(thread === undefined ? {} : { thread: String(thread) }),
		...(name === undefined ? {} : { name }),
	};
}

function personOf({ id, first_name, last_name }: User): PersonRef {
	const name = cleanName([first_name, last_name].filter(Boolean).join(" "));
	return { id: String(id), ...(name === undefined ? {} : { name }) };
}

function speaksTo(message: Message, said: string, me: User): boolean {
	return (message.entities ?? message.caption_entities ?? []).some((entity) => {
		const part = said.slice(entity.offset, entity.offset + entity.length).toLowerCase();
		const own = `@${me.username?.toLowerCase()}`;
		if (entity.type === "mention") return part === own;
		if (entity.type === "text_mention") return entity.user.id === me.id;
		return entity.type === "bot_command" && (!part.includes("@") || part.endsWith(own));
	});
}

/** `/status@bot` and `@bot /status` are `/status`. */
function withoutMention(said: string, { username = "" }: User): string {
	const own = username.toLowerCase();
	const lead = /^\s*@(\w+)[\s,:]+/.exec(said);
	const text = lead?.[1]?.toLowerCase() === own ? said.slice(lead[0].length) : said;
	return text.replace(/^(\/\w+)@(\w+)/, (all, command: string, name: string) => (name.toLowerCase() === own ? command : all));
}

function filesOf(message: Message, read: ReadFile): IncomingFile[] {
	const photo = message.photo?.at(-1); // the largest
	const named = message.document ?? message.video ?? message.audio;
	const found = named ?? message.voice ?? (photo && { ...photo, mime_type: "image/jpeg" });
	if (!found) return [];
	const name = named?.file_name ?? (message.voice ? "voice.ogg" : message.photo ? "photo.jpg" : "file");
	return [
		{
			name: cleanFileName(name),
			...(found.mime_type ? { type: found.mime_type } : {}),
			...(found.file_size === undefined ? {} : { size: found.file_size }),
			read: (limit, signal) => read(found.file_id, limit, signal),
		},
	];
}
