import http from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Address, addressFilter, fetchUrl, isLinkLocal, refusedAddress } from "../../src/net/index.js";

/** A server on loopback that nothing may reach, and a gate on loopback that is allowed and redirects. */
let secret: http.Server;
let gate: http.Server;
let secretPort = 0;
let gatePort = 0;
let reached: string[] = [];

beforeAll(async () => {
	secret = http.createServer((request, response) => {
		reached.push(request.url ?? "");
		response.end("the secret");
	});
	gate = http.createServer((request, response) => {
		const to = new URL(request.url ?? "/", "http://gate").searchParams.get("to");
		if (to) response.writeHead(302, { location: Buffer.from(to).toString("latin1") }).end();
		else response.end("the gate");
	});
	secretPort = await listening(secret);
	gatePort = await listening(gate);
});

afterAll(async () => {
	for (const server of [secret, gate]) {
		server.closeAllConnections();
		await new Promise((resolve) => server.close(resolve));
	}
});

async function listening(server: http.Server): Promise<number> {
	await new Promise<void>((resolve) => server.listen(0, "::", resolve)); // IPv4 too
	return (server.address() as AddressInfo).port;
}

const names: Record<string, Address[]> = {
	"rebind.test": [{ address: "127.0.0.1", family: 4 }],
	"both.test": [
		{ address: "93.184.216.34", family: 4 },
		{ address: "127.0.0.1", family: 4 },
	],
	"six.test": [{ address: "::1", family: 6 }],
	"mapped.test": [{ address: "::ffff:127.0.0.1", family: 6 }],
	"zone.test": [{ address: "fe80::1%eth0", family: 6 }],
	localhost: [{ address: "127.0.0.1", family: 4 }],
	"a.localhost": [{ address: "127.0.0.1", family: 4 }],
	"metadata.google.internal": [{ address: "169.254.169.254", family: 4 }],
};
const resolve = async (host: string): Promise<Address[]> => {
	const found = names[host];
	if (!found) throw Object.assign(new Error("no such name"), { code: "ENOTFOUND" });
	return found;
};

const filter = () => addressFilter({ allow: [`127.0.0.1:${gatePort}`], resolve });
const get = (url: string) => fetchUrl(url, { filter: filter(), limits: { retries: 0, totalMs: 20_000, connectMs: 2_000 } });

/** P is the port of the server that must not be reached. */
const TRICKS = [
	"http://127.0.0.1:P/",
	"http://127.1:P/",
	"http://127.0.1:P/",
	"http://2130706433:P/", // decimal
	"http://0x7f000001:P/",
	"http://0x7f.0.0.1:P/",
	"http://0177.0.0.1:P/", // octal
	"http://0177.0x0.0.01:P/",
	"http://127.000.000.001:P/",
	"http://0:P/",
	"http://0.0.0.0:P/",
	"http://[::1]:P/",
	"http://[::]:P/",
	"http://[0:0:0:0:0:0:0:1]:P/",
	"http://[::ffff:127.0.0.1]:P/",
	"http://[::ffff:7f00:1]:P/",
	"http://[0:0:0:0:0:ffff:127.0.0.1]:P/",
	"http://[::127.0.0.1]:P/",
	"http://[64:ff9b::7f00:1]:P/", // NAT64
	"http://[2002:7f00:1::]:P/", // 6to4
	"http://[fe80::1]:P/",
	"http://[fd00:ec2::254]:P/",
	"http://①②⑦.⓪.⓪.①:P/",
	"http://127。0。0。1:P/",
	"http://127.0.0.1.:P/",
	"http://localhost:P/",
	"http://localhost.:P/",
	"http://LOCALHOST:P/",
	"http://a.localhost:P/",
	"http://example.org@127.0.0.1:P/",
	"http://127.0.0.1:P@127.0.0.1:P/",
	"http:\\\\127.0.0.1:P\\",
	"http:127.0.0.1:P/",
	"http://127.0.0.1:P#@example.org/",
	"http://127.255.255.254:P/",
	"http://rebind.test:P/",
	"http://both.test:P/",
	"http://six.test:P/",
	"http://mapped.test:P/",
	"http://zone.test:P/",
	"http://10.0.0.1/",
	"http://192.168.1.1/",
	"http://172.31.0.1/",
	"http://100.64.0.1/",
	"http://169.254.169.254/latest/meta-data/",
	"http://metadata.google.internal/",
	"http://[fd00::1]/",
	"http://224.0.0.1/",
	"http://255.255.255.255/",
	"http://example.org:22/",
	"file:///etc/passwd",
	"ftp://127.0.0.1:P/",
	"gopher://127.0.0.1:P/",
	"data:text/plain,hello",
	"javascript:alert(1)",
];

describe("the address filter", () => {
	it(`refuses ${TRICKS.length} tricks, typed and as the target of a redirect`, async () => {
		reached = [];
		const refused = /not fetched|is no URL|cannot be resolved/;
		for (const trick of TRICKS) {
			const url = trick.replaceAll(/:P(?=\W|$)/g, `:${secretPort}`);
			await expect(get(url), url).rejects.toThrow(refused);
			if (trick === "http:127.0.0.1:P/") continue; // in a redirect this is a path of the same host
			await expect(get(`http://127.0.0.1:${gatePort}/?to=${encodeURIComponent(url)}`), `redirect to ${url}`).rejects.toThrow(refused);
		}
		expect(reached).toEqual([]);
	});

	it("lets through what is allowed, and only on that port", async () => {
		expect((await get(`http://127.0.0.1:${gatePort}/`)).bytes.toString()).toBe("the gate");
		const network = addressFilter({ allow: ["127.0.0.0/8"] });
		expect((await fetchUrl(`http://127.0.0.1:${secretPort}/open`, { filter: network })).bytes.toString()).toBe("the secret");
		expect(() => addressFilter({ allow: ["not a host!"] })).toThrow(/is no host/);
	});

	it("asks a name once for each hop and connects to that address, whatever the name says next", async () => {
		reached = [];
		const answers: Address[][] = [[{ address: "127.0.0.1", family: 4 }], [{ address: "127.0.0.1", family: 4 }]];
		let asked = 0;
		const turning = addressFilter({
			allow: [`gate.test:${gatePort}`],
			resolve: async () => {
				asked++;
				return answers.shift() ?? [{ address: "10.0.0.1", family: 4 }];
			},
		});
		expect((await fetchUrl(`http://gate.test:${gatePort}/`, { filter: turning })).bytes.toString()).toBe("the gate");
		expect(asked).toBe(1);
		const onward = `http://127.0.0.1:${secretPort}/`;
		await expect(fetchUrl(`http://gate.test:${gatePort}/?to=${encodeURIComponent(onward)}`, { filter: turning })).rejects.toThrow(/loopback/);
		expect([asked, reached]).toEqual([2, []]);
	});

	it("looks at the address that it is connected to", async () => {
		reached = [];
		const { check, checkPeer } = filter();
		// A resolver that was checked as another one: the connection itself is refused.
		const lying = {
			check: async () => (await check(new URL(`http://127.0.0.1:${gatePort}/`))) && [{ address: "127.0.0.1", family: 4 as const }],
			checkPeer,
		};
		await expect(fetchUrl(`http://rebind.test:${secretPort}/`, { filter: lying, limits: { retries: 0 } })).rejects.toThrow(/loopback/);
		expect(reached).toEqual([]);
	});

	it("knows where metadata servers are", () => {
		for (const address of ["169.254.169.254", "::ffff:169.254.169.254", "fe80::a9fe:a9fe", "fd00:ec2::254", "fd20:ce::254", "100.100.100.200", "192.0.0.192"])
			expect([address, isLinkLocal(address)]).toEqual([address, true]);
		for (const address of ["127.0.0.1", "10.0.0.1", "fd00::1", "100.64.0.1", "8.8.8.8", "localhost", ""])
			expect([address, isLinkLocal(address)]).toEqual([address, false]);
	});

	it("knows public addresses", () => {
		for (const address of ["8.8.8.8", "93.184.216.34", "172.32.0.1", "2606:2800:220:1::1", "::ffff:8.8.8.8", "2a00:1450:4001::200e"])
			expect(refusedAddress(address), address).toBeUndefined();
		for (const address of ["", "localhost", "1.2.3", "::ffff:10.0.0.1", "::ffff:a00:1", "2001:db8::1", "::"])
			expect(refusedAddress(address), address).toBeDefined();
	});
});
