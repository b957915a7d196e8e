/** From a message to the chat that it belongs to. A chat's key is the name of its Holdfast task: processes, notices and approvals belong to the chat by it. */
import { oneLine } from "../chat/index.js";
import type { ChatRef, Incoming, PersonRef } from "./platforms/platform.js";

const NAME_CHARS = 80;

/** Everything of ours that belongs to chats begins with it. */
export const KEY_START = "agent/";

/** `agent/<platform>/<type>/<chat>[/<thread>]`, with the person at the end if each has a conversation of their own. Ids are data of others: encoded, they are one part each. */
export function keyOf(platform: string, { chat, person }: Pick<Incoming, "chat" | "person">, perPerson = false): string {
	const own = perPerson && chat.kind === "group" ? [`by:${part(person.id)}`] : [];
	return [`agent/${part(platform)}/${chat.kind}/${part(chat.id)}`, ...(chat.thread === undefined ? [] : [part(chat.thread)]), ...own].join("/");
}

/** A lane is where messages have an order: a chat, or a thread of one. */
export const laneOf = ({ id, thread }: ChatRef): string => JSON.stringify(thread === undefined ? [id] : [id, thread]);

/** The name of a person or chat, as it may be shown: one line, no quotes that could end ours, at most 80 characters. */
export const shownName = ({ id, name }: PersonRef | ChatRef): string =>
	oneLine(name ?? "", NAME_CHARS).replace(/["“”„«»`[\]<>]/g, "'") || oneLine(id, NAME_CHARS);

/** `/` separates the parts, and `%` begins an encoded one; a control character has no place in a name of a task. */
const part = (text: string): string => text.replace(/[%/\s\p{Cc}]/gu, (char) => encodeURIComponent(char)).slice(0, 120);
