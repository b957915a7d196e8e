/** The HTTP door as a test has it: a server on a runtime, requests checked against the schemas, a terminal's WebSocket. */
import { WebSocket } from "ws";
import type * as z from "zod";
import { createSite, serveHttp } from "../../src/doors/http/index.js";
import { type ClientMessage, FRAME_HEAD, type ServerMessage, serverMessageSchema } from "../../src/doors/http/messages.js";
import { loggedInSchema, problemSchema, ticketSchema } from "../../src/doors/http/schemas.js";
import { type HttpDoor, httpDoor } from "../../src/doors/mcp/index.js";
import { atEnd } from "./home.js";
import type { Runtime } from "./internal.js";

export const TOKEN = "right-token-right-token-right-token";

export interface Api {
	readonly origin: string;
	readonly mcp: string;
	readonly token: string;
	/** As the owner, unless other headers are given. */
	request(method: string, path: string, init?: { body?: unknown; headers?: Record<string, string | undefined> }): Promise<Response>;
	/** The same; the answer must be good, and as the schema says. */
	call<T extends z.ZodType>(schema: T, method: string, path: string, body?: unknown, headers?: Record<string, string | undefined>): Promise<z.infer<T>>;
	/** The same; it must fail. `CODE status`. */
	fails(method: string, path: string, body?: unknown, headers?: Record<string, string | undefined>): Promise<string>;
}

export async function overApi(
	runtime: Runtime,
	options: { webDir?: string; publicUrls?: readonly string[]; previewUrls?: readonly string[] } = {},
): Promise<Api> {
	const door: HttpDoor = httpDoor(runtime);
	const site = createSite({ runtime, token: TOKEN, ...(options.webDir === undefined ? {} : { webDir: options.webDir }) });
	const { publicUrls = [], previewUrls = [] } = options;
	const server = await serveHttp({
		host: "127.0.0.1",
		port: 0,
		token: TOKEN,
		site,
		publicUrls,
		previewUrls,
		routes: { "/mcp": (request) => door.fetch(request) },
	});
	atEnd(async () => {
		await door.close();
		await server.close();
	});
	return apiAt(server.origin, TOKEN);
}

export function apiAt(origin: string, token: string): Api {
	const request: Api["request"] = (method, path, { body, headers = {} } = {}) => {
		const all = { Authorization: `Bearer ${token}`, ...(body === undefined ? {} : { "Content-Type": "application/json" }), ...headers };
		const given = Object.entries(all).filter((entry): entry is [string, string] => entry[1] !== undefined);
		return fetch(origin + path, {
			method,
			headers: given,
			redirect: "manual",
			...(body === undefined ? {} : { body: typeof body === "string" ? body : JSON.stringify(body) }),
		});
	};
	return {
		origin,
		mcp: `${origin}/mcp`,
		token,
		request,
		call: async (schema, method, path, body, headers) => {
			const response = await request(method, path, { body, ...(headers ? { headers } : {}) });
			if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${await response.text()}`);
			const json: unknown = await response.json();
			const parsed = schema.parse(json);
			if (JSON.stringify(Object.keys(parsed as object).sort()) !== JSON.stringify(Object.keys(json as object).sort()))
				throw new Error(`${path} has fields that its schema does not name`);
			return parsed;
		},
		fails: async (method, path, body, headers) => {
			const response = await request(method, path, { body, ...(headers ? { headers } : {}) });
			if (response.ok) throw new Error(`${method} ${path} should have failed: ${await response.text()}`);
			return `${problemSchema.parse(await response.json()).error.code} ${response.status}`;
		},
	};
}

/** What a browser has after it has followed the link. */
export async function loginTo({
	origin,
	token,
}: Pick<Api, "origin" | "token">): Promise<{ Cookie: string; "X-Holdfast-Key": string; Authorization: undefined }> {
	const response = await fetch(`${origin}/api/login`, { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify({ token }) });
	const { key } = loggedInSchema.parse(await response.json());
	return { Cookie: (response.headers.get("set-cookie") as string).split(";")[0] as string, "X-Holdfast-Key": key, Authorization: undefined };
}

/** A viewer of one process. */
export class Viewer {
	readonly socket: WebSocket;
	readonly messages: ServerMessage[] = [];
	/** All output since the last `screen` or `opened`, and where it starts. */
	output = Buffer.alloc(0);
	start = -1;
	/** Acknowledge what comes. */
	acks = true;
	closed: { code: number; reason: string } | undefined;
	#changed: () => void = () => {};

	private constructor(socket: WebSocket) {
		this.socket = socket;
		socket.on("message", (data: Buffer, binary) => {
			if (binary) this.#frame(data);
			else this.#message(serverMessageSchema.parse(JSON.parse(data.toString())));
			this.#changed();
		});
		socket.on("close", (code, reason) => {
			this.closed = { code, reason: reason.toString() };
			this.#changed();
		});
		socket.on("error", () => {});
	}

	static async connect(api: Api, session_id: string, headers?: Record<string, string | undefined>): Promise<Viewer> {
		const { url } = await api.call(ticketSchema, "POST", "/api/tickets", { for: "terminal", session_id }, headers);
		const viewer = new Viewer(new WebSocket(api.origin.replace("http", "ws") + url, { origin: api.origin }));
		atEnd(() => viewer.socket.terminate());
		await new Promise((resolve, reject) => viewer.socket.once("open", resolve).once("error", reject));
		return viewer;
	}

	send(message: ClientMessage): void {
		this.socket.send(JSON.stringify(message));
	}

	get text(): string {
		return this.output.toString("utf8");
	}

	last<T extends ServerMessage["type"]>(type: T): Extract<ServerMessage, { type: T }> | undefined {
		return this.messages.findLast((message): message is Extract<ServerMessage, { type: T }> => message.type === type);
	}

	/** Wait for something to come. */
	async until(what: string, holds: () => unknown, ms = 100_000): Promise<void> {
		const deadline = Date.now() + ms;
		while (!holds()) {
			const left = deadline - Date.now();
			if (left <= 0)
				throw new Error(
					`did not happen within ${ms} ms: ${what}; ${JSON.stringify(this.messages).slice(-1500)} ${this.text.slice(-500)} ${JSON.stringify(this.closed)}`,
				);
			await new Promise<void>((resolve) => {
				const timer = setTimeout(resolve, left);
				this.#changed = () => {
					clearTimeout(timer);
					resolve();
				};
			});
		}
	}

	async takeKeyboard(force = false): Promise<void> {
		this.send({ type: "keyboard", action: "take", force });
		await this.until("the keyboard is mine", () => this.last("keyboard")?.mine);
	}

	#message(message: ServerMessage): void {
		this.messages.push(message);
		if (message.type === "opened" || message.type === "screen") {
			this.output = Buffer.alloc(0);
			this.start = message.offset;
		}
	}

	#frame(frame: Buffer): void {
		const offset = Number(frame.readBigUInt64BE(0));
		const end = Number(frame.readBigUInt64BE(8));
		const bytes = frame.subarray(FRAME_HEAD);
		const gap = this.last("gap");
		if (gap && gap.to === offset) {
			this.output = Buffer.alloc(0);
			this.start = offset;
		}
		if (offset !== this.start + this.output.length) throw new Error(`frame at ${offset} after ${this.start + this.output.length}`);
		if (end < offset + bytes.length) throw new Error("the end of the log is before this frame's");
		this.output = Buffer.concat([this.output, bytes]);
		if (this.acks) this.send({ type: "ack", offset: offset + bytes.length });
	}
}
