/** The headers on the way to an application and back. It is told what it would be told by a browser on its own machine; nothing of ours gets to it. */
import { COOKIE } from "./access.js";

/** Headers of one connection only, and those of proxies: an application that believed these would make wrong addresses. */
const TO_DROP = /^(?:host|connection|keep-alive|proxy-.*|te|trailer|upgrade|forwarded|x-forwarded-.*|x-real-ip|x-holdfast-.*)$/;
/** Headers of one connection only, and those that concern more than the application's own name: other ports of it, other names beside it. */
const BACK_DROP = /^(?:connection|keep-alive|proxy-.*|te|trailer|transfer-encoding|upgrade|alt-svc|clear-site-data)$/;
const OURS = /^(?:__Host-)?holdfast_/i;

/** Raw headers, name and value in turn. `upgrade`: the protocol that it is to change to. */
export function toApplication(raw: readonly string[], port: number, upgrade?: string): string[] {
	const here = `localhost:${port}`;
	const headers = ["Host", here];
	for (const [name, value] of pairs(raw)) {
		const kind = name.toLowerCase();
		if (TO_DROP.test(kind)) continue;
		if (kind === "cookie") {
			const kept = value.split(";").filter((cookie) => !OURS.test(cookie.trim()));
			if (kept.length > 0) headers.push(name, kept.join(";").trim());
		} else if (kind === "origin") headers.push(name, value === "null" ? value : `http://${here}`);
		else if (kind === "referer") headers.push(name, URL.canParse(value) ? `http://${here}${new URL(value).pathname}${new URL(value).search}` : value);
		else headers.push(name, value);
	}
	return upgrade === undefined ? headers : [...headers, "Connection", "Upgrade", "Upgrade", upgrade];
}

/** The same on the way back. */
export function toBrowser(raw: readonly string[], port: number): string[] {
	return pairs(raw).flatMap(([name, value]) => {
		const kind = name.toLowerCase();
		if (BACK_DROP.test(kind)) return [];
		if (kind === "location" || kind === "content-location" || kind === "refresh") return [name, relativeTo(port, value)];
		if (kind === "set-cookie") {
			const cookie = ownCookie(value);
			return cookie === undefined ? [] : [name, cookie];
		}
		return [name, value];
	});
}

/** An address of the application on its own machine becomes a path, which the browser asks of the preview. A path that begins with two slashes would name another host: it gets a dot before it. */
const relativeTo = (port: number, value: string): string =>
	value.replace(
		new RegExp(`^(.*?;\\s*url=)?https?://(?:localhost|127\\.0\\.0\\.1|0\\.0\\.0\\.0|\\[::1?\\]):${port}(?=[/?#]|$)/?(?=([/\\\\])?)`, "i"),
		(_, before = "", slash?: string) => `${before}${slash === undefined ? "/" : "/./"}`,
	);

/** A cookie for the application's own name, not for all names beside it; undefined for one of ours. */
function ownCookie(text: string): string | undefined {
	const [first = "", ...attributes] = text.split(";");
	if (OURS.test(first.trim()) || first.split("=", 1)[0]?.trim() === COOKIE) return undefined;
	return [first, ...attributes.filter((attribute) => !/^\s*domain\s*(=|$)/i.test(attribute))].join(";");
}

function pairs(raw: readonly string[]): [string, string][] {
	return Array.from({ length: raw.length / 2 }, (_, at) => [raw[2 * at] as string, raw[2 * at + 1] as string]);
}
