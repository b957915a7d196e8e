/** Access to a preview is for browsers that have followed a link of its owner. The cookie that the link sets is for this name alone, and the application never gets it. */
import { previewKey, readPreviewKey } from "../sign.js";
import type { PreviewName } from "./names.js";

export const COOKIE = "holdfast_preview";
/** Below it nothing is the application's. */
export const OWN_PATH = "/.holdfast/";
const LINK_MS = 3_600_000;
const COOKIE_MS = 12 * 3_600_000;

/** Returns the address that opens a preview. `session`: it ends with this one of the browser. */
export function previewLink(
	token: string,
	{ origin, label, session }: { origin: string; label: string; session?: string | undefined },
	now = Date.now(),
): string {
	return `${origin}${OWN_PATH}open?key=${previewKey(token, "open", { label, session, expiresAt: now + LINK_MS })}`;
}

/** The cookie for a visitor who has come with the link; undefined if its key is not for this preview, or too old. */
export function cookieFor(token: string, { label, secure }: PreviewName, key: string, now = Date.now()): string | undefined {
	const found = readPreviewKey(token, "open", label, key, now);
	if (!found) return undefined;
	const value = previewKey(token, "cookie", { label, session: found.session, expiresAt: now + COOKIE_MS });
	return `${COOKIE}=${value}; Path=/; HttpOnly; SameSite=Lax; Max-Age=${COOKIE_MS / 1000}${secure ? "; Secure" : ""}`; // Lax: an application is left and come back to, by links and logins
}

/** Returns what the cookie says; undefined without a right one. Another name below the same one may have set a wrong one beside it. */
export function admitted(token: string, { label }: PreviewName, cookies: string | undefined, now = Date.now()): { session: string | undefined } | undefined {
	for (const cookie of (cookies ?? "").split(";")) {
		const [name = "", value = ""] = cookie.trim().split("=", 2);
		const found = name === COOKIE ? readPreviewKey(token, "cookie", label, value, now) : undefined;
		if (found) return found;
	}
	return undefined;
}

export interface RequestHeaders {
	readonly host?: string | undefined;
	readonly origin?: string | undefined;
	readonly "sec-fetch-site"?: string | string[] | undefined;
	readonly "sec-fetch-mode"?: string | string[] | undefined;
	readonly "sec-fetch-dest"?: string | string[] | undefined;
}

/** Returns whether a page of another origin has sent the request. Only links that a person follows may come from other origins. */
export function isForeignTo(headers: RequestHeaders, method: string): boolean {
	const site = headers["sec-fetch-site"];
	const follows = headers["sec-fetch-mode"] === "navigate" && headers["sec-fetch-dest"] === "document" && (method === "GET" || method === "HEAD");
	if (typeof site === "string") return site !== "same-origin" && site !== "none" && !follows;
	const { origin, host } = headers;
	return origin !== undefined && (!URL.canParse(origin) || new URL(origin).host !== host?.toLowerCase());
}
