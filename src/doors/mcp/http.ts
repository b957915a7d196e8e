/**
 * MCP over streamable HTTP, both generations behind one path. The older one has sessions, and a session is a task. The
 * newer one has none: each request stands alone, so its task is the one named in the URL, or one for all of them.
 */
import { AsyncLocalStorage } from "node:async_hooks";
import {
	createMcpHandler,
	DEFAULT_MAX_REQUEST_BODY_SIZE,
	isJsonContentType,
	isLegacyRequest,
	type McpHttpHandler,
	readRequestBody,
	type Server,
	type ServerEventBus,
} from "@modelcontextprotocol/server";
import { HoldfastError, isTaskName, TASK_NAME } from "../../base/index.js";
import { clientIn } from "./client.js";
import type { HttpClients } from "./http-clients.js";
import { type Listen, listenOf } from "./listen.js";
import { refusal } from "./refusal.js";
import { Sessions } from "./sessions.js";

/** The task of requests that neither belong to a session nor name one. */
const SHARED_TASK = "mcp";
const MOST_LISTENING = 100;

export interface McpHttpOptions {
	/** A server for one session, or for one request of the newer protocol. */
	readonly server: (options: { task: string; modern: boolean }) => Server;
	/** Tells of changes to resources: calls `changed`, until what it returns is called. */
	readonly watch?: (task: string, uris: readonly string[], changed: (uri: string) => void) => () => void;
	/** Shows the clients of tasks to other programs. */
	readonly clients?: HttpClients;
	/** A session of no name has ended, or was forgotten. */
	readonly ended?: (task: string) => void;
	/** The task of all sessions, whatever task a client names. */
	readonly task?: string;
	readonly onError?: (error: Error) => void;
	readonly limits?: { sessions?: number; idleMs?: number };
}

export class McpHttp implements AsyncDisposable {
	readonly #options: McpHttpOptions;
	readonly #sessions: Sessions;
	readonly #modern: McpHttpHandler;
	readonly #listening = new AsyncLocalStorage<Listen & { task: string }>();

	constructor(options: McpHttpOptions) {
		this.#options = options;
		this.#sessions = new Sessions(options);
		// The SDK subscribes once for each stream that listens, while it answers that request: so we know whose it is.
		const bus: ServerEventBus = {
			publish: () => {},
			subscribe: (listener) => {
				const listen = this.#listening.getStore();
				return (listen && options.watch?.(listen.task, listen.uris, (uri) => listener({ kind: "resource_updated", uri }))) ?? (() => {});
			},
		};
		this.#modern = createMcpHandler(({ requestInfo }) => options.server({ task: this.#taskOf(requestInfo as Request) ?? SHARED_TASK, modern: true }), {
			legacy: "reject",
			bus,
			maxSubscriptions: MOST_LISTENING,
			...(options.onError ? { onerror: options.onError } : {}),
		});
	}

	async fetch(request: Request): Promise<Response> {
		let task: string | undefined;
		try {
			task = this.#taskOf(request);
		} catch (error) {
			return refusal(400, (error as Error).message);
		}
		if (request.method !== "POST") return this.#sessions.fetch(request, undefined, task);
		if (!isJsonContentType(request.headers.get("content-type"))) return refusal(415, "the Content-Type must be application/json");
		const read = await readRequestBody(request, DEFAULT_MAX_REQUEST_BODY_SIZE);
		if (read.tooLarge) return refusal(413, `a request may have ${DEFAULT_MAX_REQUEST_BODY_SIZE} bytes at most`);
		let body: unknown;
		try {
			body = JSON.parse(read.text);
		} catch {
			return refusal(400, "the request is not valid JSON", -32_700);
		}
		if (await isLegacyRequest(request, body)) return this.#sessions.fetch(request, body, task);
		const listen = listenOf(body);
		const { clients } = this.#options;
		const done = clients?.heard(task ?? SHARED_TASK, clientIn(body));
		const answer = async () => {
			const response = await this.#modern.fetch(request, { parsedBody: body }).catch((error: unknown) => {
				done?.();
				throw error;
			});
			return clients && done ? clients.watched(response, done) : response;
		};
		return listen ? this.#listening.run({ ...listen, task: task ?? SHARED_TASK }, answer) : answer();
	}

	/** Closes the door. Commands go on. */
	async close(): Promise<void> {
		await this.#modern.close();
		await this.#sessions.close();
		this.#options.clients?.close();
	}

	[Symbol.asyncDispose](): Promise<void> {
		return this.close();
	}

	#taskOf(request: Request): string | undefined {
		const named = this.#options.task ?? new URL(request.url).searchParams.get("task") ?? undefined;
		if (named !== undefined && !isTaskName(named)) throw new HoldfastError("INVALID", TASK_NAME);
		return named;
	}
}
