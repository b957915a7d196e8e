/** A double of the Telegram Bot API, as far as a gateway uses it. A method or field that it does not know is noted, and fails the test. */
import http from "node:http";
import type { AddressInfo } from "node:net";

export interface TelegramFault {
	readonly method: string;
	readonly kind: "429" | "500" | "cut-before" | "cut-after";
	readonly seconds?: number;
	readonly marker?: string;
}

interface TgMessage {
	message_id: number;
	date: number;
	chat: { id: number; type: string; title?: string; first_name?: string };
	from?: { id: number; is_bot: boolean; first_name: string; username?: string };
	text?: string;
	caption?: string;
	entities?: unknown[];
	reply_markup?: { inline_keyboard: { text: string; callback_data: string }[][] };
	document?: { file_id: string; file_name: string; mime_type: string; file_size: number };
	[more: string]: unknown;
}

type Body = Record<string, unknown>;

const FIELDS: Readonly<Record<string, readonly string[]>> = {
	getMe: [],
	getUpdates: ["offset", "timeout", "allowed_updates"],
	sendMessage: ["chat_id", "text", "entities", "reply_markup", "disable_notification", "reply_parameters", "message_thread_id", "link_preview_options"],
	sendDocument: ["chat_id", "document", "caption", "caption_entities", "reply_markup", "disable_notification", "reply_parameters", "message_thread_id"],
	editMessageText: ["chat_id", "message_id", "text", "entities", "reply_markup", "link_preview_options"],
	answerCallbackQuery: ["callback_query_id", "text"],
	sendChatAction: ["chat_id", "action", "message_thread_id"],
	getFile: ["file_id"],
};

export const BOT = { id: 1, is_bot: true, first_name: "Holdfast", username: "holdfast_bot" };

export class TelegramDouble {
	readonly strange: string[] = [];
	readonly calls: { method: string; body: Body }[] = [];
	readonly sent: TgMessage[] = [];
	readonly faults: TelegramFault[] = [];
	readonly dead = new Set<number>();
	readonly toasts: string[] = [];
	token = "1:TEST";
	/** Another program polls. */
	taken: "poll" | "webhook" | undefined;
	readonly #files = new Map<string, Uint8Array>();
	readonly #queue: ({ update_id: number } & Body)[] = [];
	readonly #waiting = new Set<() => void>();
	#updates = 100;
	#messages = 1;
	readonly #server = http.createServer((request, response) => void this.#answer(request, response));

	async listen(): Promise<string> {
		await new Promise<void>((resolve) => this.#server.listen(0, "127.0.0.1", resolve));
		return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
	}

	close(): Promise<void> {
		this.#server.closeAllConnections();
		return new Promise((resolve) => this.#server.close(() => resolve()));
	}

	/** Cuts all connections, also those that wait for updates. */
	drop(): void {
		this.#server.closeAllConnections();
	}

	/** What waits, confirmed or not yet told. */
	get waiting(): number {
		return this.#queue.length;
	}

	say(chat: number, text: string, more: Body = {}): number {
		const id = this.#messages++;
		const from = { id: chat, is_bot: false, first_name: "Jo" };
		const commands = text.startsWith("/") ? { entities: [{ type: "bot_command", offset: 0, length: text.split(" ")[0]?.length ?? 0 }] } : {};
		this.push({
			message: { message_id: id, date: Math.floor(Date.now() / 1000), chat: { id: chat, type: "private", first_name: "Jo" }, from, text, ...commands, ...more },
		});
		return id;
	}

	sayWithFile(chat: number, caption: string, name: string, bytes: Uint8Array): void {
		const file_id = `file${this.#files.size}`;
		this.#files.set(file_id, bytes);
		this.say(chat, "", { text: undefined, caption, document: { file_id, file_name: name, mime_type: "text/plain", file_size: bytes.length } });
	}

	tap(chat: number, message: number, data: string): void {
		const on = this.sent.find((one) => one.message_id === message && one.chat.id === chat);
		this.push({ callback_query: { id: `cb${this.#updates}`, from: { id: chat, is_bot: false, first_name: "Jo" }, chat_instance: "1", data, message: on } });
	}

	push(update: Body): void {
		this.#queue.push({ update_id: this.#updates++, ...update });
		for (const wake of this.#waiting) wake();
	}

	fileOf(message: TgMessage): Uint8Array | undefined {
		return this.#files.get(message.document?.file_id ?? "");
	}

	async #answer(request: http.IncomingMessage, response: http.ServerResponse): Promise<void> {
		const raw = await read(request);
		const reply = (status: number, answer: Body): void => {
			response.writeHead(status, { "content-type": "application/json" });
			response.end(JSON.stringify(status === 200 ? { ok: true, ...answer } : { ok: false, error_code: status, ...answer }));
		};
		const file = new RegExp(`^/file/bot${this.token}/(\\w+)$`).exec(request.url ?? "");
		if (file) return void response.end(this.#files.get(file[1] ?? ""));
		const [, token, method = ""] = /^\/bot([^/]+)\/(\w+)$/.exec(request.url ?? "") ?? [];
		if (token !== this.token) return reply(401, { description: "Unauthorized" });
		const body = bodyOf(request, raw);
		this.calls.push({ method, body });
		const known = FIELDS[method];
		if (!known) this.strange.push(`method ${method}`);
		for (const field of Object.keys(body)) if (!known?.includes(field)) this.strange.push(`${method}: field ${field}`);
		const at = this.faults.findIndex((one) => one.method === method && (one.marker === undefined || body.text === one.marker));
		const [fault] = at >= 0 ? this.faults.splice(at, 1) : [];
		if (fault?.kind === "429")
			return reply(429, { description: `Too Many Requests: retry after ${fault.seconds}`, parameters: { retry_after: fault.seconds } });
		if (fault?.kind === "500") return reply(500, { description: "Internal Server Error" });
		if (fault?.kind === "cut-before") return void request.socket.destroy();
		if (method === "getUpdates") return this.#poll(body, response, reply);
		const [status, answer] = this.#act(method, body);
		if (fault?.kind === "cut-after") return void request.socket.destroy();
		reply(status, answer);
	}

	async #poll(body: Body, response: http.ServerResponse, reply: (status: number, answer: Body) => void): Promise<void> {
		if (this.taken === "poll")
			return reply(409, { description: "Conflict: terminated by other getUpdates request; make sure that only one bot instance is running" });
		if (this.taken === "webhook")
			return reply(409, { description: "Conflict: can't use getUpdates method while webhook is active; use deleteWebhook to delete the webhook first" });
		while ((this.#queue[0]?.update_id ?? Number.POSITIVE_INFINITY) < Number(body.offset)) this.#queue.shift(); // confirmed
		const wait = new AbortController();
		response.on("close", () => wait.abort());
		if (this.#queue.length === 0 && Number(body.timeout) > 0)
			await new Promise<void>((resolve) => {
				const wake = (): void => {
					clearTimeout(timer);
					this.#waiting.delete(wake);
					resolve();
				};
				const timer = setTimeout(wake, Number(body.timeout) * 1_000);
				this.#waiting.add(wake);
				wait.signal.addEventListener("abort", wake);
			});
		if (!wait.signal.aborted) reply(200, { result: this.#queue.slice(0, 100) });
	}

	#act(method: string, body: Body): [number, Body] {
		const chat = Number(body.chat_id);
		const bad = (description: string): [number, Body] => [400, { description: `Bad Request: ${description}` }];
		if ("chat_id" in body && this.dead.has(chat)) return [403, { description: "Forbidden: bot was blocked by the user" }];
		switch (method) {
			case "getMe":
				return [200, { result: { ...BOT, can_join_groups: true, can_read_all_group_messages: false, supports_inline_queries: false } }];
			case "sendMessage": {
				const text = String(body.text ?? "");
				if (text.trim() === "") return bad("message text is empty");
				if (text.length > 4096) return bad("message is too long");
				return [
					200,
					{ result: this.#post(chat, { text, entities: this.#entities(text, body.entities), ...pick(body, ["reply_markup", "disable_notification"]) }) },
				];
			}
			case "sendDocument": {
				const caption = body.caption === undefined ? undefined : String(body.caption);
				if ((caption ?? "").length > 1024) return bad("message caption is too long");
				const { name, bytes } = body.document as { name: string; bytes: Uint8Array };
				const file_id = `file${this.#files.size}`;
				this.#files.set(file_id, bytes);
				return [
					200,
					{ result: this.#post(chat, { caption, document: { file_id, file_name: name, mime_type: "application/octet-stream", file_size: bytes.length } }) },
				];
			}
			case "editMessageText": {
				const message = this.sent.find((one) => one.message_id === body.message_id && one.chat.id === chat);
				if (!message) return bad("message to edit not found");
				const text = String(body.text);
				const same = message.text === text && JSON.stringify(message.reply_markup) === JSON.stringify(body.reply_markup);
				if (same) return bad("message is not modified: specified new message content and reply markup are exactly the same");
				Object.assign(message, { text, entities: this.#entities(text, body.entities), reply_markup: body.reply_markup });
				return [200, { result: message }];
			}
			case "getFile": {
				const bytes = this.#files.get(String(body.file_id));
				return bytes ? [200, { result: { file_id: body.file_id, file_size: bytes.length, file_path: body.file_id } }] : bad("wrong file_id");
			}
			case "answerCallbackQuery":
				this.toasts.push(String(body.text ?? ""));
				return [200, { result: true }];
			case "sendChatAction":
				return [200, { result: true }];
			default:
				return [404, { description: "Not Found" }];
		}
	}

	#post(chat: number, more: Body): TgMessage {
		const message: TgMessage = {
			message_id: this.#messages++,
			date: Math.floor(Date.now() / 1000),
			chat: { id: chat, type: "private", first_name: "Jo" },
			from: BOT,
			...more,
		};
		this.sent.push(message);
		return message;
	}

	/** Telegram's rules: inside of the text, and code in nothing and with nothing in it. */
	#entities(text: string, given: unknown): unknown[] {
		const all = (given ?? []) as { type: string; offset: number; length: number }[];
		for (const one of all) {
			if (one.offset < 0 || one.length < 1 || one.offset + one.length > text.length) this.strange.push(`entity outside of the text: ${JSON.stringify(one)}`);
			const code = one.type === "code" || one.type === "pre";
			const meets = all.some((other) => other !== one && other.offset < one.offset + one.length && one.offset < other.offset + other.length);
			if (code && meets) this.strange.push(`code overlaps another entity: ${JSON.stringify(all)}`);
		}
		return all;
	}
}

const pick = (from: Body, names: readonly string[]): Body => Object.fromEntries(names.filter((name) => name in from).map((name) => [name, from[name]]));

async function read(request: http.IncomingMessage): Promise<Buffer> {
	const chunks: Buffer[] = [];
	for await (const chunk of request) chunks.push(chunk as Buffer);
	return Buffer.concat(chunks);
}

/** JSON, or a form with a file in it. */
function bodyOf(request: http.IncomingMessage, raw: Buffer): Body {
	const boundary = /multipart\/form-data; boundary=(.+)$/.exec(request.headers["content-type"] ?? "")?.[1];
	if (boundary === undefined) return raw.length > 0 ? (JSON.parse(raw.toString()) as Body) : {};
	const parts = raw.toString("latin1").split(`--${boundary}`).slice(1, -1);
	const fields = parts.map((part) => {
		const [head = "", ...rest] = part.split("\r\n\r\n");
		const bytes = Buffer.from(rest.join("\r\n\r\n").replace(/\r\n$/, ""), "latin1");
		const [, name = ""] = /name="([^"]+)"/.exec(head) ?? [];
		const file = /filename=(?:"([^"]*)"|([^;\r\n]*))/.exec(head);
		return { name, value: file ? { name: file[1] ?? file[2] ?? "", bytes } : bytes.toString() };
	});
	const attached = new Map(fields.map(({ name, value }) => [`attach://${name}`, value]));
	const hidden = new Set(fields.flatMap(({ value }) => (typeof value === "string" && value.startsWith("attach://") ? [value.slice("attach://".length)] : [])));
	return Object.fromEntries(
		fields.filter(({ name }) => !hidden.has(name)).map(({ name, value }) => [name, typeof value === "string" ? (attached.get(value) ?? jsonOr(value)) : value]),
	);
}

function jsonOr(text: string): unknown {
	try {
		return /^[[{]|^-?\d+$|^(?:true|false)$/.test(text) ? JSON.parse(text) : text;
	} catch {
		return text;
	}
}
