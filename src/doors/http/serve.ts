/** The HTTP door: a small server with a guard before everything. The routes are in site.ts. */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import type { Duplex } from "node:stream";
import { getRequestListener } from "@hono/node-server";
import { Hono } from "hono";
import { errno, fromSystem, HoldfastError } from "../../base/index.js";
import { type Address, addressGuard, Failures, type Headers, reachedBy, tokenGuard } from "./guard.js";
import { type PreviewBase, parsePreviewUrls, previewNamed } from "./previews/names.js";
import type { Previews } from "./previews/previews.js";
import { httpOrigin, isLoopback, type PublicUrl, parsePublicUrls, reachableHosts, urlText } from "./public-url.js";

export interface HttpOptions {
	readonly host: string;
	/** 0: any that is free. */
	readonly port: number;
	readonly token: string;
	/** Other addresses of this server for browsers; links have the first. */
	readonly publicUrls?: readonly string[];
	/** Names of previews, besides `localhost`: `https://*.preview.example.org`. */
	readonly previewUrls?: readonly string[];
	/** Handlers by path, for clients with the token. */
	readonly routes: Readonly<Record<string, (request: Request) => Promise<Response>>>;
	/** The page and the API, which check rights themselves. */
	readonly site?: Site;
}

export interface SiteAddress {
	/** The address by which a visitor has come. */
	readonly reached: (headers: Headers) => PublicUrl;
	/** The address for a link that this visitor gives to another one. */
	readonly shared: (headers: Headers) => string;
	/** Below which path of a server of others it is; "" if it has a server of its own. */
	readonly prefix: string;
	/** Whether MCP is served beside it, at /mcp. */
	readonly mcp: boolean;
	/** The names of previews; undefined if such names cannot lead to this server. */
	readonly previews?: readonly PreviewBase[];
	/** Wrong tokens, counted together. */
	readonly failures: Failures;
}

export interface Site {
	install(app: Hono, where: SiteAddress): void;
	upgrade(request: IncomingMessage, socket: Duplex, head: Buffer): void;
	readonly previews: Previews;
	close(): Promise<void>;
}

export interface HttpServer extends AsyncDisposable {
	/** `http://HOST:PORT`, where it listens. */
	readonly origin: string;
	/** Its addresses for browsers, the best for links first: public addresses, or those of this machine. */
	readonly urls: readonly string[];
	close(): Promise<void>;
}

export async function serveHttp(options: HttpOptions): Promise<HttpServer> {
	const { host, token, site } = options;
	let port = options.port;
	const publicUrls = parsePublicUrls(options.publicUrls ?? [], "a public URL");
	const previews = parsePreviewUrls(options.previewUrls ?? [], "a preview URL");
	const address: Address = { host, port: () => port, urls: publicUrls };
	const urls = () => [...publicUrls.map(urlText), ...reachableHosts(host).map((name) => httpOrigin(name, port))];
	const failures = new Failures();
	const app = new Hono();
	app.use("*", addressGuard(address));
	for (const [path, answer] of Object.entries(options.routes)) app.all(path, tokenGuard(token, failures), (context) => answer(context.req.raw));
	site?.install(app, { reached: reachedOr(address), shared: sharedBy(address, urls), failures, prefix: "", mcp: "/mcp" in options.routes, previews });
	if (!site) app.use("*", tokenGuard(token, failures));
	const answer = getRequestListener(app.fetch, { overrideGlobalObjects: false });
	const server = createServer((request, response) => {
		const preview = site && previewNamed(request.headers.host, previews);
		if (preview) site.previews.request(preview, request, response);
		else if (!below(request, response, address)) void answer(request, response);
	});
	server.on("upgrade", (request: IncomingMessage, socket: Duplex, head: Buffer) => {
		socket.on("error", () => {}); // a connection that is cut off now is of no interest
		const preview = site && previewNamed(request.headers.host, previews);
		if (preview) return void site.previews.upgrade(preview, request, socket, head);
		const reached = reachedBy(request.headers, address);
		if (typeof reached === "string" || !site)
			socket.end(`HTTP/1.1 ${typeof reached === "string" ? "403 Forbidden" : "404 Not Found"}\r\nConnection: close\r\nContent-Length: 0\r\n\r\n`);
		else {
			request.url = pathBelow(request.url ?? "/", reached.prefix);
			site.upgrade(request, socket, head);
		}
	});
	await listen(server, options);
	port = (server.address() as AddressInfo).port;
	const close = async () => {
		const left = site?.close();
		const closed = new Promise((resolve) => server.close(resolve));
		server.closeAllConnections(); // streams that stay open would keep it for ever
		await Promise.all([closed, left]);
	};
	return { origin: httpOrigin(host, port), urls: urls(), close, [Symbol.asyncDispose]: close };
}

/** Only callers that have passed the guard are answered; a refusal shows no address. */
function reachedOr(address: Address): SiteAddress["reached"] {
	return (headers) => {
		const reached = reachedBy(headers, address);
		const origin = httpOrigin(address.host, address.port());
		return typeof reached === "string" ? { origin, host: new URL(origin).host, port: address.port(), prefix: "" } : reached;
	};
}

/** The name that the visitor uses, if it is one for others: not a loopback name where there is a better one. */
function sharedBy(address: Address, urls: () => readonly string[]): SiteAddress["shared"] {
	const reached = reachedOr(address);
	return (headers) => {
		const used = reached(headers);
		const isForOthers = address.urls.includes(used) || (address.urls.length === 0 && !isLoopback(new URL(used.origin).hostname));
		return isForOthers || (address.urls.length === 0 && isLoopback(address.host)) ? urlText(used) : (urls()[0] as string);
	};
}

/** Takes the prefix of the public address off the path, where the proxy has left it there. True: it was answered, with the way to the page. */
function below(request: IncomingMessage, response: ServerResponse, address: Address): boolean {
	const reached = reachedBy(request.headers, address);
	if (typeof reached === "string" || reached.prefix === "") return false;
	const url = request.url ?? "/";
	if (url.split("?", 1)[0] === reached.prefix) {
		response.writeHead(308, { Location: `${reached.prefix}/` }).end();
		return true;
	}
	request.url = pathBelow(url, reached.prefix);
	return false;
}

const pathBelow = (url: string, prefix: string): string => (prefix !== "" && url.startsWith(`${prefix}/`) ? url.slice(prefix.length) : url);

async function listen(server: Server, { host, port }: HttpOptions): Promise<void> {
	await new Promise<void>((resolve, reject) => {
		server.once("error", (error) => reject(explain(error, host, port)));
		server.listen({ host, port, exclusive: true }, resolve);
	});
}

function explain(error: Error, host: string, port: number): HoldfastError {
	if (errno(error) === "EADDRINUSE")
		return new HoldfastError(
			"INVALID",
			`something already listens on ${host}:${port}; if that is \`holdfast serve\`, \`holdfast serve --link\` prints a link to it, else choose another with --port`,
			{ cause: error },
		);
	if (errno(error) === "EACCES")
		return new HoldfastError("INVALID", `not allowed to listen on port ${port}; choose one above 1023 with --port`, { cause: error });
	if (errno(error) === "EADDRNOTAVAIL" || errno(error) === "ENOTFOUND")
		return new HoldfastError("INVALID", `${host} is no address of this machine`, { cause: error });
	return fromSystem(error, `cannot listen on ${host}:${port}`);
}
