/** A server behind a proxy or a tunnel: by which names it can be called, and what follows from the name. */
import http from "node:http";
import net from "node:net";
import { expect, test } from "vitest";
import { WebSocket } from "ws";
import { serve } from "../../src/doors/http/library.js";
import { parsePublicUrl, reachableHosts } from "../../src/doors/http/public-url.js";
import { linkKey } from "../../src/doors/http/sign.js";
import { openRuntime } from "../../src/index.js";
import { tempDir, testRuntime } from "../support/home.js";
import { type Api, overApi, TOKEN } from "../support/http.js";

const BOX = "https://box.example";
const BELOW = "http://other.example:8080/its/path";

/** `allowed` or what a program is told. */
const TABLE: readonly (readonly [string, Record<string, string>, string])[] = [
	["the name of a public address", { Host: "box.example" }, "allowed"],
	["its own port, said", { Host: "box.example:443" }, "allowed"],
	["the name in capitals", { Host: "BOX.Example" }, "allowed"],
	["a page of the public address", { Host: "box.example", Origin: BOX }, "allowed"],
	["the other public address", { Host: "other.example:8080", Origin: "http://other.example:8080" }, "allowed"],
	["loopback beside them", { Host: "127.0.0.1:PORT", Origin: "http://127.0.0.1:PORT" }, "allowed"],
	["a tunnel beside them", { Host: "localhost:9000", Origin: "http://localhost:9000" }, "allowed"],
	["another port of the name", { Host: "box.example:8443" }, "must name this server, not box.example:8443"],
	["the port of the other scheme", { Host: "box.example:80" }, "must name this server"],
	["the public port left out", { Host: "other.example" }, "must name this server"],
	["a dot at the end", { Host: "box.example." }, "must name this server"],
	["a name that ends like it", { Host: "evilbox.example" }, "must name this server"],
	["a name that begins like it", { Host: "box.example.evil.example" }, "must name this server"],
	["a name that was rebound to this machine", { Host: "evil.example:PORT", Origin: "http://evil.example:PORT" }, "start it with --public-url"],
	["an address of the network", { Host: "192.168.0.1:PORT" }, "must name this server"],
	["a page of another scheme", { Host: "box.example", Origin: "http://box.example" }, "pages of other origins"],
	["a page of another port", { Host: "box.example", Origin: "https://box.example:8443" }, "pages of other origins"],
	["a page of nowhere", { Host: "box.example", Origin: "null" }, "pages of other origins"],
	["a page of another site", { Host: "box.example", Origin: "https://evil.example" }, "pages of other origins"],
	["a page of the name below it", { Host: "box.example", Origin: "https://app.box.example" }, "pages of other origins"],
	["a page of the other public address", { Host: "box.example", Origin: "http://other.example:8080" }, "pass the browser's Host header on"],
	["a page of this machine", { Host: "box.example", Origin: "http://localhost:PORT" }, "pages of other origins"],
	["a proxy that sends its own Host", { Host: "127.0.0.1:PORT", Origin: BOX }, "pass the browser's Host header on"],
	["what a proxy says of the browser", { Host: "evil.example", "X-Forwarded-Host": "box.example", "X-Forwarded-Proto": "https" }, "must name this server"],
	["the origin in what a proxy says", { Host: "box.example", Origin: "https://evil.example", "X-Forwarded-Host": "evil.example" }, "pages of other origins"],
];

test("allowed and refused names: each on the page, the API, MCP and a WebSocket alike", async () => {
	const api = await overApi(await testRuntime(), { publicUrls: [BOX, `${BELOW}/`] });
	const found: string[] = [];
	for (const [what, headers, expected] of TABLE) {
		const answers = await Promise.all(["/", "/api/session", "/mcp"].map((path) => get(api, path, headers)));
		const socket = await dial(api, "/api/ws", headers);
		const texts = answers.map(({ status, body }) => (status === 403 ? body : "allowed"));
		const right =
			expected === "allowed" ? socket === 401 && texts.every((text) => text === "allowed") : socket === 403 && texts.every((text) => text.includes(expected));
		if (!right) found.push(`${what}: ${JSON.stringify([socket, ...texts])}`);
	}
	expect(found).toEqual([]);
	expect(await withoutHost(api)).toContain("400 Bad Request");
});

test("a browser that is refused gets a page with what to do, a program JSON; the name in it is text", async () => {
	const api = await overApi(await testRuntime());
	const accept = { Accept: "text/html,application/xhtml+xml,*/*;q=0.8" };
	const page = await get(api, "/", { ...accept, Host: "a&b'c.example" });
	expect([page.status, page.headers["content-type"], page.headers["content-security-policy"]]).toEqual([
		403,
		"text/html; charset=UTF-8",
		expect.stringMatching(/^default-src 'none'; style-src 'unsafe-inline';/),
	]);
	expect(page.body).toContain("This request was refused");
	expect(page.body).toContain("--public-url");
	expect(page.body).toContain("not a&amp;b&#39;c.example");
	expect(page.body).not.toContain("a&b'c");
	const signedOut = await get(api, "/api/processes", { ...accept, Authorization: "" });
	expect([signedOut.status, signedOut.body]).toEqual([401, expect.stringContaining("<code>holdfast serve --link</code>, on the machine that Holdfast runs on")]);
	expect((await get(api, "/mcp", { ...accept, Authorization: "" })).body).toContain("<h1>This browser is not signed in</h1>");
	expect(JSON.parse((await get(api, "/api/processes", { Authorization: "", Accept: "*/*" })).body)).toMatchObject({ error: { code: "UNAUTHORIZED" } });
	expect(JSON.parse((await get(api, "/mcp", { Authorization: "", Accept: "application/json, text/event-stream" })).body)).toMatchObject({ jsonrpc: "2.0" });
});

test("cookie, links, MCP endpoint and policy follow the address that the browser uses", async () => {
	const runtime = await testRuntime();
	const api = await overApi(runtime, { publicUrls: [BOX, `${BELOW}/`] });
	const port = new URL(api.origin).port;
	const one = await runtime.spawn({ command: "sleep 60" });
	const login = async (headers: Record<string, string>, path = "") =>
		(await post(api, `${path}/api/login`, { token: linkKey(TOKEN) }, { Authorization: "", ...headers })).headers["set-cookie"]?.[0]?.replace(/=[^;]+/, "=…");
	expect(await login({ Host: "box.example", Origin: BOX })).toBe("holdfast_443=…; Max-Age=2592000; Path=/; HttpOnly; Secure; SameSite=Strict");
	expect(await login({ Host: "other.example:8080" }, "/its/path")).toBe(
		"holdfast_8080_its_path=…; Max-Age=2592000; Path=/its/path/; HttpOnly; SameSite=Strict",
	);
	expect(await login({ Host: "other.example:8080" })).toContain("Path=/its/path/"); // the proxy has taken the path off
	expect(await login({ Host: "localhost:9000", "X-Forwarded-Proto": "https" })).toBe("holdfast_9000=…; Max-Age=2592000; Path=/; HttpOnly; SameSite=Strict");

	const shared = async (headers: Record<string, string>) => new URL(JSON.parse((await post(api, "/api/viewers", { session_id: one.id }, headers)).body).url);
	expect((await shared({ Host: "other.example:8080" })).href).toMatch(/^http:\/\/other\.example:8080\/its\/path\/#view=view_/);
	expect((await shared({ Host: `127.0.0.1:${port}` })).origin).toBe(BOX); // the owner sits at the machine, the other one does not
	const session = async (headers: Record<string, string>, path = "") => JSON.parse((await get(api, `${path}/api/session`, headers)).body).mcp;
	expect(await session({ Host: "other.example:8080" }, "/its/path")).toBe(`${BELOW}/mcp`);
	expect(await session({ Host: "box.example" })).toBe(`${BOX}/mcp`);
	expect((await get(api, "/", { Host: "box.example" })).headers["content-security-policy"]).toContain("connect-src 'self' wss://box.example;");
});

test("below a path: page, redirect to it, downloads and terminals, with the path in the request or taken off by the proxy", async () => {
	const runtime = await testRuntime();
	const api = await overApi(runtime, { publicUrls: [BELOW] });
	const one = await runtime.spawn({ command: "echo from below; sleep 60" });
	await one.wait({ until: { pattern: "below" } });
	const Host = "other.example:8080";
	for (const path of ["/its/path", "/its/path?next=//evil.example"]) {
		const moved = await get(api, path, { Host });
		expect([moved.status, moved.headers.location]).toEqual([308, "/its/path/"]);
	}
	expect((await get(api, "/its/path//evil.example", { Host })).headers.location).toBeUndefined();
	for (const below of ["/its/path", ""]) {
		const [, script = ""] = /<script type="module"[^>]* src="\.([^"]+)"/.exec((await get(api, `${below}/`, { Host })).body) ?? [];
		expect((await get(api, `${below}${script}`, { Host })).headers["content-type"]).toContain("javascript");
		const ticket = async (body: object) => JSON.parse((await post(api, `${below}/api/tickets`, body, { Host })).body).url as string;
		const download = await ticket({ for: "download", path: `/api/processes/${one.id}/log` });
		expect((await get(api, below + download, { Host, Authorization: "" })).body).toContain("from below");
		expect(await dial(api, below + (await ticket({ for: "terminal", session_id: one.id })), { Host, Origin: "http://other.example:8080" })).toBe("open");
	}
	expect((await get(api, "/its/pathology", { Host })).status).toBe(200); // the page, for any path that is nothing else
});

test.each([
	["box.example", "must begin with http:// or https://"],
	["box.example:8443", "must begin with http:// or https://"],
	["ftp://box.example", "must begin with http:// or https://"],
	["https://", "must begin with http:// or https://"],
	["https://me:secret@box.example", "must not contain a user name or password"],
	["https://box.example/?next=1", "must not have a query"],
	["https://box.example/#top", "must not have a query or a fragment"],
	["https://box.example./", "must name the host without a dot"],
	["https://box.example//evil.example", "may have a path of letters"],
	["https://box.example/a%2fb", "may have a path of letters"],
	["https://box.example/api", "must have another path"],
])("the public URL %s is refused in words", (url, sentence) => {
	expect(() => parsePublicUrl(url, "--public-url")).toThrow(`--public-url ${sentence}`);
	expect(() => parsePublicUrl(url, "--public-url")).not.toThrow("secret");
});

test("the library's server takes public addresses, and its link has the first", async () => {
	await using runtime = await openRuntime({ warm: 0, home: tempDir("home") });
	await using server = await serve(runtime, { publicUrls: [BOX] });
	expect(server.link()).toMatch(/^https:\/\/box\.example\/#token=/);
	await expect(serve(runtime, { publicUrls: ["box.example"] })).rejects.toMatchObject({ code: "INVALID" });
	await expect(serve(runtime, { publicUrls: [BOX, `${BOX}/below`] })).rejects.toThrow("a public URL has https://box.example twice");
});

test("on all interfaces the addresses of the machine are named, not 0.0.0.0", () => {
	const one = (address: string, family: "IPv4" | "IPv6", internal = false) =>
		({ address, family, internal, netmask: "", mac: "", cidr: null, scopeid: 0 }) as never;
	const interfaces = {
		lo: [one("127.0.0.1", "IPv4", true), one("::1", "IPv6", true)],
		eth0: [one("fe80::1", "IPv6"), one("2001:db8::5", "IPv6"), one("10.0.0.5", "IPv4")],
	};
	expect(reachableHosts("0.0.0.0", interfaces)).toEqual(["10.0.0.5", "127.0.0.1"]);
	expect(reachableHosts("::", interfaces)).toEqual(["10.0.0.5", "2001:db8::5", "::1"]);
	expect(reachableHosts("10.0.0.5", interfaces)).toEqual(["10.0.0.5"]);
});

interface Answer {
	readonly status: number | undefined;
	readonly headers: http.IncomingHttpHeaders;
	readonly body: string;
}

/** PORT in a header is the server's port; an empty Authorization is none. */
function ask(api: Api, method: string, path: string, given: Record<string, string>, body?: object): Promise<Answer> {
	const { port } = new URL(api.origin);
	const json = body && { "Content-Type": "application/json" };
	const all = Object.entries({ Authorization: `Bearer ${TOKEN}`, ...json, ...given }).filter(([name, value]) => name !== "Authorization" || value !== "");
	const headers = Object.fromEntries(all.map(([name, value]) => [name, value.replace("PORT", port)]));
	return new Promise((resolve, reject) => {
		const request = http.request({ host: "127.0.0.1", port, path, method, headers, agent: false }, (response) => {
			let text = "";
			if (response.headers["content-type"] === "application/octet-stream" || !/stream/.test(response.headers["content-type"] ?? ""))
				response.setEncoding("utf8").on("data", (piece: string) => (text += piece));
			response.once("end", () => resolve({ status: response.statusCode, headers: response.headers, body: text })).once("error", reject);
		});
		request.once("error", reject).end(body && JSON.stringify(body));
	});
}

const get = (api: Api, path: string, headers: Record<string, string>) => ask(api, "GET", path, headers);
const post = (api: Api, path: string, body: object, headers: Record<string, string>) => ask(api, "POST", path, headers, body);

/** `open`, or the status it was refused with. */
function dial(api: Api, path: string, given: Record<string, string>): Promise<"open" | number | undefined> {
	const { port } = new URL(api.origin);
	const headers = Object.fromEntries(Object.entries(given).map(([name, value]) => [name, value.replace("PORT", port)]));
	const socket = new WebSocket(`ws://127.0.0.1:${port}${path}`, { headers });
	return new Promise((resolve, reject) => {
		socket.once("open", () => {
			socket.terminate();
			resolve("open");
		});
		socket.once("unexpected-response", (_, response) => resolve(response.resume().statusCode));
		socket.once("error", reject);
	});
}

/** Only the first version of HTTP allows that. */
function withoutHost(api: Api): Promise<string> {
	const socket = net.connect(Number(new URL(api.origin).port), "127.0.0.1", () =>
		socket.write(`GET /api/session HTTP/1.0\r\nAuthorization: Bearer ${TOKEN}\r\n\r\n`),
	);
	return new Promise((resolve, reject) => {
		let text = "";
		socket.setEncoding("utf8").on("data", (piece: string) => (text += piece));
		socket.once("end", () => resolve(text)).once("error", reject);
	});
}
