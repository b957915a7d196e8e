/** Messages and pressed buttons, as Discord's gateway tells of them. */
import type { APIAttachment, GatewayInteractionCreateDispatchData, GatewayMessageCreateDispatchData } from "discord.js";
import { download } from "./download.js";
import { cleanFileName, cleanName } from "./names.js";
import type { ChatRef, Incoming, IncomingFile, Tapped } from "./platform.js";

const PEOPLE = new Set([0, 19]); // a message, a reply

/** Returns undefined for what is no message of a person. A thread is a channel of its own. */
export function discordIncoming(message: GatewayMessageCreateDispatchData, bot: string): Incoming | undefined {
	const { author, attachments = [], mentions = [] } = message;
	const text = (message.content ?? "").replaceAll(new RegExp(`<@!?${bot}>`, "g"), "").trim();
	if (!author || author.bot || message.webhook_id || !PEOPLE.has(message.type) || (text === "" && attachments.length === 0)) return undefined;
	const name = cleanName(author.global_name ?? author.username);
	const chat = chatOf(message.channel_id, message.guild_id);
	const answered = message.message_reference?.message_id;
	return {
		id: message.id,
		chat,
		person: { id: author.id, ...(name ? { name } : {}) },
		text,
		at: Date.parse(message.timestamp),
		...(answered ? { replyTo: answered } : {}),
		addressed: chat.kind === "direct" || mentions.some(({ id }) => id === bot) || message.referenced_message?.author.id === bot,
		files: attachments.map(fileOf),
	};
}

export function discordTap(press: GatewayInteractionCreateDispatchData, show: (text: string) => Promise<void>): Tapped | undefined {
	const user = press.member?.user ?? press.user;
	if (press.type !== 3 || !user || !press.channel?.id) return undefined;
	const name = cleanName(user.global_name ?? user.username);
	const chat = chatOf(press.channel.id, press.guild_id);
	return { id: press.id, chat, person: { id: user.id, ...(name ? { name } : {}) }, message: press.message.id, data: press.data.custom_id, show };
}

const chatOf = (id: string, guild: string | undefined): ChatRef => ({ id, kind: guild === undefined ? "direct" : "group" });

const fileOf = ({ filename, content_type, size, url }: APIAttachment): IncomingFile => ({
	name: cleanFileName(filename),
	...(content_type ? { type: content_type } : {}),
	size,
	read: (limit, signal) => download(url, { platform: "Discord", limit, signal }),
});
