import http from "node:http";
import type { AddressInfo } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { brotliCompressSync, deflateRawSync, deflateSync, gzipSync } from "node:zlib";
import { afterAll, beforeAll, expect, it } from "vitest";
import { addressFilter, fetchUrl, mayFetch, type NetLimits, parseRobots, Rates, Robots } from "../../src/net/index.js";

let server: http.Server;
let base = "";
let hits: string[] = [];
const bomb = gzipSync(Buffer.alloc(64 * 1024 * 1024)); // 64 KB on the wire
const PIECE = Buffer.alloc(64 * 1024, "x");

const routes: Record<string, (request: http.IncomingMessage, response: http.ServerResponse) => void> = {
	"/plain": (_, response) => response.end("hello"),
	"/gzip": (_, response) => response.writeHead(200, { "content-encoding": "gzip" }).end(gzipSync("packed")),
	"/br": (_, response) => response.writeHead(200, { "content-encoding": "br" }).end(brotliCompressSync("packed")),
	"/deflate": (_, response) => response.writeHead(200, { "content-encoding": "deflate" }).end(deflateSync("packed")),
	"/deflate-raw": (_, response) => response.writeHead(200, { "content-encoding": "deflate" }).end(deflateRawSync("packed")),
	"/twice": (_, response) => response.writeHead(200, { "content-encoding": "gzip, gzip" }).end(gzipSync(gzipSync("packed"))),
	"/broken-gzip": (_, response) => response.writeHead(200, { "content-encoding": "gzip" }).end("not gzip"),
	"/bomb": (_, response) => response.writeHead(200, { "content-encoding": "gzip" }).end(bomb),
	"/endless": (_, response) => {
		response.writeHead(200, { "content-length": String(10 * 1024 ** 3) });
		const more = () => {
			while (!response.destroyed && response.write(PIECE));
			if (!response.destroyed) response.once("drain", more);
		};
		more();
	},
	"/drip": (_, response) => {
		response.writeHead(200);
		const timer = setInterval(() => response.write("."), 20);
		response.on("close", () => clearInterval(timer));
	},
	"/silent": () => {},
	"/stalls": (_, response) => response.writeHead(200, { "content-length": "100" }).write("half"),
	"/cut": (_, response) => {
		response.writeHead(200, { "content-length": "100" });
		response.write("half", () => response.destroy());
	},
	"/loop": (_, response) => response.writeHead(302, { location: "/loop" }).end(),
	"/headers": (_, response) => response.writeHead(200, { "x-long": "y".repeat(60_000) }).end(),
	"/moved": (_, response) => response.writeHead(301, { location: "plain?a" }).end(),
	"/away": (_, response) => response.writeHead(302, { location: `${base.replace("127.0.0.1", "localhost")}/echo` }).end(),
	"/echo": (request, response) => response.end(JSON.stringify(request.headers)),
	"/busy": (_, response) => (hits.length < 3 ? response.writeHead(503).end("later") : response.end("at last")),
	"/later-date": (_, response) => response.writeHead(503, { "retry-after": new Date(Date.now() + 3_600_000).toUTCString() }).end("no"),
	"/later": (_, response) => response.writeHead(429, { "retry-after": "3600" }).end("no"),
	"/robots.txt": (_, response) => response.end("User-agent: *\nDisallow: /private\nAllow: /private/open$\nCrawl-delay: 1"),
};

beforeAll(async () => {
	server = http.createServer((request, response) => {
		const path = (request.url ?? "").split("?")[0] ?? "";
		hits.push(path);
		const route = routes[path];
		if (route) route(request, response);
		else response.writeHead(404).end();
	});
	await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
	base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
afterAll(async () => {
	server.closeAllConnections();
	await new Promise((resolve) => server.close(resolve));
});

const filter = addressFilter({ allow: ["127.0.0.0/8", "::1"] });
const get = (path: string, limits: Partial<NetLimits> = {}, more: Partial<Parameters<typeof fetchUrl>[1]> = {}) => {
	hits = [];
	return fetchUrl(base + path, { filter, limits, ...more });
};

it("reads what is compressed", async () => {
	for (const path of ["/gzip", "/br", "/deflate", "/deflate-raw"]) expect((await get(path)).bytes.toString(), path).toBe("packed");
	await expect(get("/twice")).rejects.toThrow("compressed 2 times over");
	await expect(get("/broken-gzip")).rejects.toThrow("compressed answer is broken");
});

it("stops reading at the limit: 10 GB, and a gzip bomb", async () => {
	const limits = { bytes: 300_000 };
	for (const path of ["/endless", "/bomb"]) {
		const before = process.memoryUsage.rss();
		const { bytes, cut } = await get(path, limits);
		expect([bytes.length, cut]).toEqual([300_000, true]);
		expect(process.memoryUsage.rss() - before).toBeLessThan(48 * 1024 * 1024);
	}
});

it("gives up on a slow drip, a server that says nothing, and one that stops, in words", async () => {
	await expect(get("/drip", { totalMs: 300 })).rejects.toThrow(/did not deliver within 0.3 s; try again later/);
	await expect(get("/silent", { totalMs: 300 })).rejects.toThrow(/did not deliver within 0.3 s/);
	await expect(get("/silent", { idleMs: 200, retries: 0 })).rejects.toThrow(/did not answer in time/);
	await expect(get("/stalls", { idleMs: 200, retries: 0 })).rejects.toThrow(/stopped sending in the middle/);
	await expect(get("/cut", { retries: 1 })).rejects.toThrow(/broke off the connection/);
	expect(hits).toEqual(["/cut", "/cut"]);
	await expect(get("/headers", { retries: 0 })).rejects.toThrow(/more headers than are read/);
	await expect(fetchUrl("http://127.0.0.1:1024/", { filter, limits: { retries: 0 } })).rejects.toThrow(/127.0.0.1:1024 refuses the connection/);
});

it("ends at once when the caller does", async () => {
	const stop = new AbortController();
	const call = get("/drip", {}, { signal: stop.signal });
	setImmediate(() => stop.abort());
	await expect(call).rejects.toThrow(/abort/i);
});

it("follows redirects, not for ever, and takes no key to another origin", async () => {
	expect(await get("/moved")).toMatchObject({ url: `${base}/plain?a`, redirects: [`${base}/moved`], status: 200 });
	await expect(get("/loop", { redirects: 5 })).rejects.toThrow(/redirects more than 5 times/);
	expect(hits).toHaveLength(6);
	const { bytes } = await get("/away", {}, { headers: { "x-api-key": "k", "x-own": "a key under another name", accept: "application/json" } });
	const seen = JSON.parse(bytes.toString()) as Record<string, string>;
	expect([seen["x-api-key"], seen["x-own"], seen.accept]).toEqual([undefined, undefined, "application/json"]);
});

it("tries again what is busy, and not what wants an hour", async () => {
	expect((await get("/busy")).bytes.toString()).toBe("at last");
	expect(hits).toHaveLength(3);
	for (const [path, status] of [
		["/later", 429],
		["/later-date", 503],
	] as const) {
		expect((await get(path)).status).toBe(status);
		expect(hits).toHaveLength(1);
	}
});

it("obeys robots.txt", async () => {
	const robots = new Robots({ filter });
	hits = [];
	expect(await robots.check(new URL(`${base}/open`))).toBe(1);
	await robots.check(new URL(`${base}/private/open`));
	await expect(robots.check(new URL(`${base}/private/page`))).rejects.toThrow(/does not let programs fetch \/private\/page \(robots.txt\)/);
	expect(hits).toEqual(["/robots.txt"]);
	const stop = new AbortController(); // a call that ends does not end the look of another one
	const other = new Robots({ filter });
	const calls = [other.check(new URL(`${base}/open`), stop.signal), other.check(new URL(`${base}/open`))];
	stop.abort(new Error("over"));
	expect(await Promise.allSettled(calls)).toMatchObject([
		{ status: "rejected", reason: new Error("over") },
		{ status: "fulfilled", value: 1 },
	]);
	const rules = parseRobots(
		"User-agent: other\nDisallow: /\n\nUser-agent: holdfast\nUser-agent: x\nDisallow: /a*b$\nDisallow:\nAllow: /a/ok*b$\n\nUser-agent: *\nDisallow: /",
	);
	expect(["/", "/ab", "/a1b", "/abc", "/a/ok1b"].map((path) => mayFetch(rules, path))).toEqual([true, false, false, true, true]);
	expect(parseRobots(`User-agent: *\nDisallow: /a # b\nAllow:${" ".repeat(20_000)}#\u2028`).rules).toEqual([{ allow: false, path: "/a" }]);
	expect(mayFetch(parseRobots(`User-agent: *\nDisallow: ${"/*a".repeat(2000)}`), `/${"a/".repeat(4000)}`)).toBe(false);
});

it("keeps requests to one host apart", async () => {
	const rates = new Rates(60);
	const began = performance.now();
	const at: number[] = [];
	await Promise.all([1, 2, 3].map(() => rates.turn("a", undefined, undefined).then(() => at.push(performance.now() - began))));
	await rates.turn("b", undefined, undefined);
	expect((at[2] ?? 0) - (at[0] ?? 0)).toBeGreaterThan(100);
});

it("says that a host is asked too often, and does not count its own waiting as the host's", async () => {
	const rates = new Rates();
	const stop = new AbortController();
	const turns = [0, 1, 2, 3, 4, 5].map(() => rates.turn("slow.test", 30, stop.signal)); // 10 s apart
	const [last, ...waiting] = turns.reverse();
	await expect(last).rejects.toThrow("slow.test wants 10 s between requests, and the next 45 s are taken by earlier ones; nothing was fetched");
	stop.abort();
	expect((await Promise.allSettled(waiting)).map(({ status }) => status)).toEqual([...Array(4).fill("rejected"), "fulfilled"]);
	const before = () => sleep(300);
	expect((await get("/plain", { totalMs: 200, retries: 0 }, { before })).bytes.toString()).toBe("hello");
});
