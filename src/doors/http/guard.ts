/**
 * Who may speak to the HTTP door. A page in a browser of this machine must not (it reaches loopback too, and DNS
 * rebinding lets it look like us: so Host and Origin are checked), nor may another user (so there is a token).
 */
import net from "node:net";
import type { Context, MiddlewareHandler } from "hono";
import { sameToken } from "./token.js";

const LOOPBACK = ["localhost", "127.0.0.1", "[::1]"];
const FAILURES = { most: 20, withinMs: 60_000 };

export const isLoopback = (host: string): boolean => LOOPBACK.includes(host.toLowerCase()) || host === "::1" || /^127(\.\d{1,3}){3}$/.test(host);

export interface GuardOptions {
	readonly token: string;
	/** The address we listen on. */
	readonly host: string;
	/** Known once we listen. */
	readonly port: () => number;
}

export function guard(options: GuardOptions): MiddlewareHandler {
	const failures = new Failures();
	return async (context, next) => {
		const host = context.req.header("host");
		if (host === undefined || !isOurs(`http://${host}`, options))
			return refuse(context, 403, `the Host header must name this server, not ${host ?? "nothing"}`);
		const origin = context.req.header("origin");
		if (origin !== undefined && !isOurs(origin, options)) return refuse(context, 403, "pages of other origins may not speak to this server");
		const given = /^Bearer +(\S+)$/i.exec(context.req.header("authorization") ?? "")?.[1];
		// The right token always gets in: whoever guesses cannot lock its owner out.
		if (given !== undefined && sameToken(given, options.token)) return next();
		if (failures.tooMany()) {
			context.header("Retry-After", String(FAILURES.withinMs / 1000));
			return refuse(context, 429, "too many requests without the right token");
		}
		context.header("WWW-Authenticate", given === undefined ? 'Bearer realm="holdfast"' : 'Bearer realm="holdfast", error="invalid_token"');
		return refuse(context, 401, "send the token of this server as `Authorization: Bearer TOKEN`; `holdfast mcp --http` says which file it is in");
	};
}

/** Ours is a loopback name with our port; on an address given by hand also that name, and any address (rebinding needs a name). */
function isOurs(url: string, { host, port }: GuardOptions): boolean {
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

class Failures {
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
