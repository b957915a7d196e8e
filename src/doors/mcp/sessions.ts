/** The sessions of the older protocol: each has a server of its own, and is a task of its own unless one was named. */
import { randomUUID } from "node:crypto";
import { isInitializeRequest, type Server, WebStandardStreamableHTTPServerTransport } from "@modelcontextprotocol/server";
import { type ClientInfo, clientIn } from "./client.js";
import { RecentEvents } from "./events.js";
import type { McpHttpOptions } from "./http.js";
import { HTTP_IDLE_MS } from "./presence.js";
import { refusal } from "./refusal.js";
import { newTask } from "./task.js";

const MOST = 100;
const NOT_FOUND = -32_001;
/** When a client whose stream broke should be back. */
const RETRY_MS = 500;

interface Session {
	readonly transport: WebStandardStreamableHTTPServerTransport;
	readonly server: Server;
	readonly task: string;
	seenAt: number;
}

export class Sessions {
	readonly #options: McpHttpOptions;
	/** The one used longest ago comes first. */
	readonly #sessions = new Map<string, Session>();

	constructor(options: McpHttpOptions) {
		this.#options = options;
	}

	async fetch(request: Request, body: unknown, task: string | undefined): Promise<Response> {
		const { idleMs = HTTP_IDLE_MS } = this.#options.limits ?? {};
		await this.#forget((session) => Date.now() - session.seenAt > idleMs);
		const id = request.headers.get("mcp-session-id");
		if (id === null) {
			if (!isInitializeRequest(body)) return refusal(400, "a session is needed: send `initialize` first, then its Mcp-Session-Id with every request");
			const opened = await this.#open(task);
			return this.#heard(opened.task, clientIn(body), () => opened.transport.handleRequest(request, { parsedBody: body }));
		}
		const session = this.#sessions.get(id);
		if (!session) return refusal(404, "there is no such session (any more); send `initialize` to start one", NOT_FOUND);
		this.#sessions.delete(id); // and behind all others
		this.#sessions.set(id, session);
		session.seenAt = Date.now();
		return this.#heard(session.task, {}, () => session.transport.handleRequest(request, body === undefined ? {} : { parsedBody: body }));
	}

	/** Answers, and shows meanwhile that the client of the task is connected. */
	async #heard(task: string, client: ClientInfo, answer: () => Promise<Response>): Promise<Response> {
		const { clients } = this.#options;
		if (!clients) return answer();
		const done = clients.heard(task, client);
		try {
			return clients.watched(await answer(), done);
		} catch (error) {
			done();
			throw error;
		}
	}

	async close(): Promise<void> {
		await Promise.all([...this.#sessions.values()].map(({ server }) => server.close()));
	}

	async #open(named: string | undefined): Promise<{ task: string; transport: WebStandardStreamableHTTPServerTransport }> {
		const { sessions: most = MOST } = this.#options.limits ?? {};
		await this.#forget(() => this.#sessions.size >= most);
		const task = named ?? newTask();
		const server = this.#options.server({ task, modern: false });
		const transport = new WebStandardStreamableHTTPServerTransport({
			sessionIdGenerator: randomUUID,
			eventStore: new RecentEvents(),
			retryInterval: RETRY_MS,
			onsessioninitialized: (id) => {
				this.#sessions.set(id, { transport, server, task, seenAt: Date.now() });
				this.#options.clients?.opened(task);
			},
		});
		transport.onclose = () => {
			if (transport.sessionId !== undefined && this.#sessions.delete(transport.sessionId)) this.#options.clients?.ended(task);
			if (named === undefined) this.#options.ended?.(task);
		};
		if (this.#options.onError) transport.onerror = this.#options.onError;
		await server.connect(transport);
		return { task, transport };
	}

	/** From the one used longest ago on, as long as `should` says so. */
	async #forget(should: (session: Session) => boolean): Promise<void> {
		for (const session of [...this.#sessions.values()]) {
			if (!should(session)) return;
			await session.server.close();
		}
	}
}
