/** Decides whether a URL may be fetched, and by which addresses. The caller connects to these addresses and resolves the name no second time. */
import { lookup } from "node:dns/promises";
import net from "node:net";
import { oneLine, WebError } from "../base/index.js";
import { type Allowed, isAllowed, parseAllowed, refusedAddress } from "./address.js";

export interface Address {
	readonly address: string;
	readonly family: 4 | 6;
}

export type Resolve = (host: string) => Promise<readonly Address[]>;

export interface Filter {
	/** Throws `WebError` unless every address of the host may be connected to. */
	check(url: URL): Promise<readonly Address[]>;
	/** Throws `WebError` for a connection that has come to another address. */
	checkPeer(url: URL, address: string | undefined): void;
}

/** Ports that speak another protocol than HTTP, where a request could do harm (as in the fetch standard, the usual ones). */
const PORTS = new Set([1, 7, 9, 11, 13, 15, 17, 19, 20, 21, 22, 23, 25, 37, 42, 43, 53, 69, 77, 79, 87, 95, 101, 102, 103, 104, 109, 110, 111, 113, 115, 117]);
for (const port of [119, 123, 135, 137, 139, 143, 161, 179, 389, 427, 465, 512, 513, 514, 515, 526, 530, 531, 532, 540, 548, 554, 556, 563, 587])
	PORTS.add(port);
for (const port of [601, 636, 989, 990, 993, 995, 1719, 1720, 1723, 2049, 3659, 4045, 4190, 5060, 5061, 6000, 6379, 6566, 6665, 6667, 6697, 10080])
	PORTS.add(port);

/** `allow`: hosts, `host:port` and networks that may be reached although they are not public. */
export function addressFilter(options: { readonly allow?: readonly string[]; readonly resolve?: Resolve } = {}): Filter {
	const allowed = (options.allow ?? []).map((text) => {
		const one = parseAllowed(text);
		if (!one) throw new WebError(`allow: ${JSON.stringify(text)} is no host, host:port or network such as 10.0.0.0/8`);
		return one;
	});
	const resolve = options.resolve ?? resolveName;
	return {
		async check(url) {
			checkForm(url);
			const host = hostOf(url);
			const family = net.isIP(host);
			const addresses = family === 0 ? await addressesOf(host, resolve) : [{ address: host, family: family as 4 | 6 }];
			for (const { address } of addresses) refuse(url, address, allowed);
			return addresses;
		},
		checkPeer: (url, address) => refuse(url, address ?? "", allowed),
	};
}

export function parseUrl(text: string, base?: string | URL): URL {
	if (text.length > 8_000) throw new WebError(`the URL has ${text.length} characters; more than 8000 are not fetched`);
	try {
		return new URL(text.trim(), base);
	} catch {
		throw new WebError(`${JSON.stringify(oneLine(text, 200))} is no URL; give one such as https://example.org/page`);
	}
}

function checkForm(url: URL): void {
	if (url.protocol !== "http:" && url.protocol !== "https:")
		throw new WebError(`${oneLine(url.protocol, 40)} URLs are not fetched, only http: and https:; files of the task are read with read_file`);
	if (url.username !== "" || url.password !== "") throw new WebError("URLs with a user name or password are not fetched; leave them out");
	if (url.port !== "" && PORTS.has(Number(url.port))) throw new WebError(`port ${url.port} does not speak HTTP, so it is not fetched`);
}

/** Without brackets and the trailing dot. */
export const hostOf = (url: URL): string =>
	url.hostname
		.replace(/^\[|\]$/g, "")
		.replace(/\.+$/, "")
		.toLowerCase();

export const portOf = (url: URL): number => Number(url.port) || (url.protocol === "https:" ? 443 : 80);

async function addressesOf(host: string, resolve: Resolve): Promise<readonly Address[]> {
	if (host === "") throw new WebError("the URL names no host; give one such as https://example.org/page");
	let found: readonly Address[];
	try {
		found = await resolve(host);
	} catch (error) {
		throw new WebError(`the name ${oneLine(host, 100)} cannot be resolved (${(error as NodeJS.ErrnoException).code ?? "no answer"}); check its spelling`);
	}
	if (found.length === 0) throw new WebError(`the name ${oneLine(host, 100)} has no address; check its spelling`);
	return found;
}

const resolveName: Resolve = async (host) =>
	(await lookup(host, { all: true, verbatim: true })).map(({ address, family }) => ({ address, family: family as 4 | 6 }));

function refuse(url: URL, address: string, allowed: readonly Allowed[]): void {
	const why = refusedAddress(address);
	if (why === undefined || isAllowed(allowed, hostOf(url), portOf(url), address)) return;
	const leads = hostOf(url) === address ? address : `${oneLine(hostOf(url), 100)} leads to ${address}, which`;
	throw new WebError(`${leads} is ${why}, so it is not fetched; a person can allow it in web.json (allow)`);
}
