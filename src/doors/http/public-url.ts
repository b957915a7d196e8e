/** The addresses by which browsers reach a server: what a person has given, and those of this machine. */
import net from "node:net";
import os from "node:os";
import { HoldfastError } from "../../base/index.js";

/** An address at which a browser reaches the server. */
export interface PublicUrl {
	/** `https://example.org:8443` */
	readonly origin: string;
	/** The value of the `Host` header: without the default port. */
	readonly host: string;
	readonly port: number;
	/** The path that it is below, without a slash at its end; "" for none. */
	readonly prefix: string;
}

export const urlText = ({ origin, prefix }: PublicUrl): string => origin + prefix;

/** Throws INVALID, with `what` as the subject of the sentence. */
export function parsePublicUrl(text: string, what: string): PublicUrl {
	const url = URL.canParse(text) ? new URL(text) : undefined;
	const wrong = url ? problemOf(url) : NO_SCHEME;
	if (!url || wrong !== undefined) throw new HoldfastError("INVALID", `${what} ${wrong}, as https://example.org or https://example.org/terminals`);
	return fromUrl(url);
}

/** The same for several. One origin has one path: the path of a request may have been taken off, so it does not tell which was meant. */
export function parsePublicUrls(texts: readonly string[], what: string): PublicUrl[] {
	const urls = texts.map((text) => parsePublicUrl(text, what));
	const twice = urls.find(({ origin }, at) => urls.findIndex((other) => other.origin === origin) !== at);
	if (twice) throw new HoldfastError("INVALID", `${what} has ${twice.origin} twice; give it once, with one path`);
	return urls;
}

const NO_SCHEME = "must begin with http:// or https:// and name a host";

function problemOf(url: URL): string | undefined {
	if (!/^https?:$/.test(url.protocol)) return NO_SCHEME;
	if (url.username !== "" || url.password !== "") return "must not contain a user name or password";
	if (url.search !== "" || url.hash !== "") return "must not have a query or a fragment";
	if (url.hostname.endsWith(".")) return "must name the host without a dot at its end";
	if (!/^[\w./~-]*$/.test(url.pathname) || url.pathname.includes("//")) return "may have a path of letters, digits, dots and dashes only";
	if (/^\/(api|mcp|assets|answer)(\/|$)/.test(url.pathname))
		return "must have another path, because /api, /mcp, /assets and /answer are paths of this server itself";
	return undefined;
}

const fromUrl = (url: URL): PublicUrl => ({
	origin: url.origin,
	host: url.host,
	port: Number(url.port || (url.protocol === "https:" ? 443 : 80)),
	prefix: url.pathname.replace(/\/$/, ""),
});

/** Returns what a `Host` header names if the connection is of that scheme; undefined if it is no host at all. */
export function hostUrl(host: string, scheme: "http:" | "https:"): PublicUrl | undefined {
	if (!/^[^\s/?#@\\]+$/.test(host) || !URL.canParse(`${scheme}//${host}`)) return undefined;
	return fromUrl(new URL(`${scheme}//${host}`));
}

export const isLoopback = (host: string): boolean =>
	host.toLowerCase() === "localhost" || host === "[::1]" || host === "::1" || /^127(\.\d{1,3}){3}$/.test(host);

export const httpOrigin = (host: string, port: number): string => `http://${host.includes(":") ? `[${host}]` : host}:${port}`;

/** Returns the addresses at which other machines reach a server that listens on `host`. Of a wildcard these are the addresses of the network interfaces, IPv4 first, and of loopback. */
export function reachableHosts(host: string, interfaces = os.networkInterfaces()): string[] {
	if (!isWildcard(host)) return [host];
	const found = Object.values(interfaces).flatMap((addresses) => addresses ?? []);
	const outer = found.filter(({ internal, address }) => !internal && !/^fe80:/i.test(address)); // a link-local address needs the name of an interface behind it
	const wanted = outer.filter(({ family }) => family === "IPv4" || net.isIPv6(host));
	return [...wanted.sort((a, b) => a.family.localeCompare(b.family)).map(({ address }) => address), net.isIPv6(host) ? "::1" : "127.0.0.1"];
}

const isWildcard = (host: string): boolean => host === "0.0.0.0" || (net.isIPv6(host) && /^[0:]+$/.test(host));
