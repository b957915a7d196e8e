/** A server on loopback for one file of tests. */
import http from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll } from "vitest";

export type Route = (request: http.IncomingMessage, response: http.ServerResponse, body: string) => void;

export interface TestSite {
	/** `http://127.0.0.1:PORT`. */
	url: string;
	port: number;
	hits: string[];
}

/** `route` gets every request, its body read. */
export function testSite(route: Route, host = "127.0.0.1"): TestSite {
	const site: TestSite = { url: "", port: 0, hits: [] };
	const server = http.createServer(async (request, response) => {
		site.hits.push(`${request.method} ${request.url}`);
		let body = "";
		request.setEncoding("latin1");
		for await (const piece of request) body += piece;
		route(request, response, body);
	});
	beforeAll(async () => {
		await new Promise<void>((resolve) => server.listen(0, host, resolve));
		site.port = (server.address() as AddressInfo).port;
		site.url = `http://127.0.0.1:${site.port}`;
	});
	afterAll(async () => {
		server.closeAllConnections();
		await new Promise((resolve) => server.close(resolve));
	});
	return site;
}
