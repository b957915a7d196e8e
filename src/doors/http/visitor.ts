/** Who asks: the owner, by token or by cookie and key; or one who may only look at one terminal. */
import type { Context } from "hono";
import { getCookie } from "hono/cookie";
import { bearer, type Failures, isForeign } from "./guard.js";
import { Refusal } from "./refusal.js";
import { sessionEnd } from "./sign.js";
import type { Tickets } from "./tickets.js";
import { sameToken } from "./token.js";
import { VIEWER_SECRET, type Viewers } from "./viewers.js";

export type Visitor =
	| { readonly scope: "owner"; readonly expiresAt: number | null }
	| { readonly scope: "viewer"; readonly viewer: string; readonly session_id: string; readonly expiresAt: number };

export interface Means {
	readonly token: string;
	readonly tickets: Tickets;
	readonly viewers: Viewers;
	readonly failures: Failures;
	readonly cookieName: () => string;
}

/** Throws a Refusal for everybody else. */
export function visitorOf(context: Context, means: Means): Visitor {
	const { req } = context;
	if (isForeign(req.header("sec-fetch-site"))) throw new Refusal(403, "FORBIDDEN", "pages of other sites may not use this API");
	const given = bearer(req.header("authorization"));
	if (given !== undefined) return byBearer(given, means);
	const ticket = req.method === "GET" ? req.query("ticket") : undefined;
	if (ticket !== undefined) return byTicket(ticket, req.url, means);
	const cookie = getCookie(context, means.cookieName());
	const end = cookie === undefined ? undefined : sessionEnd(means.token, cookie, req.header("x-holdfast-key") ?? "");
	if (end !== undefined) return { scope: "owner", expiresAt: end };
	throw new Refusal(
		401,
		"UNAUTHORIZED",
		"open the link that `holdfast serve` printed, or get a new one with `holdfast serve --link`; programs send `Authorization: Bearer TOKEN`",
	);
}

function byBearer(given: string, { token, viewers, failures }: Means): Visitor {
	if (sameToken(given, token)) return { scope: "owner", expiresAt: null };
	const viewer = viewers.find(given);
	if (viewer) return { scope: "viewer", viewer: viewer.id, session_id: viewer.session_id, expiresAt: Date.parse(viewer.expires_at) };
	if (failures.tooMany()) throw new Refusal(429, "LIMIT", "too many wrong tokens; wait a minute");
	if (VIEWER_SECRET.test(given)) throw new Refusal(401, "UNAUTHORIZED", "this link has expired or was withdrawn; ask for a new one");
	throw new Refusal(401, "UNAUTHORIZED", "this is not the token of this server; it is in the file `token` of its home");
}

/** A ticket is for one path with its query, as it was asked for. */
function byTicket(ticket: string, url: string, { tickets }: Means): Visitor {
	const use = tickets.use(ticket, "download");
	const { pathname, searchParams } = new URL(url);
	searchParams.delete("ticket");
	const query = searchParams.toString();
	if (!use || use.what !== (query === "" ? pathname : `${pathname}?${query}`))
		throw new Refusal(401, "UNAUTHORIZED", "this ticket was used before, has expired, or is for something else; get another");
	return use.visitor;
}
