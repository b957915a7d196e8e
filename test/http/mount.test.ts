/** `holdfast/http`: the site in a server of another program, below a path of it and behind what that asks of its visitors. */
import http from "node:http";
import type { AddressInfo } from "node:net";
import { expect, test } from "vitest";
import { WebSocket } from "ws";
import { agentOf } from "../../src/api/index.js";
import { createSite, type HttpSite, serve } from "../../src/doors/http/library.js";
import { openRuntime, type Runtime } from "../../src/index.js";
import { atEnd, endAll, tempDir } from "../support/home.js";

const TOKEN = "a-token-of-its-own-a-token-of-its-own";

async function library(): Promise<Runtime> {
	const runtime = await openRuntime({ warm: 0, home: tempDir("home") });
	atEnd(() => endAll(agentOf(runtime)));
	return runtime;
}

/** Another program's server: whoever has its password is let through. */
async function mountedIn(runtime: Runtime): Promise<{ site: HttpSite; origin: string }> {
	let site: HttpSite | undefined;
	const mayPass = (request: http.IncomingMessage) => request.headers["x-password"] === "sesame" && request.url?.startsWith("/in/here");
	const server = http.createServer((request, response) => {
		if (mayPass(request)) site?.listener(request, response);
		else response.writeHead(request.url === "/" ? 200 : 401).end("the other program");
	});
	server.on("upgrade", (request, socket, head) => (mayPass(request) ? site?.upgrade(request, socket, head) : socket.destroy()));
	await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
	const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
	site = createSite(runtime, { url: `${origin}/in/here/`, token: TOKEN });
	atEnd(async () => {
		await site?.close();
		server.closeAllConnections();
		await new Promise((resolve) => server.close(resolve));
	});
	return { site, origin };
}

test("page, API and terminals work below a path, behind the password of the other program", async () => {
	const runtime = await library();
	const { site, origin } = await mountedIn(runtime);
	expect(site.url).toBe(`${origin}/in/here`);
	const password = { "x-password": "sesame" };
	const ask = (path: string, init: RequestInit = {}) => fetch(`${site.url}${path}`, { redirect: "manual", ...init, headers: { ...password, ...init.headers } });
	expect(await (await fetch(`${origin}/`)).text()).toBe("the other program");
	expect((await fetch(`${site.url}/api/session`, { headers: { Authorization: `Bearer ${TOKEN}` } })).status).toBe(401); // its own password
	expect((await ask("/api/session")).status).toBe(401); // and ours
	const moved = await ask("");
	expect([moved.status, moved.headers.get("location")]).toEqual([308, "/in/here/"]);
	const page = await (await ask("/")).text();
	const [, script = ""] = /<script type="module"[^>]* src="([^"]+)"/.exec(page) ?? [];
	expect(script).toMatch(/^\.\/assets\//);
	expect((await ask(`/${script}`)).headers.get("content-type")).toContain("javascript");

	const key = new URL(site.link()).hash.replace("#token=", "");
	const login = await ask("/api/login", { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify({ token: key }) });
	expect(login.headers.get("set-cookie")).toContain("Path=/in/here/");
	const visitor = { Cookie: login.headers.get("set-cookie")?.split(";")[0] as string, "X-Holdfast-Key": (await login.json()).key as string };
	expect(await (await ask("/api/session", { headers: visitor })).json()).toMatchObject({ scope: "owner", mcp: null });

	const one = await runtime.spawn({ command: "echo from a terminal; sleep 300", terminal: { cols: 80, rows: 24 } });
	const post = (path: string, body: object) =>
		ask(path, { method: "POST", headers: { ...visitor, "Content-Type": "application/json" }, body: JSON.stringify(body) }).then((response) => response.json());
	const { url } = await post("/api/tickets", { for: "terminal", session_id: one.id });
	const socket = new WebSocket(`${site.url.replace("http", "ws")}${url}`, { headers: password });
	const heard = await new Promise((resolve, reject) => {
		socket.once("message", resolve);
		socket.once("error", reject);
	});
	expect(heard).toBeDefined();
	socket.close();
	const download = await post("/api/tickets", { for: "download", path: `/api/processes/${one.id}/log?limit=1000` });
	expect(await (await ask(download.url)).text()).toContain("from a terminal");
	expect((await post("/api/viewers", { session_id: one.id })).url).toMatch(new RegExp(`^${site.url}/#view=`));
});

test("another host, another origin and another path are refused", async () => {
	const runtime = await library();
	const site = createSite(runtime, { url: "https://example.org/in/here", token: TOKEN });
	atEnd(() => site.close());
	const status = async (url: string, headers: Record<string, string> = {}) => {
		const response = await site.fetch(new Request(url, { headers: { host: "example.org", Authorization: `Bearer ${TOKEN}`, ...headers } }));
		return [response.status, (await response.json()).error?.message];
	};
	expect((await status("https://example.org/in/here/api/session"))[0]).toBe(200);
	expect(await status("https://example.org/in/here/api/session", { host: "evil.example" })).toEqual([
		403,
		expect.stringContaining("the Host header must be example.org"),
	]);
	expect(await status("https://example.org/in/here/api/session", { origin: "https://evil.example" })).toEqual([403, expect.stringContaining("other origins")]);
	expect(await status("https://example.org/in/herein/api/session")).toEqual([404, "this is mounted at https://example.org/in/here/"]);
	expect(await status("https://example.org/api/session")).toEqual([404, "this is mounted at https://example.org/in/here/"]);
	for (const url of ["example.org", "ftp://example.org", "https://example.org/?a", "https://u@example.org/", "https://example.org/a//b"])
		expect(() => createSite(runtime, { url })).toThrow(/^createSite: url (must begin with http|must not|may have a path)/);
	expect(() => createSite(runtime, { url: "https://example.org", token: "short" })).toThrow(
		"createSite: token is a string, but must be one word of 32 characters or more",
	);
});

test("serve is a server of its own, with MCP, and its link lets a browser in", async () => {
	const runtime = await library();
	await using server = await serve(runtime);
	const key = new URL(server.link()).hash.replace("#token=", "");
	const login = await fetch(`${server.url}/api/login`, {
		method: "POST",
		headers: { "Content-Type": "application/json" },
		body: JSON.stringify({ token: key }),
	});
	expect(login.status).toBe(200);
	expect((await fetch(`${server.url}/mcp`, { method: "POST" })).status).toBe(401);
	await expect(serve(runtime, { host: "0.0.0.0" })).rejects.toMatchObject({ code: "INVALID", message: expect.stringContaining("in the clear") });
	await expect(serve(runtime, { port: -1 })).rejects.toMatchObject({ code: "INVALID" });
});

test("with previewUrls the other program's server leads to previews by their names, each with a cookie of its own; without them there are none", async () => {
	const runtime = await library();
	const app = await runtime.spawn({
		command: `node -e 'require("http").createServer((_, response) => response.end("the application")).listen(0, "127.0.0.1", function () { console.log("on", this.address().port) })'`,
	});
	await app.wait({ until: { pattern: "on \\d+" } });
	let site: HttpSite | undefined;
	const server = http.createServer((request, response) => site?.listener(request, response));
	await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
	const { port } = server.address() as AddressInfo;
	const get = (url: string, headers: http.OutgoingHttpHeaders) =>
		new Promise<{ status: number | undefined; headers: http.IncomingHttpHeaders; body: string }>((resolve, reject) => {
			const { pathname, search, host } = new URL(url);
			const asked = http.get({ host: "127.0.0.1", port, path: pathname + search, headers: { Host: host, ...headers } }, async (response) => {
				let body = "";
				for await (const part of response) body += part;
				resolve({ status: response.statusCode, headers: response.headers, body });
			});
			asked.on("error", reject);
		});
	const portsOf = async (): Promise<{ ports: { url: string | null }[] }> =>
		JSON.parse((await get(`https://box.example/api/processes/${app.id}/ports`, { Authorization: `Bearer ${TOKEN}` })).body);

	site = createSite(runtime, { url: "https://box.example", token: TOKEN });
	atEnd(async () => {
		await site?.close();
		server.closeAllConnections();
		await new Promise((resolve) => server.close(resolve));
	});
	expect((await portsOf()).ports).toMatchObject([{ url: null }]);
	const label = `p${/on (\d+)/.exec(app.read(0).bytes.toString())?.[1]}-${app.id.slice(5)}`;
	expect((await get(`https://${label}.previews.example/`, {})).status).toBe(403);
	await site.close();

	site = createSite(runtime, { url: "https://box.example", token: TOKEN, previewUrls: ["https://*.previews.example"] });
	const link = (await portsOf()).ports[0]?.url as string;
	expect(new URL(link).origin).toBe(`https://${label}.previews.example`);
	expect((await get(new URL("/", link).href, { Authorization: `Bearer ${TOKEN}` })).status).toBe(401);
	const opened = await get(link, { "Sec-Fetch-Mode": "navigate" });
	const [cookie = ""] = opened.headers["set-cookie"] ?? [];
	expect(cookie).toMatch(/; Secure$/);
	expect(await get(new URL("/", link).href, { Cookie: cookie.split(";")[0] })).toMatchObject({ status: 200, body: "the application" });
	expect(() => createSite(runtime, { url: "https://box.example", previewUrls: ["https://previews.example"] })).toThrow("https://*.preview.example.org");
});
