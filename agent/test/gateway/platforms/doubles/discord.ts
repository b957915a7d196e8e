/** A double of Discord's API and gateway, as far as a gateway uses them. A route or field that it does not know is noted, and fails the test. */
import http from "node:http";
import type { AddressInfo } from "node:net";
import { type WebSocket, WebSocketServer } from "ws";

type Body = Record<string, unknown>;

interface DiscordFault {
	readonly kind: "429" | "cut-before" | "cut-after";
	readonly seconds?: number;
	readonly marker?: string;
}

export interface DiscordMessage {
	id: string;
	channel_id: string;
	author: { id: string; bot?: boolean };
	content: string;
	nonce?: string;
	flags?: number;
	components: { components: { label: string; custom_id: string }[] }[];
	attachments: { id: string; filename: string; size: number; url: string; content_type?: string }[];
	[more: string]: unknown;
}

const BOT = { id: "42", username: "holdfast", discriminator: "0", global_name: null, avatar: null, bot: true };
const SEND = ["content", "components", "allowed_mentions", "nonce", "enforce_nonce", "flags", "message_reference", "attachments"];

export class DiscordDouble {
	readonly strange: string[] = [];
	readonly messages: DiscordMessage[] = [];
	readonly faults: DiscordFault[] = [];
	/** Channels in which the bot was seen writing. */
	readonly typings: string[] = [];
	readonly dead = new Set<string>();
	readonly answers: Body[] = [];
	token = "x.y.z";
	resumed = 0;
	readonly #files = new Map<string, Buffer>();
	readonly #backlog: { op: 0; t: string; s: number; d: unknown }[] = [];
	#socket: WebSocket | undefined;
	#sequence = 0;
	#forgotten = false;
	#historyFails = false;
	#ids = 1_000_000_000_000_000_000n;
	readonly #server = http.createServer((request, response) => void this.#answer(request, response));
	readonly #sockets = new WebSocketServer({ noServer: true });

	async listen(): Promise<string> {
		this.#server.on("upgrade", (request, socket, head) => this.#sockets.handleUpgrade(request, socket, head, (ws) => this.#connected(ws)));
		await new Promise<void>((resolve) => this.#server.listen(0, "127.0.0.1", resolve));
		return `${this.#root}/api`;
	}

	get #root(): string {
		return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
	}

	/** What a person says now reaches the bot at once. */
	get connected(): boolean {
		return this.#socket?.readyState === 1;
	}

	async close(): Promise<void> {
		this.drop();
		this.#server.closeAllConnections();
		await new Promise((resolve) => this.#server.close(resolve));
	}

	/** Cuts all lines; for so long, if wanted, that sessions cannot be resumed. The first look into a history fails then. */
	drop({ forLong = false } = {}): void {
		this.#forgotten = forLong;
		this.#historyFails = forLong;
		for (const ws of this.#sockets.clients) ws.terminate();
	}

	say(channel: string, person: string, content: string, more: Body = {}): void {
		const author = { id: person, username: "jo", discriminator: "0", global_name: "Jo", avatar: null };
		const message = { ...this.#message(channel, { content, author }), ...more };
		this.messages.push(message);
		this.#dispatch("MESSAGE_CREATE", message);
	}

	sayWithFile(channel: string, person: string, content: string, name: string, bytes: Uint8Array): void {
		this.say(channel, person, content, { attachments: [this.#attach(name, Buffer.from(bytes))] });
	}

	tap(channel: string, person: string, message: string, custom_id: string): void {
		const user = { id: person, username: "jo", discriminator: "0", global_name: "Jo", avatar: null };
		const on = this.messages.find(({ id }) => id === message);
		const data = { custom_id, component_type: 2 };
		const rest = { locale: "en", entitlements: [], authorizing_integration_owners: {}, attachment_size_limit: 1, version: 1 };
		this.#dispatch("INTERACTION_CREATE", {
			id: this.#id(),
			application_id: "42",
			type: 3,
			token: "tok",
			...rest,
			channel: { id: channel, type: 1 },
			channel_id: channel,
			user,
			message: on,
			data,
		});
	}

	fileOf(message: DiscordMessage): { name: string; bytes: Buffer } | undefined {
		const [file] = message.attachments;
		return file && { name: file.filename, bytes: this.#files.get(file.id) ?? Buffer.alloc(0) };
	}

	#id(): string {
		return String(++this.#ids);
	}

	#attach(filename: string, bytes: Buffer): DiscordMessage["attachments"][number] {
		const id = this.#id();
		this.#files.set(id, bytes);
		return { id, filename, size: bytes.length, url: `${this.#root}/files/${id}`, content_type: "text/plain" };
	}

	#message(channel: string, more: Body): DiscordMessage {
		const empty = { tts: false, mention_everyone: false, mentions: [], mention_roles: [], embeds: [], pinned: false, edited_timestamp: null };
		return {
			id: this.#id(),
			channel_id: channel,
			author: BOT,
			content: "",
			timestamp: new Date().toISOString(),
			type: 0,
			attachments: [],
			components: [],
			...empty,
			...more,
		};
	}

	#dispatch(t: string, d: unknown): void {
		const packet = { op: 0 as const, t, s: ++this.#sequence, d };
		this.#backlog.push(packet);
		if (this.#socket?.readyState === 1) this.#socket.send(JSON.stringify(packet));
	}

	#connected(ws: WebSocket): void {
		const send = (packet: object): void => ws.send(JSON.stringify(packet));
		send({ op: 10, d: { heartbeat_interval: 41_250 } });
		ws.on("message", (raw) => {
			const { op, d } = JSON.parse(String(raw)) as { op: number; d: { token?: string; seq?: number } };
			if (op === 1) return send({ op: 11 });
			if (d.token !== this.token) return ws.close(4004, "Authentication failed.");
			this.#socket = ws;
			if (op === 2) {
				const url = `${this.#root.replace("http", "ws")}/gw`;
				return send({
					op: 0,
					t: "READY",
					s: ++this.#sequence,
					d: { v: 10, user: BOT, guilds: [], session_id: "sess", resume_gateway_url: url, shard: [0, 1], application: { id: "42", flags: 0 } },
				});
			}
			if (op === 6 && this.#forgotten) {
				this.#forgotten = false;
				this.#socket = undefined;
				return send({ op: 9, d: false });
			}
			if (op !== 6) return void this.strange.push(`gateway op ${op}`);
			this.resumed++;
			for (const packet of this.#backlog) if (packet.s > (d.seq ?? 0)) send(packet);
			send({ op: 0, t: "RESUMED", s: ++this.#sequence, d: {} });
		});
	}

	async #answer(request: http.IncomingMessage, response: http.ServerResponse): Promise<void> {
		const chunks: Buffer[] = [];
		for await (const chunk of request) chunks.push(chunk as Buffer);
		const { pathname, searchParams } = new URL(request.url ?? "", this.#root);
		const [, file] = /^\/files\/(\d+)$/.exec(pathname) ?? [];
		if (file !== undefined) return void response.end(this.#files.get(file));
		const reply = (status: number, answer?: unknown, headers: Record<string, string> = {}): void => {
			response.writeHead(status, answer === undefined ? headers : { "content-type": "application/json", ...headers });
			response.end(answer === undefined ? "" : JSON.stringify(answer));
		};
		const path = pathname.replace("/api/v10", "");
		const { body, files } = bodyOf(request, Buffer.concat(chunks));
		const route = `${request.method} ${path.replaceAll(/\d{2,}/g, "N")}`;
		if (!path.startsWith("/interactions/") && !path.startsWith("/webhooks/") && request.headers.authorization !== `Bot ${this.token}`)
			return reply(401, { message: "401: Unauthorized", code: 0 });
		const [, channel = ""] = /^\/channels\/(\d+)/.exec(path) ?? [];
		if (this.dead.has(channel)) return reply(403, { message: "Cannot send messages to this user", code: 50_007 });
		const at = route === "POST /channels/N/messages" ? this.faults.findIndex((one) => one.marker === undefined || body.content === one.marker) : -1;
		const [fault] = at >= 0 ? this.faults.splice(at, 1) : [];
		if (fault?.kind === "429")
			return reply(
				429,
				{ message: "You are being rate limited.", retry_after: fault.seconds, global: false },
				{ "retry-after": String(fault.seconds), "x-ratelimit-scope": "user" },
			);
		const cut = route === "GET /channels/N/messages" && this.#historyFails;
		if (cut) this.#historyFails = false;
		if (cut || fault?.kind === "cut-before") return void request.socket.destroy();
		const [status, answer] = this.#act(route, path, channel, body, files, searchParams);
		if (fault?.kind === "cut-after") return void request.socket.destroy();
		reply(status, answer);
	}

	#act(route: string, path: string, channel: string, body: Body, files: { name: string; bytes: Buffer }[], query: URLSearchParams): [number, unknown?] {
		const known = (fields: readonly string[]): void => {
			for (const field of Object.keys(body)) if (!fields.includes(field)) this.strange.push(`${route}: field ${field}`);
		};
		switch (route) {
			case "GET /gateway/bot":
				return [
					200,
					{
						url: `${this.#root.replace("http", "ws")}/gw`,
						shards: 1,
						session_start_limit: { total: 1000, remaining: 999, reset_after: 1, max_concurrency: 1 },
					},
				];
			case "GET /users/@me":
				return [200, BOT];
			case "POST /channels/N/messages": {
				known(SEND);
				if (String(body.content).length > 2000) return [400, { message: "Invalid Form Body", code: 50_035 }];
				if (String(body.nonce).length > 25) this.strange.push("a nonce of more than 25 characters");
				const same = body.enforce_nonce ? this.messages.find((one) => one.channel_id === channel && one.nonce === body.nonce) : undefined;
				if (same) return [200, same];
				const message = this.#message(channel, { ...body, attachments: files.map(({ name, bytes }) => this.#attach(name, bytes)) });
				this.messages.push(message);
				this.#dispatch("MESSAGE_CREATE", message); // Discord tells the bot of its own messages too
				return [200, message];
			}
			case "PATCH /channels/N/messages/N": {
				known(["content", "components", "allowed_mentions"]);
				const message = this.messages.find(({ id }) => id === path.split("/").at(-1));
				if (!message) return [404, { message: "Unknown Message", code: 10_008 }];
				return [200, Object.assign(message, body)];
			}
			case "GET /channels/N/messages": {
				const after = BigInt(query.get("after") ?? 0);
				return [
					200,
					this.messages
						.filter((one) => one.channel_id === channel && BigInt(one.id) > after)
						.reverse()
						.slice(0, Number(query.get("limit"))),
				];
			}
			case "POST /channels/N/typing":
				this.typings.push(channel);
				return [204];
			default:
				if (path.startsWith("/interactions/") || path.startsWith("/webhooks/")) {
					this.answers.push(body);
					return [204];
				}
				this.strange.push(route);
				return [404, { message: "404: Not Found", code: 0 }];
		}
	}
}

function bodyOf(request: http.IncomingMessage, raw: Buffer): { body: Body; files: { name: string; bytes: Buffer }[] } {
	const boundary = /multipart\/form-data; boundary=(.+)$/.exec(request.headers["content-type"] ?? "")?.[1];
	if (boundary === undefined) return { body: raw.length > 0 ? (JSON.parse(raw.toString()) as Body) : {}, files: [] };
	let body: Body = {};
	const files: { name: string; bytes: Buffer }[] = [];
	for (const part of raw.toString("latin1").split(`--${boundary}`).slice(1, -1)) {
		const [head = "", ...rest] = part.split("\r\n\r\n");
		const bytes = Buffer.from(rest.join("\r\n\r\n").replace(/\r\n$/, ""), "latin1");
		if (head.includes('name="payload_json"')) body = JSON.parse(bytes.toString()) as Body;
		else files.push({ name: /filename="([^"]*)"/.exec(head)?.[1] ?? "", bytes });
	}
	return { body, files };
}
