/**
 * Signed keys that a browser gets instead of the token: for the link, for the session cookie, for the header beside that cookie, and for the answer to
 * one question. No server stores them: they survive a restart, and a new token ends them all. Sessions that were logged out are on a list (logouts.ts).
 */
import { createHmac, randomBytes } from "node:crypto";
import { sameToken } from "./token.js";

const LINK_MS = 12 * 3_600_000;
const SESSION_MS = 30 * 24 * 3_600_000;

const mac = (token: string, ...fields: readonly string[]): string =>
	createHmac("sha256", token)
		.update(`holdfast ${fields.join(" ")}`)
		.digest("base64url");

/** Returns the key for a link: it opens a session, and only for some hours. */
export function linkKey(token: string, now = Date.now()): string {
	const expires = (now + LINK_MS).toString(36);
	return `${expires}.${mac(token, "link", expires)}`;
}

export function isLinkKey(token: string, given: string, now = Date.now()): boolean {
	const [expires = "", signature = ""] = given.split(".");
	return sameToken(signature, mac(token, "link", expires)) && Number.parseInt(expires, 36) > now;
}

/** The answer that a link in a notification gives. */
export interface AnswerKey {
	readonly approval_id: string;
	readonly answer: "once" | "no";
	/** The target of `notify` that it was sent to, for the audit. */
	readonly target: string;
	readonly expiresAt: number;
}

export function answerKey(token: string, { approval_id, answer, target, expiresAt }: AnswerKey): string {
	const fields = [approval_id, answer, target, expiresAt.toString(36)];
	return [...fields, mac(token, "answer", ...fields)].join(".");
}

/** Undefined for one that is not ours. Its time may be over: the reader of `expiresAt` says so. */
export function readAnswerKey(token: string, given: string): AnswerKey | undefined {
	const [approval_id = "", answer = "", target = "", expires = "", signature = "", ...more] = given.split(".");
	if (more.length > 0 || !sameToken(signature, mac(token, "answer", approval_id, answer, target, expires))) return undefined;
	return answer === "once" || answer === "no" ? { approval_id, answer, target, expiresAt: Number.parseInt(expires, 36) } : undefined;
}

/** The key to a preview, by its name: first in a link, then in a cookie of that name. */
export interface PreviewKey {
	readonly label: string;
	/** The session of the browser that it was made for; it ends with that. */
	readonly session: string | undefined;
	readonly expiresAt: number;
}

export function previewKey(token: string, kind: "open" | "cookie", { label, session = "", expiresAt }: PreviewKey): string {
	const expires = expiresAt.toString(36);
	return [session, expires, mac(token, "preview", kind, label, session, expires)].join("~");
}

/** Undefined for one that is not ours, for another preview, or too old. */
export function readPreviewKey(token: string, kind: "open" | "cookie", label: string, given: string, now = Date.now()): PreviewKey | undefined {
	const [session = "", expires = "", signature = "", ...more] = given.split("~");
	if (more.length > 0 || !sameToken(signature, mac(token, "preview", kind, label, session, expires))) return undefined;
	const expiresAt = Number.parseInt(expires, 36);
	return expiresAt > now ? { label, session: session === "" ? undefined : session, expiresAt } : undefined;
}

export interface SignedSession {
	/** The value of the cookie. */
	readonly cookie: string;
	/** A key that only our own page has, because pages of other ports cannot read its storage. */
	readonly key: string;
	readonly expiresAt: number;
}

export function newSession(token: string, now = Date.now()): SignedSession & { maxAge: number } {
	const expiresAt = now + SESSION_MS;
	const name = `${expiresAt.toString(36)}.${randomBytes(12).toString("base64url")}`;
	return { cookie: `${name}.${mac(token, "session", name)}`, key: mac(token, "key", name), expiresAt, maxAge: SESSION_MS / 1000 };
}

/** Its name and when it ends; undefined for one that is not ours, has ended, or comes without its key. */
export function sessionOf(token: string, cookie: string, key: string, now = Date.now()): { name: string; expiresAt: number } | undefined {
	const at = cookie.lastIndexOf(".");
	const name = cookie.slice(0, Math.max(0, at));
	if (!sameToken(cookie.slice(at + 1), mac(token, "session", name)) || !sameToken(key, mac(token, "key", name))) return undefined;
	const expiresAt = Number.parseInt(name, 36);
	return expiresAt > now ? { name, expiresAt } : undefined;
}
