/** Who gets in, with what, and to what. */
import fs from "node:fs";
import http from "node:http";
import { expect, test } from "vitest";
import { WebSocket } from "ws";
import { loggedInSchema, processDetailSchema, sessionSchema, ticketSchema, viewerLinkSchema, viewersSchema } from "../../src/doors/http/schemas.js";
import { isLinkKey, linkKey, newSession, sessionOf } from "../../src/doors/http/sign.js";
import { Tickets } from "../../src/doors/http/tickets.js";
import { tempDir, testRuntime, textOf, until } from "../support/home.js";
import { type Api, loginTo, overApi, TOKEN, Viewer } from "../support/http.js";

const OUT = { Authorization: undefined };

test("the link opens a session once the page has sent its key; cookie and key together are the owner", async () => {
	const api = await overApi(await testRuntime());
	const response = await api.request("POST", "/api/login", { body: { token: linkKey(TOKEN) }, headers: OUT });
	const cookie = response.headers.get("set-cookie") as string;
	expect(cookie).toMatch(/^holdfast_\d+=[\w.-]+; Max-Age=2592000; Path=\/; HttpOnly; SameSite=Strict$/);
	expect(cookie).not.toContain(TOKEN);
	const { key } = loggedInSchema.parse(await response.json());
	const session = { ...OUT, Cookie: cookie.split(";")[0] as string };
	expect(await api.call(sessionSchema, "GET", "/api/session", undefined, { ...session, "X-Holdfast-Key": key })).toMatchObject({
		scope: "owner",
		mcp: api.mcp,
	});
	expect(await api.fails("GET", "/api/session", undefined, session)).toBe("UNAUTHORIZED 401"); // as another port of this machine would have it
	expect(await api.fails("GET", "/api/session", undefined, { ...OUT, "X-Holdfast-Key": key })).toBe("UNAUTHORIZED 401");
	expect(await api.fails("GET", "/api/session", undefined, { ...session, "X-Holdfast-Key": newSession(TOKEN).key })).toBe("UNAUTHORIZED 401");
});

test("keys and sessions expire, and are of no use with another token", () => {
	const now = Date.now();
	const key = linkKey(TOKEN, now);
	expect([isLinkKey(TOKEN, key, now), isLinkKey(TOKEN, key, now + 12 * 3_600_000 + 1), isLinkKey(`${TOKEN}x`, key, now)]).toEqual([true, false, false]);
	expect(["", ".", "zzzzzzzz.", key.replace(/^./, "z")].filter((bad) => isLinkKey(TOKEN, bad, now))).toEqual([]);
	const { cookie, key: half, expiresAt } = newSession(TOKEN, now);
	expect(sessionOf(TOKEN, cookie, half, now)?.expiresAt).toBe(expiresAt);
	expect(sessionOf(TOKEN, cookie, half, expiresAt + 1)).toBeUndefined();
	expect(sessionOf(`${TOKEN}x`, cookie, half, now)).toBeUndefined();
	expect(sessionOf(TOKEN, cookie.replace(/^./, "z"), half, now)).toBeUndefined();
});

test("a session that was logged out is of no use, with its tickets, terminals and events, at this server and another", async () => {
	const runtime = await testRuntime();
	const [api, another] = [await overApi(runtime), await overApi(runtime)];
	const process = await runtime.spawn({ command: "sleep 60" });
	const login = async (): Promise<Record<string, string | undefined>> => {
		const response = await api.request("POST", "/api/login", { body: { token: TOKEN }, headers: OUT });
		const { key } = loggedInSchema.parse(await response.json());
		return { ...OUT, Cookie: (response.headers.get("set-cookie") as string).split(";")[0], "X-Holdfast-Key": key };
	};
	const there = (session: Record<string, string | undefined>) => ({
		...session,
		Cookie: session.Cookie?.replace(/^\w+/, `holdfast_${new URL(another.origin).port}`),
	});
	const terminal = (headers: Record<string, string | undefined>) =>
		api.call(ticketSchema, "POST", "/api/tickets", { for: "terminal", session_id: process.id }, headers);
	const [session, other] = [await login(), await login()];
	await another.call(sessionSchema, "GET", "/api/session", undefined, there(session));
	const { url } = await terminal(session);
	const events = await api.request("GET", "/api/events", { headers: session });
	const socket = new WebSocket(`${api.origin.replace("http", "ws")}${(await terminal(session)).url}`, { origin: api.origin });
	const closed = new Promise((resolve) => socket.once("close", (_, reason) => resolve(String(reason))));
	await new Promise((resolve) => socket.once("open", resolve));

	await api.request("POST", "/api/logout", { headers: { ...session, "X-Holdfast-Key": other["X-Holdfast-Key"] } }); // cookies can be stolen: without its key it ends nothing
	await api.call(sessionSchema, "GET", "/api/session", undefined, session);
	expect((await api.request("POST", "/api/logout", { headers: session })).headers.get("set-cookie")).toMatch(/^holdfast_\d+=; Max-Age=0/);
	expect(await api.fails("GET", "/api/session", undefined, session)).toBe("UNAUTHORIZED 401");
	expect(await another.fails("GET", "/api/session", undefined, there(session))).toBe("UNAUTHORIZED 401");
	expect(await dial(api, url)).toBe(401);
	expect(await closed).toBe("this browser was logged out");
	await process.kill(); // an event, which the stream of that session does not get
	expect(await events.text()).not.toContain("killed");
	await api.call(sessionSchema, "GET", "/api/session", undefined, other);
});

test("wrong tokens are refused, and slowed down; the right one still gets in", async () => {
	const api = await overApi(await testRuntime());
	expect(await api.fails("GET", "/api/processes", undefined, { Authorization: "Bearer wrong" })).toBe("UNAUTHORIZED 401");
	const statuses = new Set<string>();
	for (let tries = 0; tries < 30; tries++) statuses.add(await api.fails("POST", "/api/login", { token: `guess-${tries}` }, OUT));
	expect([...statuses]).toEqual(["UNAUTHORIZED 401", "LIMIT 429"]);
	await api.call(loggedInSchema, "POST", "/api/login", { token: TOKEN }, OUT);
	await api.call(sessionSchema, "GET", "/api/session");
});

test("another Host, Origin or site gets nowhere, whatever it brings: page, API, MCP and WebSocket", async () => {
	const runtime = await testRuntime();
	const api = await overApi(runtime);
	const process = await runtime.spawn({ command: "sleep 60" });
	const port = new URL(api.origin).port;
	const status = (path: string, headers: Record<string, string>) =>
		new Promise<number | undefined>((resolve, reject) => {
			const sent = { Authorization: `Bearer ${TOKEN}`, ...headers };
			http.get({ host: "127.0.0.1", port, path, headers: sent, agent: false }, (response) => resolve(response.resume().statusCode)).once("error", reject);
		});
	for (const path of ["/", "/api/session", "/mcp"]) {
		expect(await status(path, { Host: `evil.example.com:${port}` })).toBe(403);
		expect(await status(path, { Origin: "http://evil.example.com" })).toBe(403);
	}
	expect(await api.fails("GET", "/api/session", undefined, { Origin: "http://evil.example.com" })).toBe("FORBIDDEN 403");
	expect(await status("/api/session", { "Sec-Fetch-Site": "cross-site" })).toBe(403);
	expect(await status("/api/session", { "Sec-Fetch-Site": "same-site" })).toBe(403); // another port of this machine
	expect(await status("/api/session", { "Sec-Fetch-Site": "same-origin" })).toBe(200);
	for (const [headers, wanted] of [
		[{ Origin: "http://evil.example.com" }, 403],
		[{ Host: `evil.example.com:${port}` }, 403],
		[{}, "open"],
	] as const)
		expect(await dial(api, (await ticket(api, process.id)).url, headers)).toBe(wanted);
});

test("a ticket is for one use, one thing, and half a minute", async () => {
	const runtime = await testRuntime();
	const api = await overApi(runtime);
	const process = await runtime.spawn({ command: "sleep 60" });
	const { url } = await ticket(api, process.id);
	expect(await dial(api, url)).toBe("open");
	expect(await dial(api, url)).toBe(401);
	expect(await dial(api, "/api/ws?ticket=nonsense")).toBe(401);
	expect(await dial(api, "/api/ws")).toBe(401);
	expect(await dial(api, "/elsewhere")).toBe(404);
	const log = `/api/processes/${process.id}/log`;
	const download = async (path: string) => (await api.call(ticketSchema, "POST", "/api/tickets", { for: "download", path })).url;
	expect(await dial(api, `/api/ws?${(await download(log)).split("?")[1]}`)).toBe(401);
	const once = await download(`${log}?offset=0&limit=10`);
	expect((await api.request("GET", once, { headers: OUT })).status).toBe(200);
	expect(await api.fails("GET", once, undefined, OUT)).toBe("UNAUTHORIZED 401");
	expect(await api.fails("GET", (await download(log)).replace("/log", "/lines"), undefined, OUT)).toBe("UNAUTHORIZED 401");
	const tickets = new Tickets();
	const use = { for: "terminal", what: "x", visitor: { scope: "owner", expiresAt: null } } as const;
	const viewer = { ...use, visitor: { scope: "viewer", viewer: "v", session_id: "x", expiresAt: 1e15, keyboard: false } } as const;
	for (let n = 0; n < 50; n++) tickets.issue(viewer, 0);
	expect(() => tickets.issue(viewer, 0)).toThrow("50 tickets of this link"); // and the owner still gets one:
	const late = tickets.issue(use, 0);
	expect(tickets.use(late, "terminal", 30_001)).toBeUndefined();
});

test("a read-only link shows one process, cannot change it, and ends when it is withdrawn", async () => {
	const runtime = await testRuntime();
	const api = await overApi(runtime);
	const [shown, hidden] = [await runtime.spawn({ command: "cat", terminal: true }), await runtime.spawn({ command: "cat", terminal: true })];
	const link = await api.call(viewerLinkSchema, "POST", "/api/viewers", { session_id: shown.id.slice(0, 10), seconds: 60 });
	const look = { Authorization: `Bearer ${new URL(link.url).hash.replace("#view=", "")}` };
	expect(await api.call(sessionSchema, "GET", "/api/session", undefined, look)).toMatchObject({ scope: "viewer", session_id: shown.id, mcp: null, home: null });
	expect(await api.call(processDetailSchema, "GET", `/api/processes/${shown.id}`, undefined, look)).toMatchObject({ session_id: shown.id, dir: null });
	for (const path of ["log", "lines", "recording", "screen"])
		expect((await api.request("GET", `/api/processes/${shown.id}/${path}`, { headers: look })).status).toBe(200);
	const forbidden = [
		["GET", `/api/processes/${hidden.id}`],
		["GET", `/api/processes/${hidden.id}/log`],
		["GET", `/api/processes/${hidden.id}/recording`],
		["GET", "/api/processes"],
		["GET", "/api/events"],
		["GET", "/api/files?path=/etc/passwd"],
		["GET", "/api/search?q=x"],
		["GET", "/api/viewers"],
		["POST", `/api/processes/${shown.id}/input`, { data: "x" }],
		["POST", `/api/processes/${shown.id}/kill`],
		["POST", "/api/tools/terminal", { command: "id" }],
		["POST", "/api/viewers", { session_id: shown.id }],
		["POST", "/api/tickets", { for: "terminal", session_id: hidden.id }],
	] as const;
	for (const [method, path, body] of forbidden) expect([path, await api.fails(method, path, body, look)]).toEqual([path, "FORBIDDEN 403"]);
	const { url } = await api.call(ticketSchema, "POST", "/api/tickets", { for: "download", path: `/api/processes/${hidden.id}/log` }, look);
	expect(await api.fails("GET", url, undefined, OUT)).toBe("FORBIDDEN 403");
	expect((await api.request("POST", api.mcp.replace(api.origin, ""), { headers: look, body: {} })).status).toBe(401);

	const viewer = await Viewer.connect(api, shown.id, look);
	viewer.send({ type: "open", offset: null });
	await viewer.until("opened", () => viewer.last("opened"));
	expect(viewer.last("opened")).toMatchObject({ read_only: true });
	viewer.send({ type: "keyboard", action: "take" });
	await viewer.until("closed", () => viewer.closed);
	expect(viewer.closed?.code).toBe(1008);

	const again = await Viewer.connect(api, shown.id, look);
	again.send({ type: "open", offset: 0 });
	await again.until("opened", () => again.last("opened"));
	expect((await api.call(viewersSchema, "GET", "/api/viewers")).viewers).toEqual([
		{ id: link.id, session_id: shown.id, created_at: link.created_at, expires_at: link.expires_at, keyboard: false },
	]);
	expect((await api.request("DELETE", `/api/viewers/${link.id}`)).status).toBe(200);
	await again.until("closed", () => again.closed);
	expect(again.closed?.code).toBe(4401);
	expect(await api.fails("GET", "/api/session", undefined, look)).toBe("UNAUTHORIZED 401");
	expect(await api.fails("DELETE", "/api/viewers/..%2Ftoken")).toBe("NOT_FOUND 404");
});

test("a read-only link shows stars in place of secrets, live and afterwards, at the same offsets; the owner sees what was printed", async () => {
	const runtime = await testRuntime();
	const api = await overApi(runtime);
	const key = ["ghp", "aB3dE5fG7hI9jK1lM3nO5pQ7rS9tU1vW3xY5"].join("_");
	const dir = tempDir();
	for (const [name, text] of Object.entries({ whole: `${key} one\n`, half: key.slice(0, 20), rest: `${key.slice(20)} two\n` }))
		fs.writeFileSync(`${dir}/${name}`, text);
	const command = `cd ${dir}; stty -echo; echo before; cat whole; read -r x; cat half; read -r x; cat rest; cat`;
	const process = await runtime.spawn({ command, terminal: { cols: 150, rows: 30 } });
	const link = await api.call(viewerLinkSchema, "POST", "/api/viewers", { session_id: process.id, seconds: 60 });
	const look = { Authorization: `Bearer ${new URL(link.url).hash.replace("#view=", "")}` };
	const stars = `ghp_${"*".repeat(key.length - 4)}`;
	const get = async (path: string, headers?: Record<string, string>) =>
		(await api.request("GET", `/api/processes/${process.id}/${path}`, headers ? { headers } : {})).text();

	const [live, first] = [await Viewer.connect(api, process.id, look), await Viewer.connect(api, process.id, look)];
	live.send({ type: "open", offset: 0 });
	await live.until("the first key", () => live.text.includes(`${stars} one`));
	first.send({ type: "open", offset: null });
	await first.until("a screen", () => first.last("screen"));
	expect(first.last("screen")?.data).toContain(`${stars} one`);
	await process.write("\n"); // half of the second is printed, and then the other half
	await until("half of it is in the log", () => textOf(process).endsWith(key.slice(0, 20)));
	for (const path of ["log", "lines", "recording"]) expect(await get(path, look), path).not.toContain(key.slice(0, 12));
	const half = await api.request("GET", `/api/processes/${process.id}/log`, { headers: look });
	const shown = (await half.arrayBuffer()).byteLength;
	expect([half.headers.get("X-Holdfast-Next"), half.headers.get("X-Holdfast-End")]).toEqual([`${shown}`, `${shown + 20}`]);
	await process.write("\n");
	await live.until("the second key", () => live.text.includes(" two"));
	expect(live.text).toContain(`${stars} two`);
	expect(live.output.length).toBe(process.log.bounds().end);

	for (const path of ["log", `log?offset=${textOf(process).indexOf("ghp") + 12}&limit=10`, "lines", "recording", "screen"]) {
		const shown = await get(path, look);
		for (let at = 0; at + 12 <= key.length; at++) expect(shown, path).not.toContain(key.slice(at, at + 12));
	}
	expect(await get("log", look)).toHaveLength((await get("log")).length);
	expect(await get("log")).toContain(`${key} two`);
	expect(await get("recording")).toContain(key);
});

test("a form of another site cannot do anything: only JSON is taken", async () => {
	const api = await overApi(await testRuntime());
	const login = await loginTo(api);
	expect(await api.fails("POST", "/api/prune", "{}", { ...login, "Content-Type": "text/plain" })).toBe("INVALID 415");
	expect(await api.fails("POST", "/api/prune", "{", login)).toBe("INVALID 400");
	expect(await api.fails("POST", "/api/prune", { wrong: 1 }, login)).toBe("INVALID 400");
	// A client that sends too much is told so, each time: the connection is not cut while it is still sending.
	for (let times = 0; times < 20; times++) expect(await api.fails("POST", "/api/prune", `{"dry_run":"${"x".repeat(3_000_000)}"}`, login)).toBe("TOO_BIG 413");
	expect(await api.fails("GET", "/api/nothing", undefined, login)).toBe("NOT_FOUND 404");
});

const ticket = (api: Api, session_id: string) => api.call(ticketSchema, "POST", "/api/tickets", { for: "terminal", session_id });

/** Open a WebSocket: "open", or the status of the refusal. */
function dial(api: Api, url: string, headers: Record<string, string> = {}): Promise<"open" | number | undefined> {
	return new Promise((resolve) => {
		const socket = new WebSocket(api.origin.replace("http", "ws") + url, { headers });
		socket.once("open", () => {
			socket.terminate();
			resolve("open");
		});
		socket.once("unexpected-response", (_request, response) => {
			resolve(response.statusCode);
			socket.terminate();
		});
		socket.on("error", () => {});
	});
}
