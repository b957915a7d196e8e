/** The HTTP door as the library shows it: `holdfast/http`. A server of its own, or a part of another program's. */
import type { IncomingMessage, ServerResponse } from "node:http";
import path from "node:path";
import type { Duplex } from "node:stream";
import { getRequestListener } from "@hono/node-server";
import { Hono } from "hono";
import * as z from "zod";
import { agentOf, type Runtime } from "../../api/index.js";
import { HoldfastError, parseOptions } from "../../base/index.js";
import type { AgentRuntime } from "../../tools/index.js";
import { httpDoor } from "../mcp/index.js";
import { Failures, headersOf } from "./guard.js";
import { partsSchema } from "./part.js";
import type { SitePart } from "./part-types.js";
import { parsePreviewUrls, previewNamed } from "./previews/names.js";
import { isLoopback, type PublicUrl, parsePublicUrl, urlText } from "./public-url.js";
import { refusalPage, wantsPage } from "./refusal-page.js";
import { serveHttp } from "./serve.js";
import { linkKey } from "./sign.js";
import { createSite as innerSite } from "./site.js";
import { ensureToken } from "./token.js";

export type { PartHost, PartModule, PartVisit, SitePart } from "./part-types.js";

export interface SiteOptions {
	/** Its address in browsers: `https://example.org/terminals/`. Requests for another host, and pages of other origins, are refused. */
	readonly url: string;
	/** Opens it, in place of the one in the file `token` of the home: one word of 32 characters or more. */
	readonly token?: string | undefined;
	/** Names of previews of ports, besides `localhost`: `https://*.preview.example.org`. Requests for these names go to `listener` and `upgrade`. Without it there are no previews. */
	readonly previewUrls?: readonly string[] | undefined;
	/** Views of other packages in the page. They are closed with it. */
	readonly parts?: readonly SitePart[] | undefined;
}

/** The page, the API and the terminals' WebSockets, to be mounted in a server of another program, behind whatever that asks of its visitors. */
export interface HttpSite extends AsyncDisposable {
	/** Without a slash at its end. */
	readonly url: string;
	/** Returns a link that lets a browser in; it works for 12 hours, and the session it opens for 30 days. */
	link(): string;
	/** Answers a request whose path begins with that of `url`. */
	fetch(request: Request): Promise<Response>;
	/** The same for a server of `node:http`. */
	listener(request: IncomingMessage, response: ServerResponse): void;
	/** Takes over a connection, on the event `upgrade` of a server of `node:http`. */
	upgrade(request: IncomingMessage, socket: Duplex, head: Buffer): void;
	/** Ends the connections of viewers. What runs goes on. */
	close(): Promise<void>;
}

const aToken = z
	.string()
	.regex(/^[\x21-\x7e]{32,}$/, "must be one word of 32 characters or more")
	.optional();
const siteOptions = z.strictObject({ url: z.string(), token: aToken, previewUrls: z.array(z.string()).optional(), parts: partsSchema.optional() });
const serveOptions = z.strictObject({
	host: z.string().min(1).optional(),
	port: z.number().int().min(0).max(65_535).optional(),
	token: aToken,
	publicUrls: z.array(z.string()).optional(),
	previewUrls: z.array(z.string()).optional(),
	task: z.string().min(1).optional(),
	parts: partsSchema.optional(),
});

/** Makes the site of a runtime. Throws INVALID if an option cannot be used. */
export function createSite(runtime: Runtime, options: SiteOptions): HttpSite {
	const agent = agentOf(runtime);
	const given = parseOptions("createSite", siteOptions, options);
	const address = parsePublicUrl(given.url, "createSite: url");
	const { prefix } = address;
	const url = urlText(address);
	const token = tokenOf(agent, given.token);
	const previews = given.previewUrls && parsePreviewUrls(given.previewUrls, "createSite: previewUrls");
	const previewOf = ({ headers }: IncomingMessage) => previews && previewNamed(headers.host, previews);
	const site = innerSite({ runtime: agent, token, parts: given.parts ?? [] });
	const app = new Hono({ getPath: (request) => pathBelow(request.url, prefix) || "/" });
	app.use("*", async (context, next) => {
		const wrong = wrongOrigin(headersOf(context), address);
		if (wrong !== undefined && wantsPage(context)) return refusalPage(context, 403, wrong);
		if (wrong !== undefined) return context.json({ error: { code: "FORBIDDEN", message: wrong } }, 403);
		const below = pathBelow(context.req.url, prefix);
		if (below === undefined) return context.json({ error: { code: "NOT_FOUND", message: `this is mounted at ${url}/` } }, 404);
		return below === "" ? context.redirect(`${prefix}/`, 308) : next();
	});
	site.install(app, { reached: () => address, shared: () => url, failures: new Failures(), prefix, mcp: false, ...(previews ? { previews } : {}) });
	const answer = getRequestListener(app.fetch, { overrideGlobalObjects: false, hostname: address.host }) as HttpSite["listener"];
	const close = () => site.close();
	return {
		url,
		link: () => `${url}/#token=${linkKey(token)}`,
		fetch: async (request) => app.fetch(request),
		listener: (request, response) => {
			const preview = previewOf(request);
			if (preview) site.previews.request(preview, request, response);
			else answer(request, response);
		},
		upgrade: (request, socket, head) => {
			socket.on("error", () => {}); // a connection that is cut off now is of no interest
			const preview = previewOf(request);
			if (preview) void site.previews.upgrade(preview, request, socket, head);
			else if (wrongOrigin(request.headers, address) === undefined) site.upgrade(request, socket, head);
			else socket.end("HTTP/1.1 403 Forbidden\r\nConnection: close\r\nContent-Length: 0\r\n\r\n");
		},
		close,
		[Symbol.asyncDispose]: close,
	};
}

export interface ServeOptions {
	/** Default 127.0.0.1. Any other than loopback needs a `token`: everything is sent in the clear. */
	readonly host?: string | undefined;
	/** Default 0: any that is free. */
	readonly port?: number | undefined;
	readonly token?: string | undefined;
	/** Its other addresses for browsers, through a proxy or a tunnel: `https://example.org/terminals`. Links have the first. */
	readonly publicUrls?: readonly string[] | undefined;
	/** Names of previews of ports, besides `localhost`: `https://*.preview.example.org`. */
	readonly previewUrls?: readonly string[] | undefined;
	/** The task of all sessions at /mcp; without it each session has its own. */
	readonly task?: string | undefined;
	/** Views of other packages in the page. They are closed with it. */
	readonly parts?: readonly SitePart[] | undefined;
}

/** A server of its own, as `holdfast serve` has it: the page, the API, and MCP at /mcp. */
export interface ServedSite extends AsyncDisposable {
	/** `http://HOST:PORT`, where it listens. */
	readonly url: string;
	/** Returns a link that lets a browser in, at the first public URL if there is one. */
	link(): string;
	/** Stops the server. What runs goes on. */
	close(): Promise<void>;
}

/** Starts a server. Throws INVALID if it cannot listen at that address. */
export async function serve(runtime: Runtime, options: ServeOptions = {}): Promise<ServedSite> {
	const agent = agentOf(runtime);
	const { host = "127.0.0.1", port = 0, token: own, publicUrls = [], previewUrls = [], task, parts = [] } = parseOptions("serve", serveOptions, options);
	if (!isLoopback(host) && own === undefined)
		throw new HoldfastError("INVALID", `serve: ${host} can be reached by others, and everything would go there in the clear; if you want that, give a token`);
	const token = tokenOf(agent, own);
	const door = httpDoor(agent, task === undefined ? {} : { task });
	const site = innerSite({ runtime: agent, token, parts });
	const server = await serveHttp({ host, port, token, site, publicUrls, previewUrls, routes: { "/mcp": (request) => door.fetch(request) } });
	const close = async () => {
		await server.close();
		await door.close();
	};
	return { url: server.origin, link: () => `${server.urls[0]}/#token=${linkKey(token)}`, close, [Symbol.asyncDispose]: close };
}

const tokenOf = ({ home }: AgentRuntime, own: string | undefined): string => own ?? ensureToken(path.join(home.root, "token"));

/** Returns the path below the prefix; undefined if it is another one. */
function pathBelow(url: string, prefix: string): string | undefined {
	const { pathname } = new URL(url);
	return pathname === prefix || pathname.startsWith(`${prefix}/`) ? pathname.slice(prefix.length) : undefined;
}

/** Returns why a request is refused: it is from a page of another site, or from one whose name leads to this machine. */
function wrongOrigin(given: { host?: string | undefined; origin?: string | undefined }, ours: PublicUrl): string | undefined {
	if (given.host?.toLowerCase() !== ours.host) return `the Host header must be ${ours.host}, as in the url that this was mounted with`;
	return given.origin === undefined || given.origin === ours.origin ? undefined : "pages of other origins may not speak to this server";
}
