/** A preview: what a browser asks of its name is asked of a port of a process, wherever that runs, and answered with what it says. docs/remote.md */
import http, { type IncomingMessage, type ServerResponse } from "node:http";
import type { Duplex } from "node:stream";
import type { AgentRuntime } from "../../../tools/index.js";
import type { Logouts } from "../logouts.js";
import { problemOf, Refusal } from "../refusal.js";
import { refusalText } from "../refusal-page.js";
import { admitted, cookieFor, isForeignTo, OWN_PATH } from "./access.js";
import { Connections } from "./connections.js";
import { toApplication, toBrowser } from "./headers.js";
import type { PreviewName } from "./names.js";

const MOST_SOCKETS = 500;

export interface PreviewOptions {
	readonly runtime: AgentRuntime;
	readonly token: string;
	readonly logouts: Logouts;
}

export class Previews {
	readonly #options: PreviewOptions;
	readonly #connections: Connections;
	/** WebSockets, with the session of the browser that opened each. */
	readonly #sockets = new Map<Duplex, string | undefined>();

	constructor(options: PreviewOptions) {
		this.#options = options;
		this.#connections = new Connections(options.runtime);
	}

	request(name: PreviewName, request: IncomingMessage, response: ServerResponse): void {
		try {
			if (request.url?.startsWith(OWN_PATH)) this.#own(name, request, response);
			else {
				this.#admit(name, request);
				this.#forward(name, request, response);
			}
		} catch (error) {
			refuse(request, response, error);
		}
	}

	async upgrade(name: PreviewName, request: IncomingMessage, socket: Duplex, head: Buffer): Promise<void> {
		const gone = new AbortController();
		socket.once("close", () => gone.abort());
		let far: Duplex | undefined;
		try {
			const { session } = this.#admit(name, request);
			if (this.#sockets.size >= MOST_SOCKETS) throw new Refusal(429, "LIMIT", "too many connections are open");
			this.#sockets.set(socket, session);
			socket.once("close", () => this.#sockets.delete(socket));
			far = await this.#connections.open(name);
			if (gone.signal.aborted) far.destroy();
			else join(request, { socket, head, far, port: name.port });
		} catch (error) {
			far?.destroy();
			const { status, body } = problemOf(error);
			socket.end(
				`HTTP/1.1 ${status} ${http.STATUS_CODES[status]}\r\nContent-Type: text/plain; charset=utf-8\r\nConnection: close\r\n\r\n${body.error.message}\n`,
			);
		}
	}

	/** The browser of this session was logged out. */
	loggedOut(session: string): void {
		for (const [socket, of] of this.#sockets) if (of === session) socket.destroy();
	}

	close(): void {
		for (const socket of this.#sockets.keys()) socket.destroy();
		this.#connections.close();
	}

	/** Throws a Refusal unless the owner's browser asks, from a page of the application itself or by a link. */
	#admit(name: PreviewName, { headers, method = "GET" }: IncomingMessage): { session: string | undefined } {
		const found = admitted(this.#options.token, name, headers.cookie);
		if (!found || (found.session !== undefined && this.#options.logouts.has(found.session)))
			throw new Refusal(401, "UNAUTHORIZED", "this preview is opened from the terminal's page, or with the link that `holdfast preview` prints");
		if (isForeignTo(headers, method)) throw new Refusal(403, "FORBIDDEN", "pages of other origins may not use this preview");
		return found;
	}

	#own(name: PreviewName, request: IncomingMessage, response: ServerResponse): void {
		const { pathname, searchParams } = new URL(request.url ?? "/", "http://localhost");
		if (pathname !== `${OWN_PATH}open` || request.method !== "GET") throw new Refusal(404, "NOT_FOUND", "there is nothing at this path");
		const cookie = cookieFor(this.#options.token, name, searchParams.get("key") ?? "");
		if (cookie === undefined)
			throw new Refusal(
				401,
				"UNAUTHORIZED",
				"this link has expired or is for another preview; open it from the terminal's page again, or run `holdfast preview`",
			);
		response.writeHead(303, { Location: "/", "Set-Cookie": cookie, "Referrer-Policy": "no-referrer", "Cache-Control": "no-store" }).end();
	}

	/** `fresh`: the request is repeated on this connection; it has no body. */
	#forward(name: PreviewName, request: IncomingMessage, response: ServerResponse, fresh?: Duplex): void {
		const { method = "GET", url = "/", rawHeaders } = request;
		const asked = http.request({
			method,
			path: url,
			headers: toApplication(rawHeaders, name.port) as unknown as http.OutgoingHttpHeaders, // raw, as Node takes them too: several of a name stay several
			setHost: false,
			...(fresh ? { createConnection: () => fresh as never } : { agent: this.#connections.agent(name) }),
		});
		const stop = () => asked.destroy();
		response.once("close", stop);
		asked.on("error", (error) => {
			response.off("close", stop);
			const mayRepeat = asked.reusedSocket && (method === "GET" || method === "HEAD") && !response.headersSent && !response.destroyed;
			const refused = (why: unknown) => refuse(request, response, why);
			if (!mayRepeat) refused(error);
			// An idle connection was closed just then.
			else
				this.#connections
					.open(name)
					.then((socket) => this.#forward(name, request, response, socket))
					.catch(refused);
		});
		asked.on("response", (answer) => {
			response.writeHead(answer.statusCode ?? 502, answer.statusMessage ?? "", toBrowser(answer.rawHeaders, name.port) as unknown as http.OutgoingHttpHeaders);
			answer.pipe(response);
			answer.once("close", () => {
				if (!answer.complete) response.destroy(); // cut off: the browser is to see that
			});
		});
		if (fresh) asked.end();
		else request.pipe(asked);
	}
}

/** Passes an upgrade on, and then everything in both directions. */
function join(request: IncomingMessage, { socket, head, far, port }: { socket: Duplex; head: Buffer; far: Duplex; port: number }): void {
	const ends = () => {
		socket.destroy();
		far.destroy();
	};
	for (const end of [socket, far]) end.on("error", ends).once("close", ends);
	const asked = http.request({
		method: request.method ?? "GET",
		path: request.url ?? "/",
		headers: toApplication(request.rawHeaders, port, request.headers.upgrade ?? "websocket") as unknown as http.OutgoingHttpHeaders,
		setHost: false,
		createConnection: () => far as never,
	});
	const write = (answer: IncomingMessage, extra: readonly string[]) => {
		const lines = [...toBrowser(answer.rawHeaders, port), ...extra];
		const text = lines.map((part, at) => (at % 2 === 0 ? `${part}: ` : `${part}\r\n`)).join("");
		socket.write(`HTTP/1.1 ${answer.statusCode} ${answer.statusMessage}\r\n${text}\r\n`, "latin1");
	};
	asked.on("error", ends);
	asked.on("response", (answer) => {
		write(answer, ["Connection", "close"]);
		answer.pipe(socket);
	});
	asked.on("upgrade", (answer, _, rest) => {
		write(answer, ["Connection", "Upgrade", "Upgrade", String(answer.headers.upgrade ?? "websocket")]);
		if (rest.length > 0) socket.write(rest);
		if (head.length > 0) far.write(head);
		socket.pipe(far).pipe(socket);
	});
	asked.end();
}

/** A page for a browser that shows one, a sentence for all else. */
function refuse(request: IncomingMessage, response: ServerResponse, error: unknown): void {
	if (response.headersSent || response.destroyed) {
		response.destroy();
		return;
	}
	const { status: found, body } = problemOf(error);
	const status = error instanceof Refusal ? found : 502;
	const message = !(error instanceof Refusal) && found === 500 ? "the application does not answer in HTTP, or has ended meanwhile" : body.error.message;
	const { text, headers } = refusalText(status, message, request.headers.accept);
	response.writeHead(status, { ...headers, "Cache-Control": "no-store" }).end(text);
	request.resume();
}
