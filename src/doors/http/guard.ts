/**
 * Who may speak to the HTTP door. A page in a browser of this machine must not (it reaches loopback too, and DNS
 * rebinding lets it look like us: so Host and Origin are checked), nor may another user (so there is a token).
 */
import net from "node:net";
import type { Context, MiddlewareHandler } from "hono";
import { sameToken } from "./token.js";

const LOOPBACK = ["localhost", "127.0.0.1", "[::1]"];
const FAILURES = { most: 20, withinMs: 60_000 };
export const RETRY_AFTER_SECONDS = FAILURES.withinMs / 1000;

export const isLoopback = (host: string): boolean => LOOPBACK.includes(host.toLowerCase()) || host === "::1" || /^127(\.\d{1,3}){3}$/.test(host);

export interface Address {
	/** The address we listen on. */
	readonly host: string;
	/** Known once we listen. */
	readonly port: () => number;
}

export interface Headers {
	readonly host?: string | undefined;
	readonly origin?: string | undefined;
}

/** What is wrong with where a request comes from or is sent to; undefined when nothing is. */
export function wrongAddress({ host, origin }: Headers, address: Address): string | undefined {
	if (host === undefined || !isOurs(`http://${host}`, address)) return `the Host header must name this server, not ${host ?? "nothing"}`;
	if (origin !== undefined && !isOurs(origin, address)) return "pages of other origins may not speak to this server";
	return undefined;
}

/** A browser says of every request where it comes from, also when it sends no Origin. A link that was followed is none of ours to refuse: it gets the page, not the API. */
export const isForeign = (site: string | undefined): boolean => site !== undefined && site !== "same-origin" && site !== "none";

/** Before everything. */
export function addressGuard(address: Address): MiddlewareHandler {
	return async (context, next) => {
		const wrong = wrongAddress({ host: context.req.header("host"), origin: context.req.header("origin") }, address);
		if (wrong === undefined) return next();
		return context.req.path.startsWith("/api/") ? context.json({ error: { code: "FORBIDDEN", message: wrong } }, 403) : refuse(context, 403, wrong);
	};
}

/** Before what only programs use: the token as it is. */
export function tokenGuard(token: string, failures: Failures): MiddlewareHandler {
	return async (context, next) => {
		const given = bearer(context.req.header("authorization"));
		// The right token always gets in: whoever guesses cannot lock its owner out.
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

/** Ours is a loopback name with our port; on an address given by hand also that name, and any address (rebinding needs a name). */
function isOurs(url: string, { host, port }: Address): boolean {
	let parsed: URL;
	try {
		parsed = new URL(url);
	} catch {
		return false;
	}
	if (parsed.protocol !== "http:" || Number(parsed.port || 80) !== port() || parsed.username !== "" || parsed.pathname !== "/") return false;
	const name = parsed.hostname;
	if (isLoopback(name)) return true;
	return !isLoopback(host) && (name === host.toLowerCase() || net.isIP(name.replace(/^\[|\]$/g, "")) !== 0);
}

/** In the shape of JSON-RPC, since most who come here speak that. */
function refuse(context: Context, status: 401 | 403 | 429, message: string): Response {
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
