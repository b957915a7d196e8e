/** Reads messages of people in Matrix rooms. */
import { download } from "./download.js";
import type { MatrixApi } from "./matrix-api.js";
import { cleanFileName, cleanName } from "./names.js";
import type { Incoming, IncomingFile } from "./platform.js";

export interface MatrixEvent {
	readonly type?: string;
	readonly event_id?: string;
	readonly sender?: string;
	readonly state_key?: string;
	readonly origin_server_ts?: number;
	readonly content?: {
		readonly msgtype?: string;
		readonly membership?: string;
		readonly is_direct?: boolean;
		readonly body?: string;
		readonly filename?: string;
		readonly url?: string;
		readonly info?: { readonly mimetype?: string; readonly size?: number };
		readonly "m.mentions"?: { readonly user_ids?: readonly string[] };
		readonly "m.relates_to"?: { readonly rel_type?: string; readonly event_id?: string; readonly "m.in_reply_to"?: { readonly event_id?: string } };
	};
}

export interface MatrixRoom {
	readonly id: string;
	/** Two people in it. */
	readonly direct: boolean;
	/** Ids of messages of ours, for replies to them. */
	readonly ours: ReadonlySet<string>;
}

const TEXTS = new Set(["m.text", "m.emote"]);
const FILES = new Set(["m.file", "m.image", "m.audio", "m.video"]);

/** Returns undefined for what is no message of a person: notices are of bots, and edits change what was answered already. */
export function matrixIncoming(event: MatrixEvent, room: MatrixRoom, bot: string, api: MatrixApi): Incoming | undefined {
	const { content = {}, sender, event_id: id } = event;
	const relation = content["m.relates_to"];
	const type = content.msgtype ?? "";
	if (event.type !== "m.room.message" || !id || !sender || sender === bot || relation?.rel_type === "m.replace" || !(TEXTS.has(type) || FILES.has(type)))
		return undefined;
	const files = FILES.has(type) ? filesOf(content, api) : [];
	const caption = FILES.has(type) && (content.filename === undefined || content.filename === content.body) ? "" : (content.body ?? "");
	const answered = relation?.["m.in_reply_to"]?.event_id;
	const said = withoutQuote(caption, answered !== undefined);
	const name = localOf(bot);
	const mentioned =
		content["m.mentions"]?.user_ids?.includes(bot) === true || said.includes(bot) || new RegExp(`(?:^|\\W)${escapeRegExp(name)}(?:\\W|$)`, "i").test(said);
	const text = said.replace(new RegExp(`^(?:${escapeRegExp(bot)}|@?${escapeRegExp(name)})[:,]?\\s+`, "i"), "").trim();
	if (text === "" && files.length === 0) return undefined;
	const person = cleanName(localOf(sender));
	return {
		id,
		chat: {
			id: room.id,
			kind: room.direct ? "direct" : "group",
			...(relation?.rel_type === "m.thread" && relation.event_id ? { thread: relation.event_id } : {}),
		},
		person: { id: sender, ...(person ? { name: person } : {}) },
		text,
		at: event.origin_server_ts ?? Date.now(),
		...(answered ? { replyTo: answered } : {}),
		addressed: room.direct || mentioned || (answered !== undefined && room.ours.has(answered)),
		files,
	};
}

function filesOf({ url = "", body, filename, info }: NonNullable<MatrixEvent["content"]>, api: MatrixApi): IncomingFile[] {
	const [, server, media] = /^mxc:\/\/([^/]+)\/([^/]+)$/.exec(url) ?? [];
	if (!server || !media) return [];
	const from = `${api.homeserver}/_matrix/client/v1/media/download/${encodeURIComponent(server)}/${encodeURIComponent(media)}`;
	return [
		{
			name: cleanFileName(filename ?? body),
			...(info?.mimetype ? { type: info.mimetype } : {}),
			...(info?.size === undefined ? {} : { size: info.size }),
			read: (limit, signal) => download(from, { platform: "the Matrix server", limit, signal, headers: api.headers }),
		},
	];
}

/** Older clients put what they answer in front, line by line. */
const withoutQuote = (body: string, reply: boolean): string => (reply ? body.replace(/^(?:> .*\n)+\n?/, "") : body);
const localOf = (user: string): string => user.replace(/^@/, "").split(":")[0] ?? user;
const escapeRegExp = (text: string): string => text.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
