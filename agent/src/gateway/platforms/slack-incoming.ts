/** Messages and pressed buttons, as Slack tells of them. */
import { fromSlack } from "./format/slack.js";
import { cleanFileName, cleanName } from "./names.js";
import type { ChatRef, Incoming, IncomingFile, Tapped } from "./platform.js";

export interface SlackFile {
	readonly name?: string;
	readonly mimetype?: string;
	readonly size?: number;
	readonly url_private_download?: string;
	readonly url_private?: string;
}

/** An event `message` or `app_mention`, or a message of the history. */
export interface SlackMessage {
	readonly type?: string;
	readonly subtype?: string;
	readonly channel?: string;
	readonly channel_type?: string;
	readonly user?: string;
	readonly bot_id?: string;
	readonly text?: string;
	readonly ts?: string;
	readonly thread_ts?: string;
	readonly parent_user_id?: string;
	readonly files?: readonly SlackFile[];
}

export interface SlackPress {
	readonly type?: string;
	readonly user?: { readonly id?: string; readonly name?: string; readonly username?: string };
	readonly channel?: { readonly id?: string; readonly name?: string };
	readonly message?: { readonly ts?: string; readonly thread_ts?: string };
	readonly actions?: readonly { readonly value?: string; readonly action_ts?: string }[];
	readonly trigger_id?: string;
}

type ReadFile = (url: string, limit: number, signal: AbortSignal) => Promise<Uint8Array>;

/** Time stamps count per channel, so ids have the channel in them. */
export const tsOf = (message: string): string => message.slice(message.lastIndexOf(":") + 1);

const PEOPLE = new Set([undefined, "file_share", "thread_broadcast", "me_message"]);

/** Returns undefined for what is no message of a person: edits, joins, other bots. */
export function slackIncoming(event: SlackMessage, bot: string, read: ReadFile): Incoming | undefined {
	const { channel, user, ts, subtype, thread_ts: root } = event;
	const files = (event.files ?? []).flatMap((file) => fileOf(file, read));
	const text = fromSlack(event.text ?? "", bot);
	if (!channel || !user || !ts || event.bot_id || user === bot || !PEOPLE.has(subtype) || (text === "" && files.length === 0)) return undefined;
	const direct = event.channel_type === "im" || channel.startsWith("D");
	return {
		id: `${channel}:${ts}`,
		chat: chatOf(channel, direct, root),
		person: { id: user },
		text,
		at: Math.round(Number(ts) * 1000),
		...(root && root !== ts ? { replyTo: `${channel}:${root}` } : {}),
		addressed: direct || event.type === "app_mention" || (event.text ?? "").includes(`<@${bot}>`) || event.parent_user_id === bot,
		files,
	};
}

export function slackTap(press: SlackPress, show: (text: string) => Promise<void>): Tapped | undefined {
	const { user, channel, message, actions } = press;
	const [action] = actions ?? [];
	if (press.type !== "block_actions" || !user?.id || !channel?.id || !message?.ts || action?.value === undefined) return undefined;
	const name = cleanName(user.name ?? user.username);
	return {
		id: press.trigger_id ?? `${channel.id}:${message.ts}:${user.id}:${action.action_ts ?? ""}`,
		chat: chatOf(channel.id, channel.id.startsWith("D"), message.thread_ts),
		person: { id: user.id, ...(name ? { name } : {}) },
		message: `${channel.id}:${message.ts}`,
		data: action.value,
		show,
	};
}

const chatOf = (id: string, direct: boolean, thread: string | undefined): ChatRef => ({ id, kind: direct ? "direct" : "group", ...(thread ? { thread } : {}) });

function fileOf(file: SlackFile, read: ReadFile): IncomingFile[] {
	const url = file.url_private_download ?? file.url_private;
	if (!url) return [];
	const more = { ...(file.mimetype ? { type: file.mimetype } : {}), ...(file.size === undefined ? {} : { size: file.size }) };
	return [{ name: cleanFileName(file.name), ...more, read: (limit, signal) => read(url, limit, signal) }];
}
