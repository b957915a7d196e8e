/**
 * Telegram, by long polling. An update is confirmed by the next request, which is made when the gateway has stored it. Bots can neither send with an id of
 * their own nor read a history, so what became of a cut `sendMessage` cannot be told; an edit can be repeated.
 */
import type { Api } from "grammy";
import type { Update, User } from "grammy/types";
import { z } from "zod";
import { wordsOf } from "./failures.js";
import { telegramText } from "./format/telegram.js";
import { loadPackage } from "./optional.js";
import { Backoff, type Pace, USUAL_PACE } from "./pace.js";
import { type ChatRef, type Outgoing, type Platform, type PlatformAccount, PlatformError, type PlatformEvents, type PlatformTraits } from "./platform.js";
import { fromTelegram, isModified } from "./telegram-errors.js";
import { idOf, messageOf, tapOf } from "./telegram-incoming.js";

export const telegramSettings = z.strictObject({
	/** Another Bot API server than Telegram's own. */
	apiRoot: z.url().optional(),
});
export type TelegramSettings = z.infer<typeof telegramSettings>;

const TRAITS: PlatformTraits = {
	limit: { size: 4096, unit: "characters" },
	certainty: "fill",
	edits: true,
	buttons: true,
	files: true,
	typing: true,
	silent: true,
};
const CAPTION = 1024;
const POLL_SECONDS = 30;
const REQUEST_SECONDS = 60;
/** A killed gateway's poll can hold the token for as long as it lasts; these tries take longer. */
const CONFLICTS = 6;

export async function openTelegram(settings: TelegramSettings, secrets: { readonly token: string }, pace: Pace = USUAL_PACE): Promise<Platform> {
	const grammy = await loadPackage("Telegram", ["grammy"], () => import("grammy"));
	const root = settings.apiRoot ?? "https://api.telegram.org";
	const api = new grammy.Api(secrets.token, { apiRoot: root, timeoutSeconds: REQUEST_SECONDS });
	return new Telegram(api, `${root}/file/bot${secrets.token}/`, pace, grammy.InputFile);
}

class Telegram implements Platform {
	readonly name = "telegram";
	readonly traits = TRAITS;
	readonly #api: Api;
	readonly #files: string;
	readonly #pace: Pace;
	readonly #InputFile: typeof import("grammy").InputFile;

	constructor(api: Api, files: string, pace: Pace, InputFile: typeof import("grammy").InputFile) {
		this.#api = api;
		this.#files = files;
		this.#pace = pace;
		this.#InputFile = InputFile;
	}

	async account(signal: AbortSignal): Promise<PlatformAccount> {
		const me = await this.#call(() => this.#api.getMe(shim(signal)));
		return { id: String(me.id), name: me.first_name, address: `https://t.me/${me.username}` };
	}

	async run(on: PlatformEvents, signal: AbortSignal): Promise<void> {
		const backoff = new Backoff(this.#pace);
		let [offset, me, up, conflicts]: [number, User | undefined, boolean, number] = [0, undefined, false, 0];
		while (!signal.aborted) {
			try {
				me ??= await this.#api.getMe(shim(signal));
				// After a failure the first poll returns at once, so that the state of the connection is known.
				const updates = await this.#api.getUpdates({ offset, timeout: up ? POLL_SECONDS : 0, allowed_updates: ["message", "callback_query"] }, shim(signal));
				if (!up) on.connection({ up: true });
				[up, conflicts] = [true, 0];
				for (const update of updates) {
					await this.#store(update, me, on);
					offset = update.update_id + 1;
				}
				backoff.reset();
			} catch (error) {
				if (signal.aborted) return;
				const failure = error instanceof NotStored ? error : fromTelegram(error);
				if (failure instanceof PlatformError && failure.kind === "key") throw failure;
				if (failure instanceof PlatformError && failure.kind === "taken" && (/webhook/.test(failure.message) || ++conflicts >= CONFLICTS)) throw failure;
				if (up && !(failure instanceof NotStored)) on.connection({ up: false, why: wordsOf(failure) });
				up = up && failure instanceof NotStored;
				await backoff.wait(signal);
			}
		}
	}

	async #store(update: Update, me: User, on: PlatformEvents): Promise<void> {
		try {
			const message = update.message && messageOf(update.message, me, (id, limit, signal) => this.#read(id, limit, signal));
			if (message) await on.message(message);
			let shown = false;
			const show = async (text?: string): Promise<void> => {
				shown = true;
				await this.#api.answerCallbackQuery(update.callback_query?.id ?? "", text ? { text: text.slice(0, 200) } : {}).catch(() => undefined);
			};
			const tap = update.callback_query && tapOf(update.callback_query, show);
			if (tap) await on.tapped(tap);
			if (update.callback_query && !shown) void show(); // else the button shows for a minute that it works
		} catch (error) {
			throw new NotStored("the gateway could not store the message", { cause: error });
		}
	}

	async send(out: Outgoing, signal: AbortSignal): Promise<{ readonly id: string }> {
		const { text, entities } = telegramText(out.text);
		const common = {
			...(out.chat.thread ? { message_thread_id: Number(out.chat.thread) } : {}),
			...(out.rings ? {} : { disable_notification: true }),
			...(out.replyTo ? { reply_parameters: { message_id: idOf(out.replyTo), allow_sending_without_reply: true } } : {}),
			...(out.buttons?.length ? { reply_markup: keyboard(out) } : {}),
		};
		if (out.file) {
			if (text.length > CAPTION)
				throw new PlatformError("refused", `Telegram takes at most ${CAPTION} characters with a file; send the text as a message of its own`);
			const file = new this.#InputFile(out.file.bytes, out.file.name);
			const caption = text === "" ? {} : { caption: text, caption_entities: entities };
			const sent = await this.#call(() => this.#api.sendDocument(chatOf(out.chat), file, { ...common, ...caption }, shim(signal)));
			return { id: `${sent.chat.id}:${sent.message_id}` };
		}
		const options = { ...common, entities, link_preview_options: { is_disabled: true } };
		const sent = await this.#call(() => this.#api.sendMessage(chatOf(out.chat), text, options, shim(signal)));
		return { id: `${sent.chat.id}:${sent.message_id}` };
	}

	async edit(message: string, out: Outgoing, signal: AbortSignal): Promise<void> {
		const { text, entities } = telegramText(out.text);
		const options = { entities, link_preview_options: { is_disabled: true }, ...(out.buttons?.length ? { reply_markup: keyboard(out) } : {}) };
		try {
			await this.#api.editMessageText(chatOf(out.chat), idOf(message), text, options, shim(signal));
		} catch (error) {
			if (!isModified(error)) return;
			throw fromTelegram(error);
		}
	}

	async typing(chat: ChatRef, signal: AbortSignal): Promise<void> {
		const thread = chat.thread ? { message_thread_id: Number(chat.thread) } : {};
		await this.#call(() => this.#api.sendChatAction(chatOf(chat), "typing", thread, shim(signal)));
	}

	measure(markdown: string): number {
		return telegramText(markdown).text.length;
	}

	async #read(id: string, limit: number, signal: AbortSignal): Promise<Uint8Array> {
		const { file_path, file_size } = await this.#call(() => this.#api.getFile(id, shim(signal)));
		if (file_path === undefined || (file_size ?? 0) > limit) throw new PlatformError("refused", `the file is larger than ${limit} bytes`);
		const { download } = await import("./download.js");
		return await download(`${this.#files}${file_path}`, { platform: "Telegram", limit, signal });
	}

	async #call<T>(call: () => Promise<T>): Promise<T> {
		try {
			return await call();
		} catch (error) {
			throw fromTelegram(error);
		}
	}
}

/** The update stays unconfirmed, so Telegram delivers it again. */
class NotStored extends Error {}

/** grammy's types want the signal of a package that stands in for Node's own. */
const shim = (signal: AbortSignal): Parameters<Api["getMe"]>[0] => signal as unknown as Parameters<Api["getMe"]>[0];

const chatOf = ({ id }: ChatRef): number | string => (/^-?\d+$/.test(id) ? Number(id) : id);

/** Two in a row: four labels on one are cut short on a phone. */
function keyboard({ buttons = [] }: Outgoing): { inline_keyboard: { text: string; callback_data: string }[][] } {
	const all = buttons.map(({ label, data }) => ({ text: label, callback_data: data }));
	return { inline_keyboard: Array.from({ length: Math.ceil(all.length / 2) }, (_, row) => all.slice(row * 2, row * 2 + 2)) };
}
