/**
 * Matrix, unencrypted, by the client-server API. A message is sent with a transaction id: the same one again is the same event. The place in the stream of
 * events is the gateway's last message of each room, so that nothing is kept here.
 */
import { z } from "zod";
import { wordsOf } from "./failures.js";
import { matrixText } from "./format/matrix.js";
import { MatrixApi } from "./matrix-api.js";
import { type MatrixEvent, matrixIncoming } from "./matrix-incoming.js";
import { Backoff, InOrder, type Pace, USUAL_PACE } from "./pace.js";
import {
	type ChatRef,
	type LastSeen,
	type Outgoing,
	type Platform,
	type PlatformAccount,
	PlatformError,
	type PlatformEvents,
	type PlatformTraits,
} from "./platform.js";

export const matrixSettings = z.strictObject({
	homeserver: z.url(),
	/** Rooms to which anyone invites the bot are joined, unless told otherwise; who may talk is decided per message. */
	join: z.boolean().default(true),
});
export type MatrixSettings = z.infer<typeof matrixSettings>;

const TRAITS: PlatformTraits = {
	limit: { size: 24_000, unit: "bytes" }, // an event has 65,536 with everything, and the text is in it twice
	certainty: "exact",
	edits: true,
	buttons: false,
	files: true,
	typing: true,
	silent: true,
};
const POLL_MS = 30_000;
const CLIENT = "/_matrix/client/v3";
const REMEMBERED = 1000;
const FILTER = JSON.stringify({
	presence: { types: [] },
	account_data: { types: [] },
	room: { ephemeral: { types: [] }, account_data: { types: [] }, state: { lazy_load_members: true }, timeline: { limit: 50 } },
});

interface SyncAnswer {
	readonly next_batch: string;
	readonly rooms?: {
		readonly join?: Readonly<
			Record<
				string,
				{
					timeline?: { events?: MatrixEvent[]; limited?: boolean; prev_batch?: string };
					summary?: { "m.joined_member_count"?: number; "m.invited_member_count"?: number };
				}
			>
		>;
		readonly invite?: Readonly<Record<string, unknown>>;
	};
}

export async function openMatrix(settings: MatrixSettings, secrets: Readonly<Record<string, string>>, pace: Pace = USUAL_PACE): Promise<Platform> {
	return new Matrix(new MatrixApi(settings.homeserver, secrets.token ?? ""), settings, pace);
}

class Matrix implements Platform {
	readonly name = "matrix";
	readonly traits = TRAITS;
	readonly #api: MatrixApi;
	readonly #settings: MatrixSettings;
	readonly #pace: Pace;
	readonly #ours = new Set<string>();
	/** Members of each room, as the server last said. */
	readonly #members = new Map<string, number>();

	constructor(api: MatrixApi, settings: MatrixSettings, pace: Pace) {
		this.#api = api;
		this.#settings = settings;
		this.#pace = pace;
	}

	async account(signal: AbortSignal): Promise<PlatformAccount> {
		const { user_id } = await this.#api.call<{ user_id: string }>("GET", `${CLIENT}/account/whoami`, { signal });
		return { id: user_id, name: user_id, address: user_id };
	}

	async run(on: PlatformEvents, signal: AbortSignal, seen: readonly LastSeen[] = []): Promise<void> {
		const [backoff, queue] = [new Backoff(this.#pace), new InOrder(on, this.#pace, signal)];
		const joined = new Set<string>();
		const [known, floor] = [new Set(seen.map(({ chat }) => chat.id)), Math.max(0, ...seen.map(({ at }) => at))];
		let bot: string | undefined;
		let since: string | undefined;
		let up = false;
		while (!signal.aborted) {
			try {
				bot ??= (await this.account(signal)).id;
				const query: Record<string, string> = { filter: FILTER, timeout: String(up ? POLL_MS : 0), ...(since ? { since } : {}) };
				const answer: SyncAnswer = await this.#api.call<SyncAnswer>("GET", `${CLIENT}/sync`, { query, signal });
				for (const [room, { summary }] of Object.entries(answer.rooms?.join ?? {})) this.#count(room, summary);
				// The first answer is where things stand: what is behind the gateway's last message of a room is read from its history.
				if (since === undefined) for (const last of seen) await this.#catchUp(last, bot, queue, signal);
				for (const [room, { timeline }] of Object.entries(answer.rooms?.join ?? {})) {
					// More was said than one answer holds: what is before it, from where the last answer ended.
					if (since !== undefined && timeline?.limited) await this.#readFrom(room, since, timeline.prev_batch, bot, queue, signal);
					const fresh = (event: MatrixEvent): boolean => !known.has(room) && floor > 0 && (event.origin_server_ts ?? 0) > floor;
					for (const event of timeline?.events ?? []) if (since !== undefined || joined.has(room) || fresh(event)) this.#hear(event, room, bot, queue);
				}
				if (!up) on.connection({ up: true });
				up = true;
				since = answer.next_batch;
				for (const room of this.#settings.join ? Object.keys(answer.rooms?.invite ?? {}) : []) {
					joined.add(room);
					await this.#api.call("POST", `${CLIENT}/join/${encodeURIComponent(room)}`, { body: {}, signal }).catch(() => undefined); // a room that is gone
				}
				backoff.reset();
			} catch (error) {
				if (signal.aborted) return;
				if (error instanceof PlatformError && error.kind === "key") throw error;
				if (up) on.connection({ up: false, why: wordsOf(error) });
				up = false;
				await backoff.wait(signal);
			}
		}
	}

	#count(room: string, summary: { "m.joined_member_count"?: number; "m.invited_member_count"?: number } = {}): void {
		const count = summary["m.joined_member_count"];
		if (count !== undefined) this.#members.set(room, count + (summary["m.invited_member_count"] ?? 0));
	}

	#hear(event: MatrixEvent, id: string, bot: string, queue: InOrder): void {
		const message = matrixIncoming(event, { id, direct: (this.#members.get(id) ?? 3) <= 2, ours: this.#ours }, bot, this.#api);
		if (message) void queue.message(message);
	}

	async #catchUp({ chat, message }: LastSeen, bot: string, queue: InOrder, signal: AbortSignal): Promise<void> {
		const room = `${CLIENT}/rooms/${encodeURIComponent(chat.id)}`;
		try {
			const here = await this.#api.call<{ end?: string }>("GET", `${room}/context/${encodeURIComponent(message)}`, { query: { limit: "0" }, signal });
			if (here.end !== undefined) await this.#readFrom(chat.id, here.end, undefined, bot, queue, signal);
		} catch (error) {
			if (error instanceof PlatformError && (error.kind === "dead" || error.kind === "refused")) return; // the room or the message is gone
			throw error;
		}
	}

	/** Hears what was said in a room, page by page, oldest first. */
	async #readFrom(id: string, from: string, to: string | undefined, bot: string, queue: InOrder, signal: AbortSignal): Promise<void> {
		const path = `${CLIENT}/rooms/${encodeURIComponent(id)}/messages`;
		for (let at: string | undefined = from; at !== undefined; ) {
			const query: Record<string, string> = { from: at, dir: "f", limit: "100", ...(to === undefined ? {} : { to }) };
			const page: { chunk: MatrixEvent[]; end?: string } = await this.#api.call("GET", path, { query, signal });
			for (const event of page.chunk) this.#hear(event, id, bot, queue);
			at = page.chunk.length === 0 ? undefined : page.end;
		}
	}

	async send(out: Outgoing, signal: AbortSignal): Promise<{ readonly id: string }> {
		const content = out.file ? await this.#fileContent(out, out.file, signal) : { msgtype: "m.text", ...matrixText(out.text), "m.mentions": {} };
		if (!out.file && content.body === "") throw new PlatformError("refused", "Matrix takes no empty message");
		// A notice does not ring; it is how bots say what is no answer.
		const silent = out.rings || out.file ? {} : { msgtype: "m.notice" };
		return this.#put(out.chat, out.id, { ...content, ...silent, ...relationOf(out) }, signal);
	}

	async edit(message: string, out: Outgoing, signal: AbortSignal): Promise<void> {
		const content = { msgtype: out.rings ? "m.text" : "m.notice", ...matrixText(out.text), "m.mentions": {} };
		const changed = { ...content, body: `* ${content.body}`, "m.new_content": content, "m.relates_to": { rel_type: "m.replace", event_id: message } };
		const { createHash } = await import("node:crypto");
		const version = createHash("sha256").update(out.text).digest("hex").slice(0, 16); // the same edit again is the same event
		await this.#put(out.chat, `${out.id}_${version}`, changed, signal);
	}

	async #put(chat: ChatRef, transaction: string, content: object, signal: AbortSignal): Promise<{ readonly id: string }> {
		const path = `${CLIENT}/rooms/${encodeURIComponent(chat.id)}/send/m.room.message/${encodeURIComponent(transaction)}`;
		const { event_id: id } = await this.#api.call<{ event_id: string }>("PUT", path, { body: content, signal });
		this.#ours.add(id);
		if (this.#ours.size > REMEMBERED) for (const old of this.#ours) if (this.#ours.delete(old)) break;
		return { id };
	}

	async #fileContent(out: Outgoing, file: NonNullable<Outgoing["file"]>, signal: AbortSignal): Promise<{ body: string }> {
		const type = file.type ?? "application/octet-stream";
		const query: Record<string, string> = { filename: file.name };
		const upload = { query, signal, bytes: { data: file.bytes, type } };
		const { content_uri: url } = await this.#api.call<{ content_uri: string }>("POST", "/_matrix/media/v3/upload", upload).catch((error: PlatformError) => {
			// The upload shows nothing to anyone: whatever became of it, the message was not sent.
			throw error.kind === "unsure" ? new PlatformError("not-sent", error.message, { cause: error }) : error;
		});
		const text = out.text.trim() === "" ? { body: file.name } : matrixText(out.text);
		return { msgtype: "m.file", ...text, filename: file.name, url, info: { mimetype: type, size: file.bytes.length } } as { body: string };
	}

	async typing(chat: ChatRef, signal: AbortSignal): Promise<void> {
		const { id } = await this.account(signal);
		const path = `${CLIENT}/rooms/${encodeURIComponent(chat.id)}/typing/${encodeURIComponent(id)}`;
		await this.#api.call("PUT", path, { body: { typing: true, timeout: 10_000 }, signal });
	}

	measure(markdown: string): number {
		const { body, formatted_body = "" } = matrixText(markdown);
		return Math.max(Buffer.byteLength(body), Buffer.byteLength(formatted_body));
	}
}

function relationOf({ chat, replyTo }: Outgoing): object {
	const reply = replyTo ? { "m.in_reply_to": { event_id: replyTo } } : {};
	if (chat.thread) return { "m.relates_to": { rel_type: "m.thread", event_id: chat.thread, is_falling_back: !replyTo, ...reply } };
	return replyTo ? { "m.relates_to": reply } : {};
}
