/** Getting in: login, tickets, links for one who may only look. */
import { deleteCookie, setCookie } from "hono/cookie";
import { packageVersion } from "../../../base/version.js";
import { Refusal } from "../refusal.js";
import { type Route, route } from "../router.js";
import {
	loggedInSchema,
	loginSchema,
	okSchema,
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
import type { Visitor } from "../visitor.js";
import type { ApiContext } from "./context.js";

const DAY_SECONDS = 86_400;

export const accessRoutes = (api: ApiContext): Route[] => [
	route(
		{
			method: "post",
			path: "/api/login",
			who: "anybody",
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
			setCookie(context, api.cookieName(), session.cookie, { httpOnly: true, sameSite: "Strict", path: "/", maxAge: session.maxAge });
			return { key: session.key, expires_at: new Date(session.expiresAt).toISOString() };
		},
	),
	route({ method: "post", path: "/api/logout", who: "anybody", summary: "Remove the cookie", answer: okSchema }, ({ context }) => {
		deleteCookie(context, api.cookieName(), { path: "/" });
		return { ok: true };
	}),
	route({ method: "get", path: "/api/session", who: "viewer", summary: "Who you are, and what this server is", answer: sessionSchema }, ({ visitor }) => {
		const owner = visitor?.scope === "owner";
		return {
			scope: owner ? "owner" : "viewer",
			session_id: visitor?.scope === "viewer" ? visitor.session_id : null,
			expires_at: visitor?.expiresAt ? new Date(visitor.expiresAt).toISOString() : null,
			version: packageVersion(),
			mcp: owner ? `${api.origin()}/mcp` : null,
			home: owner ? api.runtime.home.root : null,
			place: owner ? api.runtime.placeName : null,
			cwd: owner ? process.cwd() : null,
		};
	}),
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
			const { viewer, secret } = api.viewers.create(api.runtime.get(body.session_id).id, body.seconds ?? DAY_SECONDS);
			return { ...viewer, url: `http://${context.req.header("host")}/#view=${secret}` }; // the name by which he who shares it reaches us
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
