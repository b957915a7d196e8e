/** The HTTP door: one small server with a guard before everything. What is behind a path is somebody else's matter. */
import type { IncomingMessage, Server } from "node:http";
import type { AddressInfo } from "node:net";
import type { Duplex } from "node:stream";
import { createAdaptorServer } from "@hono/node-server";
import { Hono } from "hono";
import { errno, fromSystem, HoldfastError } from "../../base/errors.js";
import { addressGuard, Failures, tokenGuard, wrongAddress } from "./guard.js";

export interface HttpOptions {
	readonly host: string;
	/** 0: any that is free. */
	readonly port: number;
	readonly token: string;
	/** Path to what answers there, for who has the token. */
	readonly routes: Readonly<Record<string, (request: Request) => Promise<Response>>>;
	/** What sees to itself who may do what. */
	readonly site?: Site;
}

export interface Where {
	readonly origin: () => string;
	readonly port: () => number;
	/** Wrong tokens, counted together. */
	readonly failures: Failures;
}

export interface Site {
	install(app: Hono, where: Where): void;
	upgrade(request: IncomingMessage, socket: Duplex, head: Buffer): void;
	close(): Promise<void>;
}

export interface HttpServer extends AsyncDisposable {
	readonly origin: string;
	close(): Promise<void>;
}

export async function serveHttp(options: HttpOptions): Promise<HttpServer> {
	const { host, token, site } = options;
	let port = options.port;
	const origin = () => `http://${host.includes(":") ? `[${host}]` : host}:${port}`;
	const address = { host, port: () => port };
	const failures = new Failures();
	const app = new Hono();
	app.use("*", addressGuard(address));
	for (const [path, answer] of Object.entries(options.routes)) app.all(path, tokenGuard(token, failures), (context) => answer(context.req.raw));
	site?.install(app, { origin, port: () => port, failures });
	if (!site) app.use("*", tokenGuard(token, failures));
	const server = createAdaptorServer({ fetch: app.fetch, overrideGlobalObjects: false }) as Server;
	server.on("upgrade", (request: IncomingMessage, socket: Duplex, head: Buffer) => {
		socket.on("error", () => {}); // one that is cut off now concerns nobody
		const wrong = wrongAddress(request.headers, address);
		if (wrong !== undefined || !site)
			socket.end(`HTTP/1.1 ${wrong === undefined ? "404 Not Found" : "403 Forbidden"}\r\nConnection: close\r\nContent-Length: 0\r\n\r\n`);
		else site.upgrade(request, socket, head);
	});
	await listen(server, options);
	port = (server.address() as AddressInfo).port;
	const close = async () => {
		const left = site?.close();
		const closed = new Promise((resolve) => server.close(resolve));
		server.closeAllConnections(); // streams that stay open would keep it for ever
		await Promise.all([closed, left]);
	};
	return { origin: origin(), close, [Symbol.asyncDispose]: close };
}

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
