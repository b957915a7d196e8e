/** A double of a Matrix homeserver, as far as a gateway uses the client-server API. A call or field that it does not know is noted, and fails the test. */
import http from "node:http";
import type { AddressInfo } from "node:net";

type Body = Record<string, unknown>;
interface MatrixFault {
	readonly kind: "429" | "cut-before" | "cut-after";
	readonly seconds?: number;
	readonly marker?: string;
}
export interface RoomEvent {
	readonly event_id: string;
	readonly type: string;
	readonly room: string;
	readonly sender: string;
	readonly origin_server_ts: number;
	readonly content: Body;
}

const BOT = "@holdfast:test";
const CONTENT = ["msgtype", "body", "format", "formatted_body", "m.mentions", "m.relates_to", "m.new_content", "filename", "url", "info"];

export class MatrixDouble {
	readonly strange: string[] = [];
	readonly events: RoomEvent[] = [];
	readonly faults: MatrixFault[] = [];
	/** Rooms in which the bot was seen writing. */
	readonly typings: string[] = [];
	readonly joined = new Map<string, number>();
	readonly invited = new Set<string>();
	token = "syt_test";
	/** How many events of a room are in one answer at most. */
	timeline = 50;
	readonly #media = new Map<string, Buffer>();
	readonly #transactions = new Map<string, string>();
	readonly #waiting = new Set<() => void>();
	readonly #server = http.createServer((request, response) => void this.#answer(request, response));

	async listen(): Promise<string> {
		await new Promise<void>((resolve) => this.#server.listen(0, "127.0.0.1", resolve));
		return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
	}

	close(): Promise<void> {
		this.#server.closeAllConnections();
		return new Promise((resolve) => this.#server.close(() => resolve()));
	}

	drop(): void {
		this.#server.closeAllConnections();
	}

	say(room: string, sender: string, body: string, more: Body = {}): string {
		return this.#append(room, sender, { msgtype: "m.text", body, ...more });
	}

	sayWithFile(room: string, sender: string, body: string, filename: string, bytes: Uint8Array): void {
		const id = `m${this.#media.size}`;
		this.#media.set(id, Buffer.from(bytes));
		this.say(room, sender, body, { msgtype: "m.file", filename, url: `mxc://test/${id}`, info: { size: bytes.length, mimetype: "text/plain" } });
	}

	mediaOf(url: string): Buffer | undefined {
		return this.#media.get(url.split("/").at(-1) ?? "");
	}

	wake(): void {
		for (const wake of this.#waiting) wake();
	}

	#append(room: string, sender: string, content: Body): string {
		const event_id = `$${this.events.length}:test`;
		this.events.push({ event_id, type: "m.room.message", room, sender, origin_server_ts: Date.now(), content });
		this.wake();
		return event_id;
	}

	async #answer(request: http.IncomingMessage, response: http.ServerResponse): Promise<void> {
		const chunks: Buffer[] = [];
		for await (const chunk of request) chunks.push(chunk as Buffer);
		const raw = Buffer.concat(chunks);
		const { pathname, searchParams: query } = new URL(request.url ?? "", "http://x");
		const path = decodeURIComponent(pathname);
		const reply = (status: number, answer: Body): void => {
			response.writeHead(status, { "content-type": "application/json" });
			response.end(JSON.stringify(answer));
		};
		if (request.headers.authorization !== `Bearer ${this.token}`) return reply(401, { errcode: "M_UNKNOWN_TOKEN", error: "Unknown access token" });
		const [, media] = /^\/_matrix\/client\/v1\/media\/download\/test\/(\w+)$/.exec(path) ?? [];
		if (media !== undefined) return void response.end(this.#media.get(media));
		if (path === "/_matrix/media/v3/upload") {
			const id = `m${this.#media.size}`;
			this.#media.set(id, raw);
			return reply(200, { content_uri: `mxc://test/${id}` });
		}
		const body: Body = raw.length > 0 ? (JSON.parse(raw.toString()) as Body) : {};
		const call = `${request.method} ${path.replace("/_matrix/client/v3", "")}`;
		if (call === "GET /sync") return this.#sync(query, response, reply);
		const sends = call.includes("/send/");
		const at = sends ? this.faults.findIndex((one) => one.marker === undefined || body.body === one.marker) : -1;
		const [fault] = at >= 0 ? this.faults.splice(at, 1) : [];
		if (fault?.kind === "429") return reply(429, { errcode: "M_LIMIT_EXCEEDED", error: "Too Many Requests", retry_after_ms: (fault.seconds ?? 0) * 1000 });
		if (fault?.kind === "cut-before") return void request.socket.destroy();
		const [status, answer] = this.#act(call, body, query);
		if (fault?.kind === "cut-after") return void request.socket.destroy();
		reply(status, answer);
	}

	#act(call: string, body: Body, query: URLSearchParams): [number, Body] {
		if (call === "GET /account/whoami") return [200, { user_id: BOT }];
		const [, join] = /^POST \/join\/(.+)$/.exec(call) ?? [];
		if (join !== undefined) {
			this.invited.delete(join);
			this.joined.set(join, 2);
			this.wake();
			return [200, { room_id: join }];
		}
		const [, room = "", rest = ""] = /^[A-Z]+ \/rooms\/([^/]+)\/(.+)$/.exec(call) ?? [];
		if (room !== "" && !this.joined.has(room)) return [403, { errcode: "M_FORBIDDEN", error: `User ${BOT} not in room ${room}` }];
		const own = this.events.filter((event) => event.room === room);
		if (rest.startsWith("send/m.room.message/")) {
			for (const field of Object.keys(body)) if (!CONTENT.includes(field)) this.strange.push(`${rest}: field ${field}`);
			const known = this.#transactions.get(`${room} ${rest}`);
			const event_id = known ?? this.#append(room, BOT, body);
			this.#transactions.set(`${room} ${rest}`, event_id);
			return [200, { event_id }];
		}
		if (rest.startsWith("context/")) {
			const at = this.events.findIndex((event) => event.event_id === rest.slice("context/".length));
			return at < 0 ? [404, { errcode: "M_NOT_FOUND", error: "Event not found." }] : [200, { end: String(at + 1) }];
		}
		if (rest === "messages") {
			const from = Number(query.get("from"));
			const to = Number(query.get("to") ?? this.events.length);
			const chunk = own.filter((event) => this.events.indexOf(event) >= from && this.events.indexOf(event) < to).slice(0, 2); // small pages, so that there are some
			const last = chunk.at(-1);
			return [200, { chunk, ...(last ? { end: String(this.events.indexOf(last) + 1) } : {}) }];
		}
		if (rest.startsWith("typing/")) {
			this.typings.push(room);
			return [200, {}];
		}
		this.strange.push(call);
		return [404, { errcode: "M_UNRECOGNIZED", error: "Unrecognized request" }];
	}

	async #sync(query: URLSearchParams, response: http.ServerResponse, reply: (status: number, answer: Body) => void): Promise<void> {
		const since = query.get("since");
		const news = (): boolean => since === null || this.events.length > Number(since) || this.invited.size > 0;
		const gone = new AbortController();
		response.on("close", () => gone.abort());
		if (!news() && Number(query.get("timeout")) > 0)
			await new Promise<void>((resolve) => {
				const wake = (): void => {
					clearTimeout(timer);
					this.#waiting.delete(wake);
					resolve();
				};
				const timer = setTimeout(wake, Number(query.get("timeout")));
				this.#waiting.add(wake);
				gone.signal.addEventListener("abort", wake);
			});
		if (gone.signal.aborted) return;
		const join = Object.fromEntries(
			[...this.joined].map(([room, members]) => {
				const all = this.events.filter((event, at) => event.room === room && at >= Number(since ?? 0));
				const events = all.slice(-this.timeline);
				const prev_batch = String(events[0] ? this.events.indexOf(events[0]) : this.events.length);
				return [room, { timeline: { events, limited: all.length > events.length, prev_batch }, summary: { "m.joined_member_count": members } }];
			}),
		);
		const invite = Object.fromEntries([...this.invited].map((room) => [room, { invite_state: { events: [] } }]));
		reply(200, { next_batch: String(this.events.length), rooms: { join, invite } });
	}
}
