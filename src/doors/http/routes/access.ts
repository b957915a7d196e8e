/** Access: login, tickets, read-only links. */
import { deleteCookie, setCookie } from "hono/cookie";
import { HoldfastError, packageVersion } from "../../../base/index.js";
import { makeLink, openLink } from "../../../tools/index.js";
import { partInfos } from "../part.js";
import { urlText } from "../public-url.js";
import { Refusal } from "../refusal.js";
import { type Route, route } from "../router.js";
import {
	loggedInSchema,
	loginSchema,
	okSchema,
	openedLinkSchema,
	openLinkSchema,
	sessionSchema,
	ticketRequestSchema,
	ticketSchema,
	viewerLinkSchema,
	viewerRequestSchema,
	viewersSchema,
} from "../schemas.js";
import { isLinkKey, newSession } from "../sign.js";
import { TICKET_SECONDS } from "../tickets.js";
import { sameToken } from "../token.js";
import { openSession, type Visitor } from "../visitor.js";
import type { ApiContext } from "./context.js";

export const accessRoutes = (api: ApiContext): Route[] => [
	route(
		{
			method: "post",
			path: "/api/login",
			who: "everyone",
			summary: "Open a session with the link's key or the token; sets a cookie",
			body: loginSchema,
			answer: loggedInSchema,
		},
		({ context, body }) => {
			if (!sameToken(body.token, api.token) && !isLinkKey(api.token, body.token)) {
				if (api.failures.tooMany()) throw new Refusal(429, "LIMIT", "too many wrong tokens; wait a minute");
				throw new Refusal(401, "UNAUTHORIZED", "this link has expired or is not for this server; `holdfast serve --link` prints a new one");
			}
			const session = newSession(api.token);
			const { origin, prefix } = api.reached(context);
			setCookie(context, api.cookieName(context), session.cookie, {
				httpOnly: true,
				sameSite: "Strict",
				path: `${prefix}/`,
				maxAge: session.maxAge,
				secure: origin.startsWith("https:"),
			});
			return { key: session.key, expires_at: new Date(session.expiresAt).toISOString() };
		},
	),
	route({ method: "post", path: "/api/logout", who: "everyone", summary: "End the session of the cookie, and remove it", answer: okSchema }, ({ context }) => {
		const session = openSession(context, api);
		if (session) api.loggedOut(session.name);
		const { origin, prefix } = api.reached(context);
		deleteCookie(context, api.cookieName(context), { path: `${prefix}/`, secure: origin.startsWith("https:") });
		return { ok: true };
	}),
	route(
		{ method: "get", path: "/api/session", who: "viewer", summary: "Who you are, and what this server is", answer: sessionSchema },
		({ visitor, context }) => {
			const owner = visitor?.scope === "owner";
			return {
				scope: owner ? "owner" : "viewer",
				session_id: visitor?.scope === "viewer" ? visitor.session_id : null,
				expires_at: visitor?.expiresAt ? new Date(visitor.expiresAt).toISOString() : null,
				version: packageVersion(),
				mcp: owner && api.mcp ? `${urlText(api.reached(context))}/mcp` : null, // another server has its own
				home: owner ? api.runtime.home.root : null,
				place: owner ? api.runtime.placeName : null,
				cwd: owner ? process.cwd() : null,
				parts: owner ? partInfos(api.parts) : [],
			};
		},
	),
	route(
		{
			method: "post",
			path: "/api/tickets",
			who: "viewer",
			summary: "Something for one use, where headers cannot be sent",
			body: ticketRequestSchema,
			answer: ticketSchema,
		},
		({ body, visitor }) => {
			if (body.for === "terminal") {
				const { id } = api.runtime.get(body.session_id);
				mayLook(visitor as Visitor, id);
				const ticket = api.tickets.issue({ for: "terminal", what: id, visitor: visitor as Visitor });
				return { ticket, url: `/api/ws?ticket=${ticket}`, expires_in: TICKET_SECONDS };
			}
			const { pathname, searchParams } = new URL(body.path, "http://localhost");
			searchParams.delete("ticket");
			const query = searchParams.toString();
			const what = query === "" ? pathname : `${pathname}?${query}`;
			const ticket = api.tickets.issue({ for: "download", what, visitor: visitor as Visitor });
			return { ticket, url: `${what}${query === "" ? "?" : "&"}ticket=${ticket}`, expires_in: TICKET_SECONDS };
		},
	),
	route({ method: "get", path: "/api/viewers", who: "owner", summary: "The links for looking that work now", answer: viewersSchema }, () => ({
		viewers: api.viewers.list(),
	})),
	route(
		{
			method: "post",
			path: "/api/viewers",
			who: "owner",
			summary: "A link for looking at one process, and only that",
			body: viewerRequestSchema,
			answer: viewerLinkSchema,
			status: 201,
		},
		({ body, context }) => {
			const { hash, url, ...viewer } = makeLink(api.runtime, { ...body, origin: api.shared(context) });
			return { ...viewer, url: url ?? hash };
		},
	),
	route(
		{
			method: "post",
			path: "/api/viewers/open",
			who: "everyone",
			summary: "Open a keyboard link, which works once: the answer has a secret for this browser",
			body: openLinkSchema,
			answer: openedLinkSchema,
		},
		({ body }) => {
			try {
				const { viewer, secret } = openLink(api.runtime, body.secret);
				return { secret, session_id: viewer.session_id, expires_at: viewer.expires_at };
			} catch (error) {
				if (api.failures.tooMany()) throw new Refusal(429, "LIMIT", "too many wrong links; wait a minute");
				if (error instanceof HoldfastError && error.code === "NOT_FOUND") throw new Refusal(401, "UNAUTHORIZED", error.message);
				throw error;
			}
		},
	),
	route({ method: "delete", path: "/api/viewers/:viewer", who: "owner", summary: "Withdraw a link", answer: okSchema }, ({ params }) => {
		api.viewers.remove(params.viewer ?? "");
		api.withdrawn(params.viewer ?? "");
		return { ok: true };
	}),
];

/** A viewer may look at one process, named in full. */
export function mayLook(visitor: Visitor, id: string): void {
	if (visitor.scope === "viewer" && visitor.session_id !== id) throw new Refusal(403, "FORBIDDEN", "this link is for looking at another terminal");
}
