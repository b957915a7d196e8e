/** Parts of the page that other packages bring: behind the same guard as the rest, and unable to take the rest with them. */
import fs from "node:fs";
import path from "node:path";
import { expect, test } from "vitest";
import { agentOf } from "../../src/api/index.js";
import { createSite, type PartVisit, type SitePart } from "../../src/doors/http/library.js";
import { openRuntime } from "../../src/index.js";
import { atEnd, endAll, tempDir } from "../support/home.js";
import { TOKEN } from "../support/http.js";

const URL_OF = "https://example.org/in/here";
const OWNER = { Authorization: `Bearer ${TOKEN}` };

interface Made {
	readonly ask: (path: string, init?: RequestInit & { headers?: Record<string, string> }) => Promise<Response>;
	readonly viewer: Record<string, string>;
	readonly visits: PartVisit[];
	readonly closed: () => boolean;
	readonly close: () => Promise<void>;
}

async function siteWith(fetch: SitePart["fetch"]): Promise<Made> {
	const runtime = await openRuntime({ warm: 0, home: tempDir("home") });
	atEnd(() => endAll(agentOf(runtime)));
	const files = tempDir("part");
	fs.writeFileSync(path.join(files, "part-0123456789.js"), "export const mount = () => () => {};");
	fs.writeFileSync(path.join(files, "part.css"), "p { color: red }");
	fs.writeFileSync(path.join(path.dirname(files), "beside.txt"), "not for the browser");
	atEnd(() => fs.rmSync(path.join(path.dirname(files), "beside.txt")));
	const visits: PartVisit[] = [];
	let closed = false;
	const part: SitePart = {
		name: "notes",
		label: "Notes",
		files,
		script: "part-0123456789.js",
		style: "part.css",
		fetch: (request, visit) => {
			visits.push(visit);
			return fetch(request, visit);
		},
		close: async () => {
			closed = true;
		},
	};
	const site = createSite(runtime, { url: URL_OF, token: TOKEN, parts: [part] });
	atEnd(() => site.close());
	const terminal = await runtime.spawn({ command: "sleep 300" });
	const { hash } = runtime.links.create({ session_id: terminal.id });
	return {
		ask: (where, init = {}) => site.fetch(new Request(`${URL_OF}${where}`, { ...init, headers: { host: "example.org", ...init.headers } })),
		viewer: { Authorization: `Bearer ${hash.replace(/^.*#view=/, "")}` },
		visits,
		closed: () => closed,
		close: () => site.close(),
	};
}

const problem = async (response: Response) => [response.status, ((await response.json()) as { error: { code: string; message: string } }).error];

test("the owner reaches a part, with the path below it; a page is told where its files are", async () => {
	const { ask, visits } = await siteWith(async (request, { path: below }) =>
		Response.json({ below, method: request.method, query: new URL(request.url).search }),
	);
	const answer = await ask("/api/parts/notes/a/b%20c?x=1", { headers: OWNER });
	expect(await answer.json()).toEqual({ below: "/a/b%20c", method: "GET", query: "?x=1" });
	expect(answer.headers.get("content-security-policy")).toContain("script-src 'self'");
	expect(visits[0]?.isStillValid()).toBe(true);
	const { parts } = (await (await ask("/api/session", { headers: OWNER })).json()) as { parts: unknown };
	expect(parts).toEqual([{ name: "notes", label: "Notes", icon: null, script: "/parts/notes/part-0123456789.js", style: "/parts/notes/part.css" }]);
	const script = await ask("/parts/notes/part-0123456789.js");
	expect([script.status, script.headers.get("content-type"), script.headers.get("cache-control")]).toEqual([
		200,
		"text/javascript; charset=utf-8",
		"public, max-age=31536000, immutable",
	]);
	expect((await ask("/parts/notes/part.css")).headers.get("cache-control")).toBe("no-cache");
});

test("a stranger, a read-only link and a page of another site never reach it", async () => {
	const { ask, viewer, visits } = await siteWith(() => new Response("reached"));
	expect(await problem(await ask("/api/parts/notes/x"))).toMatchObject([401, { code: "UNAUTHORIZED" }]);
	expect(await problem(await ask("/api/parts/notes/x", { headers: { Authorization: "Bearer wrong-token-wrong-token-wrong-token" } }))).toMatchObject([401, {}]);
	expect(await problem(await ask("/api/parts/notes/x", { headers: viewer }))).toMatchObject([403, { code: "FORBIDDEN" }]);
	expect(await (await ask("/api/session", { headers: viewer })).json()).toMatchObject({ scope: "viewer", parts: [] });
	expect(await problem(await ask("/api/parts/notes/x", { headers: { ...OWNER, origin: "https://evil.example" } }))).toMatchObject([403, { code: "FORBIDDEN" }]);
	expect(await problem(await ask("/api/parts/notes/x", { headers: { ...OWNER, "sec-fetch-site": "cross-site" } }))).toMatchObject([403, {}]);
	expect(await problem(await ask("/api/parts/notes/x", { headers: { ...OWNER, host: "evil.example" } }))).toMatchObject([403, {}]);
	expect(await problem(await ask("/api/parts/others/x", { headers: OWNER }))).toMatchObject([404, { code: "NOT_FOUND" }]);
	expect(visits).toEqual([]);
});

test.each(["/parts/notes/", "/parts/notes/none.js", "/parts/notes/..%2fbeside.txt", "/parts/notes/%2e%2e/beside.txt", "/parts/notes/%00", "/parts/notes/%zz"])(
	"no file outside of its directory is served: %s",
	async (where) => {
		const { ask } = await siteWith(() => new Response(""));
		expect(await (await ask(where)).text()).not.toContain("not for the browser");
	},
);

test("a body that is no JSON, of another type or too big is refused in words; what a part throws is an answer, and the rest goes on", async () => {
	const { ask } = await siteWith(async (_, visit) => {
		if (visit.path === "/throws") throw new Error("the part is broken");
		return Response.json(await visit.json(20));
	});
	const post = (body: string, type = "application/json", where = "/echo") =>
		ask(`/api/parts/notes${where}`, { method: "POST", body, headers: { ...OWNER, "content-type": type } });
	expect(await (await post('{"a": 1}')).json()).toEqual({ a: 1 });
	expect(await problem(await post("{"))).toMatchObject([400, { code: "INVALID" }]);
	expect(await problem(await post("a=1", "application/x-www-form-urlencoded"))).toMatchObject([415, { code: "INVALID" }]);
	expect(await problem(await post(`"${"x".repeat(30)}"`))).toMatchObject([413, { code: "TOO_BIG" }]);
	expect(await problem(await post("{}", "application/json", "/throws"))).toMatchObject([500, { code: "INTERNAL" }]);
	expect((await ask("/api/session", { headers: OWNER })).status).toBe(200);
});

test("what a part streams can ask whether its reader may still read; the part is closed with the site", async () => {
	const { ask, visits, closed, close } = await siteWith(() => new Response("{}"));
	const login = await ask("/api/login", { method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify({ token: TOKEN }) });
	const { key } = (await login.json()) as { key: string };
	const browser = { cookie: login.headers.get("set-cookie")?.split(";")[0] ?? "", "x-holdfast-key": key };
	await ask("/api/parts/notes/x", { headers: browser });
	expect(visits[0]?.isStillValid()).toBe(true);
	await ask("/api/logout", { method: "POST", headers: browser });
	expect(visits[0]?.isStillValid()).toBe(false);
	expect(closed()).toBe(false);
	await close();
	expect(closed()).toBe(true);
});

test.each([
	["a name that does not fit into an address", { name: "Notes/1" }],
	["no label", { label: "" }],
	["no fetch", { fetch: undefined }],
	["nothing at all", null],
])("a part with %s is refused when the site is made", async (_, wrong) => {
	const runtime = await openRuntime({ warm: 0, home: tempDir("home") });
	atEnd(() => endAll(agentOf(runtime)));
	const part = wrong && { name: "notes", label: "Notes", files: "/tmp", script: "a.js", fetch: () => new Response(""), ...wrong };
	expect(() => createSite(runtime, { url: URL_OF, token: TOKEN, parts: [part as SitePart] })).toThrow(/parts.*is no part/s);
});
