/** The page, the API and the terminals' WebSockets, for one runtime. */
import type { IncomingMessage } from "node:http";
import type { Duplex } from "node:stream";
import type { Hono } from "hono";
import { type WebSocket, WebSocketServer } from "ws";
import * as z from "zod";
import type { AgentRuntime } from "../../tools/index.js";
import { Events } from "./events.js";
import { CLOSE, MESSAGE_BYTES } from "./messages.js";
import { openApi } from "./openapi.js";
import { Refusal } from "./refusal.js";
import { failed, install, type Route, route } from "./router.js";
import { accessRoutes, mayLook } from "./routes/access.js";
import type { ApiContext } from "./routes/context.js";
import { eventRoutes } from "./routes/events.js";
import { fileRoutes } from "./routes/files.js";
import { outputRoutes } from "./routes/output.js";
import { processRoutes } from "./routes/processes.js";
import { systemRoutes } from "./routes/system.js";
import { securityHeaders } from "./security.js";
import type { Site, Where } from "./serve.js";
import { serveStatic, WEB_DIR } from "./static.js";
import { TerminalSocket } from "./terminal-socket.js";
import { Tickets, type TicketUse } from "./tickets.js";
import { Viewers } from "./viewers.js";
import { Views } from "./views.js";
import { visitorOf } from "./visitor.js";

const MOST_SOCKETS = 500;
const MOST_OF_VIEWER = 50;

export interface SiteOptions {
	readonly runtime: AgentRuntime;
	readonly token: string;
	readonly webDir?: string;
}

export function createSite({ runtime, token, webDir = WEB_DIR }: SiteOptions): Site {
	const tickets = new Tickets();
	const viewers = new Viewers(runtime.home);
	const views = new Views();
	const events = new Events(runtime, views);
	const sockets = new Map<TerminalSocket, TicketUse>();
	const server = new WebSocketServer({ noServer: true, maxPayload: MESSAGE_BYTES, perMessageDeflate: false, clientTracking: false });

	const open = (socket: WebSocket, use: TicketUse): void => {
		const { visitor } = use;
		const stillValid = () => (visitor.scope === "viewer" ? viewers.isValid(visitor.viewer) : visitor.expiresAt === null || visitor.expiresAt > Date.now());
		const terminal = new TerminalSocket(socket, { runtime, views, process: runtime.get(use.what), readOnly: visitor.scope === "viewer", stillValid });
		sockets.set(terminal, use);
		socket.once("close", () => sockets.delete(terminal));
	};

	const isFull = ({ visitor }: TicketUse): boolean => {
		if (sockets.size >= MOST_SOCKETS) return true;
		if (visitor.scope === "owner") return false;
		return [...sockets.values()].filter((other) => other.visitor.scope === "viewer" && other.visitor.viewer === visitor.viewer).length >= MOST_OF_VIEWER;
	};

	const upgrade = (request: IncomingMessage, socket: Duplex, head: Buffer): void => {
		const [pathname, query] = (request.url ?? "").split("?", 2);
		const use = pathname === "/api/ws" ? tickets.use(new URLSearchParams(query).get("ticket") ?? "", "terminal") : undefined;
		const refused = pathname !== "/api/ws" ? "404 Not Found" : !use ? "401 Unauthorized" : isFull(use) ? "429 Too Many Requests" : undefined;
		if (refused !== undefined || !use) {
			socket.end(`HTTP/1.1 ${refused}\r\nConnection: close\r\nContent-Length: 0\r\n\r\n`);
			return;
		}
		server.handleUpgrade(request, socket, head, (websocket) => {
			try {
				open(websocket, use);
			} catch {
				websocket.close(CLOSE.gone, "the process was removed");
			}
		});
	};

	return {
		install: (app: Hono, { origin, port, failures }: Where) => {
			const cookieName = () => `holdfast_${port()}`; // cookies know no ports, so that two servers must not share one
			const withdrawn = (viewer: string) => {
				for (const [terminal, { visitor }] of sockets)
					if (visitor.scope === "viewer" && visitor.viewer === viewer) terminal.close(CLOSE.expired, "this link was withdrawn");
			};
			const api: ApiContext = { runtime, token, views, events, tickets, viewers, failures, cookieName, origin, withdrawn };
			const routes: Route[] = [
				...accessRoutes(api),
				...processRoutes(api),
				...outputRoutes(api),
				...systemRoutes(api),
				...fileRoutes(api),
				...eventRoutes(api),
			];
			let document: object | undefined;
			routes.push(
				route({ method: "get", path: "/api/openapi.json", who: "viewer", summary: "This document", answer: z.looseObject({}) }, () => {
					document ??= openApi(routes);
					return document;
				}),
			);
			app.use("*", securityHeaders(origin));
			install(app, routes, (context) => visitorOf(context, { token, tickets, viewers, failures, cookieName }), mayLook);
			app.all("/api/*", (context) => failed(context, new Refusal(404, "NOT_FOUND", "there is nothing at this path; /api/openapi.json lists what there is")));
			app.get("*", (context) => serveStatic(context, webDir));
		},
		upgrade,
		close: async () => {
			events.close();
			for (const terminal of sockets.keys()) terminal.close(CLOSE.leaving, "the server stops");
		},
	};
}
