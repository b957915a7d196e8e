/** Counters for Prometheus, and whether it is well, on loopback. */
import http from "node:http";
import type { AddressInfo } from "node:net";
import type { Gateway } from "./gateway.js";

export interface MetricsServer {
	readonly url: string;
	close(): Promise<void>;
}

/** `/metrics` and `/health`; the second is 503 while a platform is not connected. */
export async function serveMetrics(gateway: Pick<Gateway, "metrics" | "status">, port: number): Promise<MetricsServer> {
	const server = http.createServer((request, response) => {
		const local = /^(127\.0\.0\.1|localhost|\[::1\])(:\d+)?$/.test(request.headers.host ?? "");
		if (!local || request.method !== "GET") return void response.writeHead(local ? 405 : 403).end();
		if (request.url === "/metrics") return void response.writeHead(200, { "content-type": "text/plain; version=0.0.4; charset=utf-8" }).end(gateway.metrics);
		if (request.url !== "/health") return void response.writeHead(404).end();
		const { platforms } = gateway.status;
		const well = platforms.every(({ up }) => up);
		response.writeHead(well ? 200 : 503, { "content-type": "application/json" }).end(JSON.stringify({ ok: well, platforms }));
	});
	await new Promise<void>((resolve, reject) => server.once("error", reject).listen(port, "127.0.0.1", resolve));
	return {
		url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
		close: () =>
			new Promise((resolve) => {
				server.close(() => resolve());
				server.closeAllConnections();
			}),
	};
}
