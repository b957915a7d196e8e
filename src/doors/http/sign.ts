/**
 * What a browser gets instead of the token: a key for the link, a session for the cookie, and a key that goes with it. All are signed
 * with the token, so no server keeps them: they live through a restart, and a new token ends them.
 */
import { createHmac, randomBytes } from "node:crypto";
import { sameToken } from "./token.js";

const LINK_MS = 12 * 3_600_000;
const SESSION_MS = 30 * 24 * 3_600_000;

const mac = (token: string, ...fields: readonly string[]): string =>
	createHmac("sha256", token)
		.update(`holdfast ${fields.join(" ")}`)
		.digest("base64url");

/** For the link: it opens a session, and only for some hours. */
export function linkKey(token: string, now = Date.now()): string {
	const expires = (now + LINK_MS).toString(36);
	return `${expires}.${mac(token, "link", expires)}`;
}

export function isLinkKey(token: string, given: string, now = Date.now()): boolean {
	const [expires = "", signature = ""] = given.split(".");
	return sameToken(signature, mac(token, "link", expires)) && Number.parseInt(expires, 36) > now;
}

export interface Session {
	/** For the cookie. */
	readonly cookie: string;
	/** What only our own page has, because it is kept where pages of other ports cannot look. */
	readonly key: string;
	readonly expiresAt: number;
}

export function newSession(token: string, now = Date.now()): Session & { maxAge: number } {
	const expiresAt = now + SESSION_MS;
	const name = `${expiresAt.toString(36)}.${randomBytes(12).toString("base64url")}`;
	return { cookie: `${name}.${mac(token, "session", name)}`, key: mac(token, "key", name), expiresAt, maxAge: SESSION_MS / 1000 };
}

/** When it ends; undefined for one that is not ours, has ended, or comes without its key. */
export function sessionEnd(token: string, cookie: string, key: string, now = Date.now()): number | undefined {
	const at = cookie.lastIndexOf(".");
	const name = cookie.slice(0, Math.max(0, at));
	if (!sameToken(cookie.slice(at + 1), mac(token, "session", name)) || !sameToken(key, mac(token, "key", name))) return undefined;
	const expiresAt = Number.parseInt(name, 36);
	return expiresAt > now ? expiresAt : undefined;
}
