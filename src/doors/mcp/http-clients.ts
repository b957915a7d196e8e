/**
 * The clients over HTTP, by task, for lists in other programs. A client has no connection that ends with it: it is there while a request or a stream of its
 * is open, and silent afterwards. It is gone when its session has ended, nothing was heard of it for a day, or this server has ended.
 */
import type { Home, Lease } from "../../base/index.js";
import type { ClientInfo } from "./client.js";
import { HTTP_IDLE_MS, present, prunePresence } from "./presence.js";

/** Between two signs of life. */
const SIGN_MS = 5_000;

interface Entry {
	lease: Lease | undefined;
	client: ClientInfo;
	/** Requests and streams. */
	open: number;
	/** The number of sessions of the older protocol. */
	sessions: number;
	heardAt: number;
	signedAt: number;
}

export class HttpClients {
	readonly #home: Home;
	readonly #entries = new Map<string, Entry>();
	#timer: NodeJS.Timeout | undefined;

	constructor(home: Home) {
		this.#home = home;
		prunePresence(home);
	}

	/** A request has come. Returns a function that is called when it is answered. */
	heard(task: string, client: ClientInfo = {}): () => void {
		this.#forgetOld();
		const entry = this.#entries.get(task) ?? { lease: undefined, client: {}, open: 0, sessions: 0, heardAt: 0, signedAt: 0 };
		this.#entries.set(task, entry);
		const isNews = client.name !== undefined && (client.name !== entry.client.name || client.version !== entry.client.version);
		if (isNews) entry.client = client;
		if (isNews || !entry.lease) this.#show(task, entry);
		entry.open++;
		this.#sign(entry);
		let isDone = false;
		return () => {
			if (isDone) return;
			isDone = true;
			entry.open--;
			this.#sign(entry);
		};
	}

	opened(task: string): void {
		const entry = this.#entries.get(task);
		if (entry) entry.sessions++;
	}

	/** A session has ended. */
	ended(task: string): void {
		const entry = this.#entries.get(task);
		if (entry && --entry.sessions <= 0) this.#forget(task, entry);
	}

	/** The answer, seen to its end: a stream is open until then. */
	watched(response: Response, done: () => void): Response {
		if (!response.body || !/^text\/event-stream/.test(response.headers.get("content-type") ?? "")) {
			done();
			return response;
		}
		const reader = response.body.getReader();
		const body = new ReadableStream<Uint8Array>({
			async pull(controller) {
				try {
					const { value, done: over } = await reader.read();
					if (!over) return controller.enqueue(value);
					done();
					controller.close();
				} catch (error) {
					done();
					controller.error(error);
				}
			},
			cancel(reason) {
				done();
				return reader.cancel(reason);
			},
		});
		return new Response(body, response);
	}

	close(): void {
		for (const [task, entry] of this.#entries) this.#forget(task, entry);
		clearInterval(this.#timer);
	}

	/** Shows a client in lists. A failure (a full disk, another server that has the task) is no reason to refuse the client. */
	#show(task: string, entry: Entry): void {
		try {
			entry.lease?.release();
			entry.lease = present(this.#home, task, { ...entry.client, http: true });
			entry.signedAt = Date.now();
		} catch {
			entry.lease = undefined;
		}
	}

	#sign(entry: Entry): void {
		entry.heardAt = Date.now();
		this.#renew(entry);
		this.#timer ??= setInterval(() => {
			for (const each of this.#entries.values()) if (each.open > 0) this.#sign(each);
		}, SIGN_MS).unref();
	}

	#renew(entry: Entry): void {
		if (Date.now() - entry.signedAt < SIGN_MS / 2) return;
		entry.signedAt = Date.now();
		try {
			if (entry.lease && !entry.lease.renew()) entry.lease = undefined;
		} catch {
			// a full disk: the client looks silent
		}
	}

	#forgetOld(): void {
		for (const [task, entry] of this.#entries)
			if (entry.open === 0 && entry.sessions === 0 && Date.now() - entry.heardAt > HTTP_IDLE_MS) this.#forget(task, entry);
	}

	#forget(task: string, entry: Entry): void {
		this.#entries.delete(task);
		try {
			entry.lease?.release();
		} catch {
			// as above: the lease gets stale
		}
	}
}
