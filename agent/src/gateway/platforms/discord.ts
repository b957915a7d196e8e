/**
 * Discord. A message carries a nonce: the same one again, within some minutes, is the same message. The gateway has no acknowledgements, so what was not stored
 * when a gateway ended is read from the history of the channels that it knew.
 */
import { createHash } from "node:crypto";
import type { APIMessage, Client, GatewayDispatchPayload, GatewayInteractionCreateDispatchData, REST } from "discord.js";
import { z } from "zod";
import { ChatHistory } from "./chat-history.js";
import { fromClose, fromDiscord } from "./discord-errors.js";
import { discordIncoming, discordTap } from "./discord-incoming.js";
import { wordsOf } from "./failures.js";
import { discordText } from "./format/discord.js";
import { loadPackage } from "./optional.js";
import { Backoff, type Pace, USUAL_PACE } from "./pace.js";
import type { ChatRef, Incoming, LastSeen, Outgoing, Platform, PlatformAccount, PlatformEvents, PlatformTraits } from "./platform.js";

export const discordSettings = z.strictObject({
	/** Another API than Discord's own. */
	api: z.url().optional(),
});
export type DiscordSettings = z.infer<typeof discordSettings>;

const TRAITS: PlatformTraits = {
	limit: { size: 2000, unit: "characters" },
	certainty: "exact",
	edits: true,
	buttons: true,
	files: true,
	typing: true,
	silent: true,
};
/** The events that the bot hears: servers (for their channels), messages in them, direct messages, and the text of messages. */
const INTENTS = (1 << 0) | (1 << 9) | (1 << 12) | (1 << 15);
const [NO_EMBEDS, SILENT, FOR_ONE] = [1 << 2, 1 << 12, 1 << 6];
const PAGE = 100;

type Library = typeof import("discord.js");

export async function openDiscord(settings: DiscordSettings, secrets: Readonly<Record<string, string>>, pace: Pace = USUAL_PACE): Promise<Platform> {
	const lib = await loadPackage("Discord", ["discord.js"], () => import("discord.js"));
	const rest = {
		...(settings.api ? { api: settings.api } : {}),
		retries: 0,
		rejectOnRateLimit: ["/"],
		timeout: 60_000,
		hashSweepInterval: 0,
		handlerSweepInterval: 0,
	};
	const makeCache = lib.Options.cacheWithLimits({ MessageManager: 0, ReactionManager: 0, PresenceManager: 0 });
	const connect = (): Client => new lib.Client({ intents: INTENTS, rest, makeCache });
	return new Discord(lib, new lib.REST(rest).setToken(secrets.token ?? ""), connect, secrets.token ?? "", pace);
}

class Discord implements Platform {
	readonly name = "discord";
	readonly traits = TRAITS;
	readonly #rest: REST;
	readonly #routes: Library["Routes"];
	readonly #connect: () => Client;
	readonly #token: string;
	readonly #pace: Pace;

	constructor({ Routes }: Library, rest: REST, connect: () => Client, token: string, pace: Pace) {
		this.#rest = rest;
		this.#routes = Routes;
		this.#connect = connect;
		this.#token = token;
		this.#pace = pace;
	}

	async account(signal: AbortSignal): Promise<PlatformAccount> {
		const me = await this.#call<{ id: string; username: string }>("GET", this.#routes.user(), { signal });
		return { id: me.id, name: me.username, address: `@${me.username}` };
	}

	async run(on: PlatformEvents, signal: AbortSignal, seen: readonly LastSeen[] = []): Promise<void> {
		const backoff = new Backoff(this.#pace);
		let bot: string | undefined;
		const chats = new ChatHistory(on, this.#pace, signal, (last, end) => this.#behind(last, bot ?? "", end), seen);
		while (!signal.aborted) {
			const client = this.#connect();
			try {
				bot ??= (await this.account(signal)).id;
				await this.#stay(client, bot, { on, chats, backoff, signal });
			} catch (error) {
				if (signal.aborted) return;
				const failure = fromDiscord(error);
				if (failure.kind === "key") throw failure;
				on.connection({ up: false, why: wordsOf(failure) });
			} finally {
				await client.destroy().catch(() => undefined);
			}
			await backoff.wait(signal);
		}
	}

	/** Stays connected; the library reconnects by itself. Rejects when it has given up. */
	async #stay(client: Client, bot: string, run: DiscordRun): Promise<void> {
		const { on, chats, signal } = run;
		let quit = (): void => undefined;
		await new Promise<void>((resolve, reject) => {
			quit = resolve;
			signal.addEventListener("abort", quit);
			client.on(
				"raw" as never,
				((packet: GatewayDispatchPayload) => {
					const incoming = packet.t === "MESSAGE_CREATE" && discordIncoming(packet.d, bot);
					if (incoming) void chats.message(incoming);
					if (packet.t === "INTERACTION_CREATE") void this.#pressed(packet.d, chats);
					if (packet.t === "RESUMED") on.connection({ up: true });
					if (packet.t !== "READY") return;
					run.backoff.reset();
					on.connection({ up: true });
					chats.connecting(); // a new session: what was said since the last one is in the history alone
					void chats.catchUp();
				}) as never,
			);
			client.on("error", () => undefined); // the end of the connection comes as well
			client.on("shardError", () => undefined);
			client.on("shardReconnecting", () => on.connection({ up: false, why: "Discord closed the connection" }));
			client.on("shardDisconnect", ({ code }) => reject(fromClose(code) ?? new Error(`Discord closed the connection (${code})`)));
			client.login(this.#token).catch(reject);
		}).finally(() => signal.removeEventListener("abort", quit));
	}

	async *#behind({ chat, message }: LastSeen, bot: string, signal: AbortSignal): AsyncGenerator<Incoming> {
		for (let after = message; ; ) {
			const query = new URLSearchParams({ after, limit: String(PAGE) });
			const found = await this.#call<APIMessage[]>("GET", this.#routes.channelMessages(chat.id), { query, signal });
			const page = found.sort((a, b) => (BigInt(a.id) < BigInt(b.id) ? -1 : 1));
			for (const one of page) {
				const incoming = discordIncoming({ ...one, ...(chat.kind === "group" ? { guild_id: "0" } : {}) } as Parameters<typeof discordIncoming>[0], bot);
				if (incoming) yield incoming;
			}
			if (page.length < PAGE) return;
			after = page.at(-1)?.id ?? after;
		}
	}

	async #pressed(press: GatewayInteractionCreateDispatchData, chats: ChatHistory): Promise<void> {
		let answered = false;
		const answer = async (body: object): Promise<void> => {
			const route = answered ? this.#routes.webhook(press.application_id, press.token) : this.#routes.interactionCallback(press.id, press.token);
			const [first, follow] = [{ type: 4, data: body }, body];
			const sent = answered ? follow : first;
			answered = true;
			await this.#call("POST", route, { body: sent, auth: false }).catch(() => undefined);
		};
		const tap = discordTap(press, (text) => answer({ content: text.slice(0, 2000), flags: FOR_ONE }));
		if (!tap) return;
		const stored = await chats.tapped(tap);
		if (!stored || answered) return;
		answered = true;
		await this.#call("POST", this.#routes.interactionCallback(press.id, press.token), { body: { type: 6 }, auth: false }).catch(() => undefined);
	}

	async send(out: Outgoing, signal: AbortSignal): Promise<{ readonly id: string }> {
		const reply = out.replyTo ? { message_reference: { message_id: out.replyTo, fail_if_not_exists: false } } : {};
		const body = { ...bodyOf(out), nonce: nonceOf(out.id), enforce_nonce: true, flags: NO_EMBEDS | (out.rings ? 0 : SILENT), ...reply };
		const files = out.file
			? { files: [{ name: out.file.name, data: Buffer.from(out.file.bytes), ...(out.file.type ? { contentType: out.file.type } : {}) }] }
			: {};
		return { id: (await this.#call<APIMessage>("POST", this.#routes.channelMessages(out.chat.id), { body, ...files, signal })).id };
	}

	async edit(message: string, out: Outgoing, signal: AbortSignal): Promise<void> {
		await this.#call("PATCH", this.#routes.channelMessage(out.chat.id, message), { body: bodyOf(out), signal });
	}

	/** For what is older than the minutes in which a nonce counts: whether it is among the last hundred messages. */
	async find(out: Outgoing, signal: AbortSignal): Promise<{ readonly id: string } | undefined> {
		const query = new URLSearchParams({ limit: String(PAGE) });
		const found = await this.#call<APIMessage[]>("GET", this.#routes.channelMessages(out.chat.id), { query, signal });
		const ours = found.find(({ nonce }) => nonce === nonceOf(out.id));
		return ours && { id: ours.id };
	}

	async typing(chat: ChatRef, signal: AbortSignal): Promise<void> {
		await this.#call("POST", this.#routes.channelTyping(chat.id), { signal });
	}

	measure(markdown: string): number {
		return discordText(markdown).length;
	}

	async #call<T>(method: "GET" | "POST" | "PATCH", fullRoute: `/${string}`, { signal, ...options }: DiscordCall): Promise<T> {
		// One of its own: the library leaves its listener on the signal that it is given, and that of a gateway lives for months.
		const own = new AbortController();
		const end = (): void => own.abort(signal?.reason);
		signal?.addEventListener("abort", end);
		if (signal?.aborted) end();
		try {
			return (await this.#rest.request({ method, fullRoute, ...options, signal: own.signal } as Parameters<REST["request"]>[0])) as T;
		} catch (error) {
			throw fromDiscord(error);
		} finally {
			signal?.removeEventListener("abort", end);
		}
	}
}

type DiscordCall = Partial<Pick<Parameters<REST["request"]>[0], "query" | "body" | "files" | "auth">> & { readonly signal?: AbortSignal };

interface DiscordRun {
	readonly on: PlatformEvents;
	readonly chats: ChatHistory;
	readonly backoff: Backoff;
	readonly signal: AbortSignal;
}

/** No name in a text of the model calls anyone. */
function bodyOf(out: Outgoing): object {
	const buttons = (out.buttons ?? []).map(({ label, data }) => ({ type: 2, style: 2, label: label.slice(0, 80), custom_id: data }));
	const rows = Array.from({ length: Math.ceil(buttons.length / 5) }, (_, row) => ({ type: 1, components: buttons.slice(row * 5, row * 5 + 5) }));
	return { content: discordText(out.text), components: rows, allowed_mentions: { parse: [] } };
}

/** At most 25 characters. */
const nonceOf = (id: string): string => createHash("sha256").update(id).digest("hex").slice(0, 25);
