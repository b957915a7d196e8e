/**
 * Slack, over Socket Mode: no address that Slack must reach. An event is acknowledged when the gateway has stored it. A message carries our id as metadata, by
 * which the history of its channel tells whether it is there.
 */
import type { SocketModeClient } from "@slack/socket-mode";
import type { KnownBlock, WebClient } from "@slack/web-api";
import { z } from "zod";
import { ChatHistory } from "./chat-history.js";
import { download } from "./download.js";
import { wordsOf } from "./failures.js";
import { slackText } from "./format/slack.js";
import { loadPackage } from "./optional.js";
import { Backoff, type Pace, USUAL_PACE } from "./pace.js";
import {
	type Incoming,
	type LastSeen,
	type Outgoing,
	type Platform,
	type PlatformAccount,
	PlatformError,
	type PlatformEvents,
	type PlatformTraits,
} from "./platform.js";
import { fromSlackError } from "./slack-errors.js";
import { type HistoryMessage, historyOf } from "./slack-history.js";
import { type SlackMessage, type SlackPress, slackIncoming, slackTap, tsOf } from "./slack-incoming.js";

export const slackSettings = z.strictObject({
	/** Another API than Slack's own. */
	apiUrl: z.url().optional(),
});
export type SlackSettings = z.infer<typeof slackSettings>;

const TRAITS: PlatformTraits = {
	limit: { size: 4000, unit: "characters" }, // more is taken for a message, but not for an edit
	certainty: "lookup",
	edits: true,
	buttons: true,
	files: true,
	typing: false,
	silent: false,
};
const SECTION = 3000;
const TIMEOUT_MS = 60_000;
const LOOK_BACK_MS = 25 * 60 * 60 * 1000;
const EVENT = "holdfast_delivery";

export async function openSlack(settings: SlackSettings, secrets: Readonly<Record<string, string>>, pace: Pace = USUAL_PACE): Promise<Platform> {
	const [socket, web] = await loadPackage("Slack", ["@slack/socket-mode", "@slack/web-api", "undici@7"], () =>
		Promise.all([import("@slack/socket-mode"), import("@slack/web-api")]),
	);
	const slackApiUrl = settings.apiUrl ?? "https://slack.com/api/";
	const options = { slackApiUrl, retryConfig: { retries: 0 }, rejectRateLimitedCalls: true, timeout: TIMEOUT_MS };
	const client = new web.WebClient(secrets.botToken, { ...options, logger: SILENT });
	const connect = (): SocketModeClient =>
		new socket.SocketModeClient({ appToken: secrets.appToken ?? "", autoReconnectEnabled: false, logger: SILENT, clientOptions: options });
	return new Slack(client, connect, { token: secrets.botToken ?? "", host: new URL(slackApiUrl).hostname }, pace);
}

class Slack implements Platform {
	readonly name = "slack";
	readonly traits = TRAITS;
	readonly #web: WebClient;
	readonly #connect: () => SocketModeClient;
	readonly #files: { readonly token: string; readonly host: string };
	readonly #pace: Pace;

	constructor(web: WebClient, connect: () => SocketModeClient, files: { readonly token: string; readonly host: string }, pace: Pace) {
		this.#web = web;
		this.#connect = connect;
		this.#files = files;
		this.#pace = pace;
	}

	async account(signal: AbortSignal): Promise<PlatformAccount> {
		const me = await call(() => this.#web.auth.test(), signal);
		return { id: me.user_id ?? "", name: me.user ?? "", address: `@${me.user} in ${me.team ?? "Slack"}` };
	}

	async run(on: PlatformEvents, signal: AbortSignal, seen: readonly LastSeen[] = []): Promise<void> {
		const backoff = new Backoff(this.#pace);
		let bot: string | undefined;
		const chats = new ChatHistory(on, this.#pace, signal, (last, end) => this.#behind(last, bot ?? "", end), seen);
		while (!signal.aborted) {
			const socket = this.#connect();
			try {
				bot ??= (await this.account(signal)).id;
				const closed = new Promise<void>((resolve) => socket.once("disconnected", () => resolve()));
				chats.connecting();
				this.#hear(socket, bot, chats);
				await call(() => socket.start(), signal);
				on.connection({ up: true });
				backoff.reset();
				void chats.catchUp();
				const quit = (): void => void socket.disconnect();
				signal.addEventListener("abort", quit);
				if (signal.aborted) quit();
				await closed;
				signal.removeEventListener("abort", quit);
				if (!signal.aborted) on.connection({ up: false, why: "Slack closed the connection" });
			} catch (error) {
				void socket.disconnect().catch(() => undefined);
				if (signal.aborted) return;
				const failure = fromSlackError(error);
				if (failure.kind === "key") throw failure;
				on.connection({ up: false, why: wordsOf(failure) });
			}
			await backoff.wait(signal);
		}
	}

	#hear(socket: SocketModeClient, bot: string, chats: ChatHistory): void {
		const heard = async ({ event, ack }: { event: SlackMessage; ack: () => Promise<void> }): Promise<void> => {
			const message = slackIncoming(event, bot, (url, limit, signal) => this.#read(url, limit, signal));
			// Without an acknowledgement, on a line that was cut, Slack delivers it again.
			if (!message || (await chats.message(message))) await ack().catch(() => undefined);
		};
		socket.on("message", (event) => void heard(event));
		socket.on("app_mention", (event) => void heard(event));
		socket.on("interactive", ({ body, ack }: { body: SlackPress; ack: () => Promise<void> }) => {
			const show = async (text: string): Promise<void> => {
				await this.#web.chat.postEphemeral({ channel: body.channel?.id ?? "", user: body.user?.id ?? "", text }).catch(() => undefined);
			};
			const tap = slackTap(body, show);
			void (tap ? chats.tapped(tap) : Promise.resolve(true)).then(async (stored) => {
				if (stored) await ack().catch(() => undefined);
			});
		});
	}

	/** Slack delivers an event again for some minutes only; the history has it for longer. */
	async *#behind({ chat, message }: LastSeen, bot: string, signal: AbortSignal): AsyncGenerator<Incoming> {
		const found: HistoryMessage[] = [];
		for await (const page of historyOf(this.#web, chat, tsOf(message), signal)) found.push(...page);
		for (const one of found.sort((a, b) => Number(a.ts) - Number(b.ts))) {
			const type = chat.kind === "direct" ? { channel_type: "im" } : {};
			const incoming = slackIncoming({ ...one, ...type, channel: chat.id }, bot, (url, limit, end) => this.#read(url, limit, end));
			if (incoming && incoming.id !== message) yield incoming;
		}
	}

	async send(out: Outgoing, signal: AbortSignal): Promise<{ readonly id: string }> {
		const thread = out.chat.thread ? { thread_ts: out.chat.thread } : {};
		const text = slackText(out.text);
		if (out.file) {
			const { name, bytes } = out.file;
			const where = { channel_id: out.chat.id, ...thread, ...(text === "" ? {} : { initial_comment: text }) };
			const upload = (): Promise<unknown> =>
				this.#web.filesUploadV2({ ...where, file: Buffer.from(bytes), filename: name, title: name } as Parameters<WebClient["filesUploadV2"]>[0]);
			const answer = (await call(upload, signal)) as { files?: { files?: { id?: string }[] }[] };
			return { id: `${out.chat.id}:${answer.files?.[0]?.files?.[0]?.id ?? out.id}` };
		}
		const metadata = { event_type: EVENT, event_payload: { id: out.id } };
		const options = { channel: out.chat.id, text, ...thread, metadata, unfurl_links: false, unfurl_media: false, ...blocksOf(out, text) };
		const sent = await call(() => this.#web.chat.postMessage(options), signal);
		return { id: `${out.chat.id}:${sent.ts}` };
	}

	async edit(message: string, out: Outgoing, signal: AbortSignal): Promise<void> {
		const text = slackText(out.text);
		const metadata = { event_type: EVENT, event_payload: { id: out.id } };
		await call(() => this.#web.chat.update({ channel: out.chat.id, ts: tsOf(message), text, metadata, blocks: [], ...blocksOf(out, text) }), signal);
	}

	async find(out: Outgoing, signal: AbortSignal): Promise<{ readonly id: string } | undefined> {
		const since = String((Date.now() - LOOK_BACK_MS) / 1000);
		const isOurs = ({ metadata, files, bot_id, text }: HistoryMessage): boolean => {
			if (!out.file) return metadata?.event_payload?.id === out.id;
			// A file has no metadata: the same name and size with the same words, from a bot.
			const same = files?.some(({ name, size }) => name === out.file?.name && size === out.file?.bytes.length);
			return bot_id !== undefined && same === true && (text ?? "") === slackText(out.text);
		};
		for await (const page of historyOf(this.#web, out.chat, since, signal)) {
			const found = page.find(isOurs);
			if (found) return { id: `${out.chat.id}:${found.ts}` };
		}
		return undefined;
	}

	measure(markdown: string): number {
		return slackText(markdown).length;
	}

	/** The token goes to Slack alone. */
	async #read(url: string, limit: number, signal: AbortSignal): Promise<Uint8Array> {
		const { hostname } = new URL(url);
		const ours = hostname === this.#files.host || hostname === "slack.com" || hostname.endsWith(".slack.com");
		return download(url, { platform: "Slack", limit, signal, ...(ours ? { headers: { authorization: `Bearer ${this.#files.token}` } } : {}) });
	}
}

/** Text and buttons as blocks; without buttons the text alone will do. */
function blocksOf(out: Outgoing, text: string): { blocks?: KnownBlock[] } {
	if (!out.buttons?.length) return {};
	const parts: string[] = [];
	for (let rest = text; rest !== ""; ) {
		const at = rest.length <= SECTION ? rest.length : Math.max(rest.lastIndexOf("\n", SECTION), 1);
		parts.push(rest.slice(0, at > 1 ? at : SECTION));
		rest = rest.slice(at > 1 ? at : SECTION);
	}
	const elements = out.buttons.map(({ label, data }, at) => ({
		type: "button" as const,
		action_id: `button_${at}`,
		text: { type: "plain_text" as const, text: label.slice(0, 75) },
		value: data,
	}));
	return {
		blocks: [...parts.map((part) => ({ type: "section" as const, text: { type: "mrkdwn" as const, text: part } })), { type: "actions" as const, elements }],
	};
}

async function call<T>(make: () => Promise<T>, signal: AbortSignal): Promise<T> {
	let end: () => void = () => undefined;
	const ended = new Promise<never>((_, reject) => {
		end = () => reject(new PlatformError("unsure", "the sending was ended"));
		signal.addEventListener("abort", end, { once: true });
	});
	try {
		if (signal.aborted) end();
		return await (signal.aborted ? ended : Promise.race([make(), ended]));
	} catch (error) {
		throw fromSlackError(error);
	} finally {
		signal.removeEventListener("abort", end);
	}
}

const nothing = (): void => undefined;
/** Keeps the library from printing: errors and `connection` tell the same. */
const SILENT = { debug: nothing, info: nothing, warn: nothing, error: nothing, setLevel: nothing, getLevel: () => "error" as never, setName: nothing };
