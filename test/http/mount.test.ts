/** `holdfast/http`: the site in a server of another program, below a path of it and behind what that asks of its visitors. */
import http from "node:http";
import type { AddressInfo } from "node:net";
import path from "node:path";
import { expect, test } from "vitest";
import { WebSocket } from "ws";
import { agentOf } from "../../src/api/index.js";
import { createSite, type HttpSite, serve } from "../../src/doors/http/library.js";
import { openRuntime, type Runtime } from "../../src/index.js";
import { atEnd, endAll, tempDir } from "../support/home.js";
import { freePort } from "../support/ports.js";

const TOKEN = "a-token-of-its-own-a-token-of-its-own";

async function library(): Promise<Runtime> {
	const runtime = await openRuntime({ warm: 0, home: tempDir("home") });
	atEnd(() => endAll(agentOf(runtime)));
	return runtime;
}

/** Another program's server, which lets a visitor with its password through. */
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
	socket.once("open", () => socket.send(JSON.stringify({ type: "open", offset: 0 })));
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

test("with previewUrls the other program's server leads to previews by their names: cookies apart, redirects, WebSockets; without them there are none", async () => {
	const runtime = await library();
	const appPort = await freePort();
	const app = await runtime.spawn({ command: ["python3", path.resolve("test/fixtures/preview-app.py"), String(appPort)] });
	await app.wait({ until: { pattern: "ready" } });
	let site: HttpSite | undefined;
	const server = http.createServer((request, response) => site?.listener(request, response));
	server.on("upgrade", (request, socket, head) => site?.upgrade(request, socket, head));
	await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
	const { port } = server.address() as AddressInfo;
	const ask = (url: string, { body, ...headers }: Record<string, string> = {}) =>
		new Promise<{ status: number | undefined; headers: http.IncomingHttpHeaders; body: string }>((resolve, reject) => {
			const { pathname, search, host } = new URL(url);
			const init = { method: body === undefined ? "GET" : "POST", host: "127.0.0.1", port, path: pathname + search, headers: { Host: host, ...headers } };
			const asked = http.request(init, async (response) => {
				let text = "";
				for await (const part of response) text += part;
				resolve({ status: response.statusCode, headers: response.headers, body: text });
			});
			asked.on("error", reject);
			asked.end(body);
		});
	const portsOf = async (headers: Record<string, string> = { Authorization: `Bearer ${TOKEN}` }): Promise<{ ports: { url: string | null }[] }> =>
		JSON.parse((await ask(`https://box.example/in/here/api/processes/${app.id}/ports`, headers)).body);

	site = createSite(runtime, { url: "https://box.example/in/here", token: TOKEN });
	atEnd(async () => {
		await site?.close();
		server.closeAllConnections();
		await new Promise((resolve) => server.close(resolve));
	});
	expect((await portsOf()).ports).toMatchObject([{ url: null }]);
	const label = `p${appPort}-${app.id.slice(5)}`;
	const own = `https://${label}.previews.example`;
	expect((await ask(own)).status).toBe(403);
	await site.close();

	site = createSite(runtime, { url: "https://box.example/in/here", token: TOKEN, previewUrls: ["https://*.previews.example"] });
	const key = new URL(site.link()).hash.replace("#token=", "");
	const login = await ask("https://box.example/in/here/api/login", { "Content-Type": "application/json", body: JSON.stringify({ token: key }) });
	const session = { Cookie: login.headers["set-cookie"]?.[0]?.split(";")[0] as string, "X-Holdfast-Key": JSON.parse(login.body).key as string };
	const link = (await portsOf(session)).ports[0]?.url as string;
	expect(new URL(link).origin).toBe(own);
	expect((await ask(own, { Authorization: `Bearer ${TOKEN}` })).status).toBe(401);
	const opened = await ask(link, { "Sec-Fetch-Mode": "navigate" });
	expect(opened.headers["set-cookie"]?.[0]).toMatch(/; Secure$/);
	const cookie = opened.headers["set-cookie"]?.[0]?.split(";")[0] as string;
	const get = (at: string, headers: Record<string, string> = {}) => ask(`${own}${at}`, { Cookie: cookie, ...headers });
	expect(await get("/in/here/api/session")).toMatchObject({ status: 200, body: "at /in/here/api/session" }); // its own paths, also those that are ours elsewhere

	// Cookies: the application gets its own alone, sets no other, and its page cannot use ours.
	const sent = new Map<string, string>(JSON.parse((await get("/headers", { Cookie: `a=1; ${cookie}; ${session.Cookie}`, "X-Holdfast-Key": "key" })).body));
	expect([sent.get("Cookie"), sent.get("Host"), sent.get("X-Holdfast-Key")]).toEqual(["a=1", `localhost:${appPort}`, undefined]);
	expect((await get("/set")).headers["set-cookie"]).toEqual(["app=1; Path=/; HttpOnly", "other=2"]);
	expect((await ask("https://box.example/in/here/api/processes", { ...session, Origin: own })).status).toBe(403);
	expect((await ask("https://box.example/in/here/api/processes", { ...session, Cookie: cookie })).status).toBe(401);

	expect((await get("/redirect")).headers.location).toBe("/landed?x=1#there");
	expect((await get("/redirect-to?//evil.example/x")).headers.location).toBe("/.//evil.example/x"); // a path of the application, not another host
	expect((await get("/away")).headers.location).toBe("https://example.org/elsewhere");

	const dial = (origin: string, headers: Record<string, string> = { Cookie: cookie }) => {
		const socket = new WebSocket(`ws://127.0.0.1:${port}/socket`, { origin, headers: { Host: new URL(own).host, ...headers } });
		atEnd(() => socket.terminate());
		return new Promise<WebSocket>((resolve, reject) => socket.once("open", () => resolve(socket)).once("error", reject));
	};
	await expect(dial("https://box.example")).rejects.toThrow("403");
	await expect(dial(own, session)).rejects.toThrow("401");
	const ends = async (socket: WebSocket) => new Promise((resolve) => socket.once("close", resolve));
	const socket = await dial(own);
	const heard = new Promise((resolve) => socket.once("message", (data: Buffer) => resolve(data.toString())));
	socket.send("hello");
	expect(await heard).toBe(`hello from http://localhost:${appPort}`);
	const loggedOut = ends(socket);
	await ask("https://box.example/in/here/api/logout", { ...session, body: "" });
	await loggedOut;
	expect((await get("/landed")).status).toBe(401);

	const { pathname, search } = new URL((await portsOf()).ports[0]?.url as string);
	const again = (await ask(`${own}${pathname}${search}`)).headers["set-cookie"]?.[0]?.split(";")[0] as string;
	const closed = ends(await dial(own, { Cookie: again }));
	await site.close();
	await closed;
	expect(() => createSite(runtime, { url: "https://box.example", previewUrls: ["https://previews.example"] })).toThrow("https://*.preview.example.org");
});
