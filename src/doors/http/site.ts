/** The page, the API and the terminals' WebSockets, for one runtime. */
import type { IncomingMessage } from "node:http";
import type { Duplex } from "node:stream";
import type { Context, Hono } from "hono";
import { type WebSocket, WebSocketServer } from "ws";
import * as z from "zod";
import { Viewers } from "../../process/index.js";
import type { AgentRuntime } from "../../tools/index.js";
import { installAnswers } from "./answer.js";
import { Events } from "./events.js";
import { headersOf } from "./guard.js";
import { Logouts } from "./logouts.js";
import { CLOSE, MESSAGE_BYTES } from "./messages.js";
import { openApi } from "./openapi.js";
import { installParts } from "./part.js";
import type { SitePart } from "./part-types.js";
import { Previews } from "./previews/previews.js";
import type { PublicUrl } from "./public-url.js";
import { Refusal } from "./refusal.js";
import { failed, install, type Route, route } from "./router.js";
import { accessRoutes, mayLook } from "./routes/access.js";
import { callRoutes } from "./routes/calls.js";
import type { ApiContext } from "./routes/context.js";
import { eventRoutes } from "./routes/events.js";
import { fileRoutes } from "./routes/files.js";
import { outputRoutes } from "./routes/output.js";
import { previewRoutes } from "./routes/previews.js";
import { processRoutes } from "./routes/processes.js";
import { systemRoutes } from "./routes/system.js";
import { taskFileRoutes } from "./routes/task-files.js";
import { transcriptRoutes } from "./routes/transcript.js";
import { securityHeaders } from "./security.js";
import type { Site, SiteAddress } from "./serve.js";
import { serveStatic, WEB_DIR } from "./static.js";
import { TerminalSocket } from "./terminal-socket.js";
import { Tickets, type TicketUse } from "./tickets.js";
import { Views } from "./views.js";
import { isStillValid, visitorOf } from "./visitor.js";

const MOST_SOCKETS = 500;
const MOST_OF_VIEWER = 50;
const LONGEST_TIMER_MS = 2 ** 31 - 1;

export interface SiteOptions {
	readonly runtime: AgentRuntime;
	readonly token: string;
	readonly webDir?: string;
	readonly parts?: readonly SitePart[];
}

/** Cookies know no ports, and one for `/` is sent below every path: two servers must not share a name. */
const cookieOf = ({ port, prefix }: PublicUrl): string => `holdfast_${port}${prefix.replaceAll(/[^A-Za-z0-9]/g, "_")}`;

export function createSite({ runtime, token, webDir = WEB_DIR, parts = [] }: SiteOptions): Site {
	const tickets = new Tickets();
	const viewers = new Viewers(runtime.home);
	const logouts = new Logouts(runtime.home);
	const views = new Views();
	const events = new Events(runtime, views);
	const previews = new Previews({ runtime, token, logouts });
	let below = ""; // the path that it is mounted at
	const sockets = new Map<TerminalSocket, TicketUse>();
	const server = new WebSocketServer({ noServer: true, maxPayload: MESSAGE_BYTES, perMessageDeflate: false, clientTracking: false });

	const open = (socket: WebSocket, use: TicketUse): void => {
		const { visitor } = use;
		const stillValid = () => isStillValid(visitor, { viewers, logouts });
		const isViewer = visitor.scope === "viewer";
		const terminal = new TerminalSocket(socket, {
			runtime,
			views,
			process: runtime.get(use.what),
			masked: isViewer,
			readOnly: isViewer && !(visitor.keyboard && viewers.mayType(visitor.viewer)),
			stillValid,
			...(isViewer ? { link: { mayType: () => viewers.mayType(visitor.viewer), handedBack: () => viewers.handedBack(visitor.viewer) } } : {}),
		});
		const left = (visitor.expiresAt ?? Number.POSITIVE_INFINITY) - Date.now();
		const expiry = left < LONGEST_TIMER_MS ? setTimeout(() => terminal.close(CLOSE.expired, "this link has expired"), left) : undefined;
		sockets.set(terminal, use);
		socket.once("close", () => {
			clearTimeout(expiry);
			sockets.delete(terminal);
		});
	};

	const isFull = ({ visitor }: TicketUse): boolean => {
		if (sockets.size >= MOST_SOCKETS) return true;
		if (visitor.scope === "owner") return false;
		return [...sockets.values()].filter((other) => other.visitor.scope === "viewer" && other.visitor.viewer === visitor.viewer).length >= MOST_OF_VIEWER;
	};

	const upgrade = (request: IncomingMessage, socket: Duplex, head: Buffer): void => {
		const [full = "", query] = (request.url ?? "").split("?", 2);
		const pathname = full.startsWith(`${below}/`) ? full.slice(below.length) : "";
		const given = pathname === "/api/ws" ? tickets.use(new URLSearchParams(query).get("ticket") ?? "", "terminal") : undefined;
		const use = given && isStillValid(given.visitor, { viewers, logouts }) ? given : undefined;
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
		install: (app: Hono, { reached, shared, failures, prefix, mcp, previews: bases }: SiteAddress) => {
			below = prefix;
			const cookieName = (context: Context) => cookieOf(reached(headersOf(context)));
			const withdrawn = (viewer: string) => {
				for (const [terminal, { visitor }] of sockets)
					if (visitor.scope === "viewer" && visitor.viewer === viewer) terminal.close(CLOSE.expired, "this link was withdrawn");
			};
			const loggedOut = (session: string) => {
				logouts.add(session);
				previews.loggedOut(session);
				for (const [terminal, { visitor }] of sockets)
					if (visitor.scope === "owner" && visitor.session === session) terminal.close(CLOSE.expired, "this browser was logged out");
			};
			const api: ApiContext = {
				runtime,
				token,
				views,
				events,
				tickets,
				viewers,
				logouts,
				failures,
				cookieName,
				reached: (context) => reached(headersOf(context)),
				shared: (context) => shared(headersOf(context)),
				mcp,
				parts,
				previews: bases,
				withdrawn,
				loggedOut,
			};
			const routes: Route[] = [
				...accessRoutes(api),
				...processRoutes(api),
				...previewRoutes(api),
				...outputRoutes(api),
				...systemRoutes(api),
				...callRoutes(api),
				...transcriptRoutes(api),
				...fileRoutes(api),
				...taskFileRoutes(api),
				...eventRoutes(api),
			];
			let document: object | undefined;
			routes.push(
				route({ method: "get", path: "/api/openapi.json", who: "viewer", summary: "This document", answer: z.looseObject({}) }, () => {
					document ??= openApi(routes);
					return document;
				}),
			);
			app.use("*", securityHeaders(api.reached));
			const whoAsks = (context: Context) => visitorOf(context, { token, tickets, viewers, logouts, failures, cookieName, prefix });
			install(app, routes, whoAsks, mayLook);
			installParts(app, parts, { prefix, visitorOf: whoAsks, isStillValid: (visitor) => isStillValid(visitor, { viewers, logouts }) });
			app.all("/api/*", (context) => failed(context, new Refusal(404, "NOT_FOUND", "there is nothing at this path; /api/openapi.json lists what there is")));
			installAnswers(app, api);
			app.get("*", (context) => serveStatic(context, webDir, prefix));
		},
		upgrade,
		previews,
		close: async () => {
			previews.close();
			events.close();
			for (const terminal of sockets.keys()) terminal.close(CLOSE.leaving, "the server stops");
			await Promise.all(parts.map((part) => part.close?.()));
		},
	};
}
