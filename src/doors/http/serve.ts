/** The HTTP door: one small server with a guard before everything. What is behind a path is somebody else's matter. */
import type { Server } from "node:http";
import type { AddressInfo } from "node:net";
import { createAdaptorServer } from "@hono/node-server";
import { Hono } from "hono";
import { errno, fromSystem, HoldfastError } from "../../base/errors.js";
import { guard } from "./guard.js";

export interface HttpOptions {
	readonly host: string;
	/** 0: any that is free. */
	readonly port: number;
	readonly token: string;
	/** Path to what answers there. */
	readonly routes: Readonly<Record<string, (request: Request) => Promise<Response>>>;
}

export interface HttpServer extends AsyncDisposable {
	readonly origin: string;
	close(): Promise<void>;
}

export async function serveHttp(options: HttpOptions): Promise<HttpServer> {
	let port = options.port;
	const app = new Hono();
	app.use("*", guard({ ...options, port: () => port }));
	for (const [path, answer] of Object.entries(options.routes)) app.all(path, (context) => answer(context.req.raw));
	const server = createAdaptorServer({ fetch: app.fetch, overrideGlobalObjects: false }) as Server;
	await listen(server, options);
	port = (server.address() as AddressInfo).port;
	const close = async () => {
		const closed = new Promise((resolve) => server.close(resolve));
		server.closeAllConnections(); // streams that stay open would keep it for ever
		await closed;
	};
	return { origin: `http://${options.host.includes(":") ? `[${options.host}]` : options.host}:${port}`, close, [Symbol.asyncDispose]: close };
}

async function listen(server: Server, { host, port }: HttpOptions): Promise<void> {
	await new Promise<void>((resolve, reject) => {
		server.once("error", (error) => reject(explain(error, host, port)));
		server.listen({ host, port, exclusive: true }, resolve);
	});
}

function explain(error: Error, host: string, port: number): HoldfastError {
	if (errno(error) === "EADDRINUSE")
		return new HoldfastError("INVALID", `something already listens on ${host}:${port}, perhaps another holdfast; choose another with --port`, { cause: error });
	if (errno(error) === "EACCES")
		return new HoldfastError("INVALID", `not allowed to listen on port ${port}; choose one above 1023 with --port`, { cause: error });
	if (errno(error) === "EADDRNOTAVAIL" || errno(error) === "ENOTFOUND")
		return new HoldfastError("INVALID", `${host} is no address of this machine`, { cause: error });
	return fromSystem(error, `cannot listen on ${host}:${port}`);
}
