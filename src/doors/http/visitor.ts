/** The visitor behind a request: the owner, by token or by cookie and key; or the viewer of a read-only link to one terminal. */
import type { Context } from "hono";
import { VIEWER_SECRET, type Viewers } from "../../process/index.js";
import { bearer, type Failures, isForeign } from "./guard.js";
import type { Logouts } from "./logouts.js";
import { Refusal } from "./refusal.js";
import { sessionOf } from "./sign.js";
import type { Tickets } from "./tickets.js";
import { sameToken } from "./token.js";

export type Visitor =
	| { readonly scope: "owner"; readonly expiresAt: number | null /** Of a browser. */; readonly session?: string }
	| {
			readonly scope: "viewer";
			readonly viewer: string;
			readonly session_id: string;
			readonly expiresAt: number /** May take the keyboard, once. */;
			readonly keyboard: boolean;
	  };

export interface SignInMeans {
	readonly token: string;
	readonly tickets: Tickets;
	readonly viewers: Viewers;
	readonly logouts: Logouts;
	readonly failures: Failures;
	readonly cookieName: (context: Context) => string;
	/** Below which path of a server of others it is. */
	readonly prefix: string;
}

/** Throws a Refusal for every other visitor. */
export function visitorOf(context: Context, means: SignInMeans): Visitor {
	const { req } = context;
	if (isForeign(req.header("sec-fetch-site"))) throw new Refusal(403, "FORBIDDEN", "pages of other sites may not use this API");
	const given = bearer(req.header("authorization"));
	if (given !== undefined) return byBearer(given, means);
	const ticket = req.method === "GET" ? req.query("ticket") : undefined;
	if (ticket !== undefined) return byTicket(ticket, req.url, means);
	const session = openSession(context, means);
	if (session) return { scope: "owner", expiresAt: session.expiresAt, session: session.name };
	throw new Refusal(
		401,
		"UNAUTHORIZED",
		"open the link that `holdfast serve` printed, or get a new one with `holdfast serve --link`; programs send `Authorization: Bearer TOKEN`",
	);
}

/** The session of the browser that asks, by cookie and key, unless it was logged out. */
export function openSession(
	context: Context,
	{ token, cookieName, logouts }: Pick<SignInMeans, "token" | "cookieName" | "logouts">,
): { name: string; expiresAt: number } | undefined {
	const key = context.req.header("x-holdfast-key") ?? "";
	const sessions = cookiesNamed(cookieName(context), context.req.header("cookie")).map((cookie) => sessionOf(token, cookie, key));
	return sessions.find((session) => session && !logouts.has(session.name));
}

/** All that have the name: a page of another name of the same domain may have set one of its own beside ours. */
const cookiesNamed = (name: string, header = ""): string[] =>
	header
		.split(";")
		.map((cookie) => cookie.trim())
		.flatMap((cookie) => (cookie.startsWith(`${name}=`) ? [cookie.slice(name.length + 1)] : []));

/** Returns whether the link or session of a visitor is still valid; terminals and events opened with it end with it. */
export function isStillValid(visitor: Visitor, { viewers, logouts }: Pick<SignInMeans, "viewers" | "logouts">): boolean {
	if (visitor.scope === "viewer") return viewers.isValid(visitor.viewer);
	return (visitor.expiresAt === null || visitor.expiresAt > Date.now()) && (visitor.session === undefined || !logouts.has(visitor.session));
}

function byBearer(given: string, { token, viewers, failures }: SignInMeans): Visitor {
	if (sameToken(given, token)) return { scope: "owner", expiresAt: null };
	const viewer = viewers.find(given);
	if (viewer) return { scope: "viewer", viewer: viewer.id, session_id: viewer.session_id, expiresAt: Date.parse(viewer.expires_at), keyboard: viewer.keyboard };
	if (failures.tooMany()) throw new Refusal(429, "LIMIT", "too many wrong tokens; wait a minute");
	if (VIEWER_SECRET.test(given)) throw new Refusal(401, "UNAUTHORIZED", "this link has expired or was withdrawn; ask for a new one");
	throw new Refusal(401, "UNAUTHORIZED", "this is not the token of this server; it is in the file `token` of its home");
}

/** A ticket is for one path with its query, as it was asked for. */
function byTicket(ticket: string, url: string, means: SignInMeans): Visitor {
	const use = means.tickets.use(ticket, "download");
	const { pathname: full, searchParams } = new URL(url);
	const pathname = full.slice(means.prefix.length);
	searchParams.delete("ticket");
	const query = searchParams.toString();
	if (!use || !isStillValid(use.visitor, means) || use.what !== (query === "" ? pathname : `${pathname}?${query}`))
		throw new Refusal(401, "UNAUTHORIZED", "this ticket was used before, has expired, or is for something else; get another");
	return use.visitor;
}
