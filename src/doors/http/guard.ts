/**
 * Access control of the HTTP door. Host and Origin are checked, because a foreign page in a browser of this machine reaches
 * loopback too, and DNS rebinding lets it look like ours. A token keeps out other users. `Forwarded` and `X-Forwarded-…` are
 * ignored: any client can send them. docs/remote.md
 */
import net from "node:net";
import type { Context, MiddlewareHandler } from "hono";
import { hostUrl, isLoopback, type PublicUrl } from "./public-url.js";
import { refusalPage, wantsPage } from "./refusal-page.js";
import { sameToken } from "./token.js";

const FAILURES = { most: 20, withinMs: 60_000 };
export const RETRY_AFTER_SECONDS = FAILURES.withinMs / 1000;
const SHOWN_CHARS = 200;

export interface Address {
	/** The address we listen on. */
	readonly host: string;
	/** Known once we listen. */
	readonly port: () => number;
	/** Its other addresses for browsers: through a proxy, or by a name of this machine. */
	readonly urls: readonly PublicUrl[];
}

export interface Headers {
	readonly host?: string | undefined;
	readonly origin?: string | undefined;
}

/** Returns by which address a request has come; or, as text, why it is refused. */
export function reachedBy({ host, origin }: Headers, address: Address): PublicUrl | string {
	const called = host === undefined ? undefined : hostUrl(host, "http:");
	if (host === undefined || !called) return "the Host header must name this server, and there is none that can be read";
	const named = address.urls.filter((url) => hostUrl(host, url.origin.startsWith("https:") ? "https:" : "http:")?.host === url.host);
	const reached = named.find((url) => origin === undefined || url.origin === origin);
	if (reached) return reached;
	const own = isOwn(called, address);
	if (own && (origin === undefined || origin === called.origin)) return called;
	if (named.length === 0 && !own)
		return `the Host header must name this server, not ${shown(host)}; if browsers reach it by that name, start it with --public-url and the address that they use`;
	const meant = address.urls.find((url) => url.origin === origin);
	if (meant) return `the page was opened at ${meant.origin}, but the Host header is ${shown(host)}; the proxy must pass the browser's Host header on unchanged`;
	return "pages of other origins may not speak to this server";
}

/** The same: what is wrong, undefined when nothing is. */
export function wrongAddress(headers: Headers, address: Address): string | undefined {
	const reached = reachedBy(headers, address);
	return typeof reached === "string" ? reached : undefined;
}

/** Loopback on any port, since a tunnel has another one at its other end. On an address given by hand also that name and any address, with our port: rebinding needs a name. */
function isOwn({ host: text, port: named }: PublicUrl, { host, port }: Address): boolean {
	const name = new URL(`http://${text}`).hostname;
	if (isLoopback(name)) return true;
	if (isLoopback(host) || named !== port()) return false;
	return name === host.toLowerCase() || net.isIP(name.replace(/^\[|\]$/g, "")) !== 0;
}

const shown = (text: string): string => (text.length > SHOWN_CHARS ? `${text.slice(0, SHOWN_CHARS)}…` : text);

/** A browser says of every request where it comes from, also when it sends no Origin. A link that was followed is none of ours to refuse: it gets the page, not the API. */
export const isForeign = (site: string | undefined): boolean => site !== undefined && site !== "same-origin" && site !== "none";

export const headersOf = (context: Context): Headers => ({ host: context.req.header("host"), origin: context.req.header("origin") });

/** Before everything. */
export function addressGuard(address: Address): MiddlewareHandler {
	return async (context, next) => {
		const wrong = wrongAddress(headersOf(context), address);
		if (wrong === undefined) return next();
		if (wantsPage(context)) return refusalPage(context, 403, wrong);
		// The prefix of a public address may still be on the path.
		return /(?:^|\/)api\//.test(context.req.path) ? context.json({ error: { code: "FORBIDDEN", message: wrong } }, 403) : refuse(context, 403, wrong);
	};
}

/** Before what only programs use: the token as it is. */
export function tokenGuard(token: string, failures: Failures): MiddlewareHandler {
	return async (context, next) => {
		const given = bearer(context.req.header("authorization"));
		// The right token always gets in: wrong guesses of others cannot lock its owner out.
		if (given !== undefined && sameToken(given, token)) return next();
		if (failures.tooMany()) {
			context.header("Retry-After", String(RETRY_AFTER_SECONDS));
			return refuse(context, 429, "too many requests without the right token");
		}
		context.header("WWW-Authenticate", given === undefined ? 'Bearer realm="holdfast"' : 'Bearer realm="holdfast", error="invalid_token"');
		return refuse(context, 401, "send the token of this server as `Authorization: Bearer TOKEN`; `holdfast mcp --http` says which file it is in");
	};
}

export const bearer = (authorization: string | undefined): string | undefined => /^Bearer +(\S+)$/i.exec(authorization ?? "")?.[1];

/** Returns an error in the shape of JSON-RPC, which most clients of this server speak. */
function refuse(context: Context, status: 401 | 403 | 429, message: string): Response {
	if (wantsPage(context)) return refusalPage(context, status, message);
	return context.json({ jsonrpc: "2.0", error: { code: -32_000, message }, id: null }, status);
}

export class Failures {
	#since = 0;
	#count = 0;

	/** Count one more. */
	tooMany(now = Date.now()): boolean {
		if (now - this.#since > FAILURES.withinMs) {
			this.#since = now;
			this.#count = 0;
		}
		return ++this.#count > FAILURES.most;
	}
}
