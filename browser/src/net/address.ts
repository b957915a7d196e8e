/** Which addresses may be connected to: those of the public internet, and what the configuration allows besides. */
import net from "node:net";

/** [network, bits, what it is]. */
const REFUSED_4: readonly (readonly [string, number, string])[] = [
	["0.0.0.0", 8, "this host"],
	["10.0.0.0", 8, "private"],
	["100.100.100.200", 32, "a metadata server"],
	["100.64.0.0", 10, "shared by a provider"],
	["127.0.0.0", 8, "loopback"],
	["168.63.129.16", 32, "a metadata server"],
	["169.254.0.0", 16, "link-local, where metadata servers are"],
	["172.16.0.0", 12, "private"],
	["192.0.0.192", 32, "a metadata server"],
	["192.0.0.0", 24, "reserved"],
	["192.0.2.0", 24, "reserved for documentation"],
	["192.88.99.0", 24, "reserved"],
	["192.168.0.0", 16, "private"],
	["198.18.0.0", 15, "reserved for benchmarks"],
	["198.51.100.0", 24, "reserved for documentation"],
	["203.0.113.0", 24, "reserved for documentation"],
	["224.0.0.0", 4, "multicast"],
	["240.0.0.0", 4, "reserved"],
];
/** Metadata servers of AWS, Google and Scaleway: private addresses, which are open in the browser but for these. */
const METADATA_6: readonly (readonly [string, number, string])[] = [
	["fd00:ec2::254", 128, "a metadata server"],
	["fd20:ce::254", 128, "a metadata server"],
	["fd00:42::42", 128, "a metadata server"],
];
/** Refused within global unicast (2000::/3), the only IPv6 that is let through: networks that lead to IPv4 addresses or are reserved. */
const REFUSED_6: readonly (readonly [string, number, string])[] = [
	["2001::", 23, "reserved, or a tunnel to another address"],
	["2001:db8::", 32, "reserved for documentation"],
	["2002::", 16, "a tunnel to another address"],
	["3fff::", 20, "reserved for documentation"],
];

const lists = new Map([...REFUSED_4, ...REFUSED_6, ...METADATA_6].map((one) => [one, listOf(one[0], one[1])]));
const GLOBAL_6 = listOf("2000::", 3);
const LINK_6 = listOf("fe80::", 10);
const MAPPED = listOf("::ffff:0:0", 96);

/** Returns why an address is refused; undefined: it is public. */
export function refusedAddress(address: string): string | undefined {
	const plain = address.replace(/%.*$/, "");
	const family = net.isIP(plain);
	if (family === 0) return "no address";
	if (family === 4) return refusedBy(REFUSED_4, plain, "ipv4");
	const inner = mappedAddress(plain);
	if (inner !== undefined) return refusedBy(REFUSED_4, inner, "ipv4");
	if (LINK_6.check(plain, "ipv6")) return "link-local";
	if (!GLOBAL_6.check(plain, "ipv6")) return refusedBy(METADATA_6, plain, "ipv6") ?? "not public";
	return refusedBy(REFUSED_6, plain, "ipv6");
}

/** Returns true for link-local addresses and those of metadata servers. */
export const isLinkLocal = (address: string): boolean => net.isIP(address) !== 0 && /link-local|metadata/.test(refusedAddress(address) ?? "");

function refusedBy(table: typeof REFUSED_4, address: string, family: "ipv4" | "ipv6"): string | undefined {
	return table.find((one) => lists.get(one)?.check(address, family))?.[2];
}

/** The IPv4 address in `::ffff:a.b.c.d`, however it is written. */
export function mappedAddress(address: string): string | undefined {
	if (net.isIP(address) !== 6 || !MAPPED.check(address, "ipv6")) return undefined;
	const dotted = /(\d+\.\d+\.\d+\.\d+)$/.exec(address);
	if (dotted) return dotted[1];
	const [high = "0", low = "0"] = address.split(":").slice(-2);
	const bytes = [Number.parseInt(high || "0", 16), Number.parseInt(low || "0", 16)].flatMap((word) => [word >> 8, word & 255]);
	return bytes.join(".");
}

function listOf(network: string, bits: number): net.BlockList {
	const list = new net.BlockList();
	list.addSubnet(network, bits, network.includes(":") ? "ipv6" : "ipv4");
	return list;
}

/** An entry of `allow`: `host`, `host:port`, `10.0.0.0/8`; IPv6 in brackets where there is a port. Returns undefined if it is none of these. */
export function parseAllowed(text: string): Allowed | undefined {
	const network = /^([0-9a-f.:]+)\/(\d{1,3})$/i.exec(text);
	if (network) {
		const [, address = "", bits = ""] = network;
		const family = net.isIP(address);
		return family !== 0 && Number(bits) <= (family === 4 ? 32 : 128) ? { network: listOf(address, Number(bits)) } : undefined;
	}
	if (net.isIP(text) === 6) return { host: text.toLowerCase() };
	const named = /^(?:\[([0-9a-f.:]+)\]|([a-z0-9._-]+))(?::(\d{1,5}))?$/i.exec(text);
	if (!named) return undefined;
	const host = (named[1] ?? named[2] ?? "").toLowerCase();
	return { host, ...(named[3] === undefined ? {} : { port: Number(named[3]) }) };
}

export type Allowed = { readonly network: net.BlockList } | { readonly host: string; readonly port?: number };

export function isAllowed(allowed: readonly Allowed[], host: string, port: number, address: string): boolean {
	const plain = mappedAddress(address) ?? address;
	return allowed.some((one) =>
		"network" in one ? one.network.check(plain, net.isIP(plain) === 6 ? "ipv6" : "ipv4") : one.host === host && (one.port === undefined || one.port === port),
	);
}
