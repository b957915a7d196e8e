/** A double of Slack's Web API and Socket Mode, as far as a gateway uses them. A method or field that it does not know is noted, and fails the test. */
import http from "node:http";
import type { AddressInfo } from "node:net";
import { type WebSocket, WebSocketServer } from "ws";

type Body = Record<string, unknown>;

interface SlackFault {
	readonly method: string;
	readonly kind: "429" | "cut-before" | "cut-after";
	readonly seconds?: number;
	readonly marker?: string;
}

export interface SlackPost {
	ts: string;
	channel: string;
	user?: string;
	bot_id?: string;
	text: string;
	metadata?: { event_payload: { id: string } };
	blocks?: { type: string; elements?: { text: { text: string }; value: string; action_id: string }[] }[];
	files?: { id: string; name: string; size: number; url_private_download: string }[];
	thread_ts?: string;
}

const FIELDS: Readonly<Record<string, readonly string[]>> = {
	"apps.connections.open": [],
	"auth.test": [],
	"chat.postMessage": ["channel", "text", "thread_ts", "metadata", "blocks", "unfurl_links", "unfurl_media"],
	"chat.update": ["channel", "ts", "text", "metadata", "blocks"],
	"chat.postEphemeral": ["channel", "user", "text"],
	"conversations.history": ["channel", "oldest", "limit", "include_all_metadata", "cursor"],
	"conversations.replies": ["channel", "ts", "oldest", "limit", "include_all_metadata", "cursor"],
	"files.getUploadURLExternal": ["filename", "length"],
	"files.completeUploadExternal": ["files", "channel_id", "thread_ts", "initial_comment"],
};

export class SlackDouble {
	readonly strange: string[] = [];
	readonly posts: SlackPost[] = [];
	readonly faults: SlackFault[] = [];
	readonly dead = new Set<string>();
	readonly toasts: string[] = [];
	revoked = false;
	readonly #files = new Map<string, { name: string; bytes: Buffer }>();
	readonly #unacked = new Map<string, Body>();
	#socket: WebSocket | undefined;
	#envelopes = 0;
	#seconds = Math.floor(Date.now() / 1000);
	#micro = 0;
	readonly #server = http.createServer((request, response) => void this.#answer(request, response));
	readonly #sockets = new WebSocketServer({ noServer: true });

	async listen(): Promise<string> {
		this.#server.on("upgrade", (request, socket, head) => this.#sockets.handleUpgrade(request, socket, head, (ws) => this.#connected(ws)));
		await new Promise<void>((resolve) => this.#server.listen(0, "127.0.0.1", resolve));
		return `${this.#root}/api/`;
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

	drop(): void {
		for (const ws of this.#sockets.clients) ws.terminate();
	}

	get unacknowledged(): number {
		return this.#unacked.size;
	}

	/** A person writes; with no connection the event is lost, and only the history has it. */
	say(channel: string, user: string, text: string, more: Body = {}): void {
		const message = { type: "message", channel, user, text: text.replaceAll("&", "&amp;").replaceAll("<", "&lt;"), ts: this.#ts(), ...more };
		this.posts.push(message as unknown as SlackPost);
		this.#deliver("events_api", {
			type: "event_callback",
			event_id: `Ev${this.#envelopes}`,
			team_id: "T1",
			event: { ...message, channel_type: channel.startsWith("D") ? "im" : "channel" },
		});
	}

	sayWithFile(channel: string, user: string, text: string, name: string, bytes: Uint8Array): void {
		const id = `F${this.#files.size}`;
		this.#files.set(id, { name, bytes: Buffer.from(bytes) });
		this.say(channel, user, text, {
			subtype: "file_share",
			files: [{ id, name, mimetype: "text/plain", size: bytes.length, url_private_download: `${this.#root}/files/${id}` }],
		});
	}

	tap(channel: string, user: string, ts: string, value: string): void {
		const message = this.posts.find((post) => post.ts === ts && post.channel === channel);
		const actions = message?.blocks?.flatMap(({ elements = [] }) => elements).filter((one) => one.value === value);
		this.#deliver("interactive", {
			type: "block_actions",
			trigger_id: `t${this.#envelopes}`,
			user: { id: user, name: "jo" },
			channel: { id: channel },
			message,
			actions,
		});
	}

	fileOf(post: SlackPost): { name: string; bytes: Buffer } | undefined {
		return this.#files.get(post.files?.[0]?.id ?? "");
	}

	#ts(): string {
		return `${this.#seconds}.${String(++this.#micro).padStart(6, "0")}`;
	}

	#deliver(type: string, payload: Body): void {
		const envelope = { envelope_id: `env-${++this.#envelopes}`, type, accepts_response_payload: type === "interactive", payload };
		if (this.#socket?.readyState !== 1) return;
		this.#unacked.set(envelope.envelope_id, envelope);
		this.#socket.send(JSON.stringify(envelope));
	}

	#connected(ws: WebSocket): void {
		this.#socket = ws;
		ws.on("message", (data) => void this.#unacked.delete((JSON.parse(String(data)) as { envelope_id: string }).envelope_id));
		ws.send(
			JSON.stringify({ type: "hello", num_connections: 1, connection_info: { app_id: "A1" }, debug_info: { host: "h", approximate_connection_time: 18_060 } }),
		);
		for (const envelope of this.#unacked.values()) ws.send(JSON.stringify({ ...envelope, retry_attempt: 1, retry_reason: "timeout" }));
	}

	async #answer(request: http.IncomingMessage, response: http.ServerResponse): Promise<void> {
		const chunks: Buffer[] = [];
		for await (const chunk of request) chunks.push(chunk as Buffer);
		const raw = Buffer.concat(chunks);
		const [, file] = /^\/files\/(\w+)$/.exec(request.url ?? "") ?? [];
		if (file !== undefined) {
			if (request.headers.authorization !== "Bearer xoxb-TEST") this.strange.push("a file was fetched without the token");
			return void response.end(this.#files.get(file)?.bytes);
		}
		const [, upload] = /^\/upload\/(\w+)$/.exec(request.url ?? "") ?? [];
		if (upload !== undefined) {
			const boundary = /boundary=(.+)$/.exec(request.headers["content-type"] ?? "")?.[1];
			const bytes = boundary ? partOf(raw, boundary) : raw;
			Object.assign(this.#files.get(upload) ?? {}, { bytes });
			return void response.end("OK");
		}
		const reply = (answer: Body, status = 200, headers: Record<string, string> = {}): void => {
			response.writeHead(status, { "content-type": "application/json", ...headers });
			response.end(JSON.stringify(answer));
		};
		const method = (request.url ?? "").replace("/api/", "");
		const body: Body = Object.fromEntries(new URLSearchParams(raw.toString()));
		for (const name of ["metadata", "blocks", "files"]) if (typeof body[name] === "string") body[name] = JSON.parse(body[name] as string);
		delete body.token;
		const known = FIELDS[method];
		if (!known) this.strange.push(`method ${method}`);
		for (const field of Object.keys(body)) if (!known?.includes(field)) this.strange.push(`${method}: field ${field}`);
		const wanted = method === "apps.connections.open" ? "Bearer xapp-TEST" : "Bearer xoxb-TEST";
		if (this.revoked || request.headers.authorization !== wanted) return reply({ ok: false, error: this.revoked ? "token_revoked" : "invalid_auth" });
		const at = this.faults.findIndex((one) => one.method === method && (one.marker === undefined || body.text === one.marker));
		const [fault] = at >= 0 ? this.faults.splice(at, 1) : [];
		if (fault?.kind === "429") return reply({ ok: false, error: "ratelimited" }, 429, { "retry-after": String(fault.seconds) });
		if (fault?.kind === "cut-before") return void request.socket.destroy();
		const answer = this.#act(method, body);
		if (fault?.kind === "cut-after") return void request.socket.destroy();
		reply(answer);
	}

	#act(method: string, body: Body): Body {
		const channel = String(body.channel ?? body.channel_id ?? "");
		if (this.dead.has(channel)) return { ok: false, error: "channel_not_found" };
		switch (method) {
			case "apps.connections.open":
				return { ok: true, url: `${this.#root.replace("http", "ws")}/link/?ticket=1&app_id=A1` };
			case "auth.test":
				return { ok: true, user_id: "U0BOT", team_id: "T1", team: "Team", user: "holdfast" };
			case "chat.postMessage": {
				if (!body.text) return { ok: false, error: "no_text" };
				const post = { ...body, channel, ts: this.#ts(), user: "U0BOT", bot_id: "B0" } as unknown as SlackPost;
				this.posts.push(post);
				return { ok: true, ts: post.ts, channel, message: post };
			}
			case "chat.update": {
				const post = this.posts.find((one) => one.ts === body.ts && one.channel === channel);
				if (!post) return { ok: false, error: "message_not_found" };
				if (String(body.text).length > 4000) return { ok: false, error: "msg_too_long" };
				Object.assign(post, { text: body.text, blocks: body.blocks });
				return { ok: true, ts: post.ts, channel, text: post.text };
			}
			case "conversations.history":
			case "conversations.replies": {
				const found = this.posts.filter((one) => one.channel === channel && Number(one.ts) > Number(body.oldest)).reverse();
				const [from, size] = [Number(body.cursor ?? 0), Math.min(Number(body.limit), 3)]; // small pages, so that there are some
				const more = from + size < found.length;
				return { ok: true, messages: found.slice(from, from + size), has_more: more, response_metadata: { next_cursor: more ? String(from + size) : "" } };
			}
			case "chat.postEphemeral":
				this.toasts.push(String(body.text));
				return { ok: true };
			case "files.getUploadURLExternal": {
				const id = `F${this.#files.size}`;
				this.#files.set(id, { name: String(body.filename), bytes: Buffer.alloc(0) });
				return { ok: true, file_id: id, upload_url: `${this.#root}/upload/${id}` };
			}
			case "files.completeUploadExternal": {
				const [{ id } = { id: "" }] = body.files as { id: string }[];
				const { name = "", bytes = Buffer.alloc(0) } = this.#files.get(id) ?? {};
				const files = [{ id, name, size: bytes.length, url_private_download: `${this.#root}/files/${id}` }];
				this.posts.push({ ts: this.#ts(), channel, user: "U0BOT", bot_id: "B0", text: String(body.initial_comment ?? ""), files });
				return { ok: true, files: [{ id, title: name }] };
			}
			default:
				return { ok: false, error: "unknown_method" };
		}
	}
}

/** The one file of a form. */
function partOf(raw: Buffer, boundary: string): Buffer {
	const start = raw.indexOf("\r\n\r\n") + 4;
	return raw.subarray(start, raw.indexOf(`\r\n--${boundary}`, start));
}
