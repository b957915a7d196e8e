/** The sessions of the older protocol: each has a server of its own, and is a task of its own unless one was named. */
import { randomUUID } from "node:crypto";
import { isInitializeRequest, type Server, WebStandardStreamableHTTPServerTransport } from "@modelcontextprotocol/server";
import { RecentEvents } from "./events.js";
import type { HttpOptions } from "./http.js";
import { refusal } from "./refusal.js";
import { newTask } from "./task.js";

const MOST = 100;
const IDLE_MS = 24 * 3_600_000;
const NOT_FOUND = -32_001;
/** When a client whose stream broke should be back. */
const RETRY_MS = 500;

interface Session {
	readonly transport: WebStandardStreamableHTTPServerTransport;
	readonly server: Server;
	seenAt: number;
}

export class Sessions {
	readonly #options: HttpOptions;
	/** The one used longest ago comes first. */
	readonly #sessions = new Map<string, Session>();

	constructor(options: HttpOptions) {
		this.#options = options;
	}

	async fetch(request: Request, body: unknown, task: string | undefined): Promise<Response> {
		const { idleMs = IDLE_MS } = this.#options.limits ?? {};
		await this.#forget((session) => Date.now() - session.seenAt > idleMs);
		const id = request.headers.get("mcp-session-id");
		if (id === null) {
			if (!isInitializeRequest(body)) return refusal(400, "a session is needed: send `initialize` first, then its Mcp-Session-Id with every request");
			return (await this.#open(task)).handleRequest(request, { parsedBody: body });
		}
		const session = this.#sessions.get(id);
		if (!session) return refusal(404, "there is no such session (any more); send `initialize` to start one", NOT_FOUND);
		this.#sessions.delete(id); // and behind all others
		this.#sessions.set(id, session);
		session.seenAt = Date.now();
		return session.transport.handleRequest(request, body === undefined ? {} : { parsedBody: body });
	}

	async close(): Promise<void> {
		await Promise.all([...this.#sessions.values()].map(({ server }) => server.close()));
	}

	async #open(named: string | undefined): Promise<WebStandardStreamableHTTPServerTransport> {
		const { sessions: most = MOST } = this.#options.limits ?? {};
		await this.#forget(() => this.#sessions.size >= most);
		const task = named ?? newTask();
		const server = this.#options.server({ task, modern: false });
		const transport = new WebStandardStreamableHTTPServerTransport({
			sessionIdGenerator: randomUUID,
			eventStore: new RecentEvents(),
			retryInterval: RETRY_MS,
			onsessioninitialized: (id) => {
				this.#sessions.set(id, { transport, server, seenAt: Date.now() });
			},
		});
		transport.onclose = () => {
			if (transport.sessionId !== undefined) this.#sessions.delete(transport.sessionId);
			if (named === undefined) this.#options.ended?.(task);
		};
		if (this.#options.onError) transport.onerror = this.#options.onError;
		await server.connect(transport);
		return transport;
	}

	/** From the one used longest ago on, as long as `should` says so. */
	async #forget(should: (session: Session) => boolean): Promise<void> {
		for (const session of [...this.#sessions.values()]) {
			if (!should(session)) return;
			await session.server.close();
		}
	}
}
