/** Previews of ports: who sees them, what gets to the application and back, and where they lead. */
import fs from "node:fs";
import http from "node:http";
import path from "node:path";
import { expect, test } from "vitest";
import { WebSocket } from "ws";
import { okSchema, portsSchema } from "../../src/doors/http/schemas.js";
import { dockerBox } from "../support/docker-box.js";
import { BUSYBOX_IMAGE, noEngine } from "../support/dockerd.js";
import { elsewhere } from "../support/elsewhere.js";
import { atEnd, testRuntime } from "../support/home.js";
import { type Api, loginTo, overApi } from "../support/http.js";
import type { Process, Runtime } from "../support/internal.js";
import { freePort } from "../support/ports.js";
import { noSandbox } from "../support/sandbox.js";
import { noSshd } from "../support/sshd.js";

const APP = path.resolve("test/fixtures/preview-app.py");

interface Answer {
	readonly status: number;
	readonly headers: http.IncomingHttpHeaders;
	readonly body: string;
}

/** As a browser asks that has the server's address behind the name of a preview. */
function ask(
	{ origin }: Pick<Api, "origin">,
	host: string,
	at: string,
	init: { method?: string; headers?: Record<string, string>; body?: string } = {},
): Promise<Answer> {
	return new Promise((resolve, reject) => {
		const request = http.request(`${origin}${at}`, { method: init.method ?? "GET", headers: { Host: host, ...init.headers }, agent: false }, (response) => {
			let body = "";
			response.setEncoding("utf8").on("data", (text: string) => {
				body += text;
			});
			response.on("end", () => resolve({ status: response.statusCode ?? 0, headers: response.headers, body }));
			response.on("error", reject);
		});
		request.on("error", reject);
		request.end(init.body);
	});
}

interface Preview {
	readonly port: number;
	readonly process: Process;
	/** As the Host header has it. */
	readonly host: string;
	readonly url: string;
	readonly cookie: string;
	get(at: string, init?: Parameters<typeof ask>[3]): Promise<Answer>;
}

/** An application that runs, and its preview, opened. */
async function previewed(
	api: Api,
	runtime: Runtime,
	{
		app = APP,
		by = "python3",
		address = "127.0.0.1",
		headers,
	}: { app?: string; by?: string; address?: string; headers?: Record<string, string | undefined> } = {},
): Promise<Preview> {
	const port = await freePort();
	const process = await runtime.spawn({ command: `${by} ${app} ${port} ${address}` });
	expect(await process.wait({ until: { pattern: "ready" }, timeout: 100_000 })).toMatchObject({ matched: "pattern" });
	return opened(api, process, port, headers);
}

async function opened(api: Api, process: Process, port: number, headers?: Record<string, string | undefined>): Promise<Preview> {
	const { ports } = await api.call(portsSchema, "GET", `/api/processes/${process.id}/ports`, undefined, headers);
	expect(ports).toEqual([{ port, url: expect.any(String) }]);
	const url = ports[0]?.url as string;
	const { host, pathname, search } = new URL(url);
	const answer = await ask(api, host, pathname + search);
	expect([answer.status, answer.headers.location]).toEqual([303, "/"]);
	const cookie = (answer.headers["set-cookie"] as string[])[0]?.split(";")[0] as string;
	return { port, process, host, url, cookie, get: (at, init = {}) => ask(api, host, at, { ...init, headers: { Cookie: cookie, ...init.headers } }) };
}

test("an application gets what a browser beside it would send, and nothing of ours; what it sends back stays its own", async () => {
	const runtime = await testRuntime();
	const api = await overApi(runtime);
	const { port, host, cookie, url, get } = await previewed(api, runtime);
	expect(new URL(url).host).toMatch(new RegExp(`^p${port}-[0-9a-f]{12}\\.localhost:\\d+$`));

	const own = `http://${host}`;
	const sent = await get("/headers", {
		headers: {
			Cookie: `a=1; ${cookie}; holdfast_1=session; b=2`,
			Origin: own,
			Referer: `${own}/from?x=1`,
			"X-Forwarded-Host": "evil.example",
			"X-Holdfast-Key": "key",
		},
	});
	const got = new Map(JSON.parse(sent.body) as [string, string][]);
	expect(got.get("Host")).toBe(`localhost:${port}`);
	expect([got.get("Origin"), got.get("Referer")]).toEqual([`http://localhost:${port}`, `http://localhost:${port}/from?x=1`]);
	expect(got.get("Cookie")).toBe("a=1; b=2");
	expect([...got.keys()].filter((name) => /forwarded|holdfast/i.test(name))).toEqual([]);

	const set = await get("/set");
	expect(set.headers["set-cookie"]).toEqual(["app=1; Path=/; HttpOnly", "other=2"]);
	expect([set.headers["clear-site-data"], set.headers["alt-svc"]]).toEqual([undefined, undefined]);
	expect((await get("/redirect")).headers.location).toBe("/landed?x=1#there");
	expect((await get("/away")).headers.location).toBe("https://example.org/elsewhere");
	expect((await get("/echo", { method: "POST", body: "a body", headers: { "Content-Type": "text/x" } })).body).toBe("a body");
	expect((await get("/large")).body.length).toBe(5_000_000);
	expect((await get("/", { method: "HEAD" })).status).toBe(200);
	await expect(get("/cut")).rejects.toThrow("aborted");
	expect(await get("/garbage")).toMatchObject({ status: 502, body: expect.stringContaining("does not answer in HTTP") });
	expect((await get("/landed")).body).toBe("at /landed"); // it goes on
});

test("only the browser that followed its owner's link gets in, from pages of the application; not with another preview's cookie, and not after a logout", async () => {
	const runtime = await testRuntime();
	const api = await overApi(runtime);
	const session = await loginTo(api);
	const first = await previewed(api, runtime, { headers: session });
	const second = await previewed(api, runtime, { address: "::1" });
	const { get, host, cookie } = first;
	const own = `http://${host}`;

	const page = await ask(api, host, "/", { headers: { Accept: "text/html" } });
	expect(page).toMatchObject({ status: 401, body: expect.stringContaining("<h1>This browser is not signed in</h1>") });
	expect(page.body).toContain("opened from the terminal&#39;s page");
	expect((await ask(api, host, "/", { headers: { Authorization: `Bearer ${api.token}` } })).status).toBe(401);
	expect((await ask(api, host, "/", { headers: { Cookie: second.cookie } })).status).toBe(401);
	expect((await ask(api, host, "/", { headers: { Cookie: `holdfast_preview=forged; ${cookie}` } })).status).toBe(200);
	expect((await ask(api, host, new URL(second.url).pathname + new URL(second.url).search)).status).toBe(401);
	expect((await ask(api, host, "/.holdfast/other", { headers: { Cookie: cookie } })).status).toBe(404);

	const refused: string[] = [];
	const table: [string, number, string, Record<string, string>][] = [
		["its own page", 200, "POST", { Origin: own }],
		["its own page, as the browser says", 200, "POST", { Origin: "null", "Sec-Fetch-Site": "same-origin" }],
		["a link from elsewhere", 200, "GET", { "Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate", "Sec-Fetch-Dest": "document" }],
		["the page of another preview", 403, "POST", { Origin: `http://${second.host}` }],
		["a script of another preview", 403, "GET", { "Sec-Fetch-Site": "same-site", "Sec-Fetch-Mode": "cors" }],
		["a frame of another page", 403, "GET", { "Sec-Fetch-Site": "same-site", "Sec-Fetch-Mode": "navigate", "Sec-Fetch-Dest": "iframe" }],
		[
			"a form of another page",
			403,
			"POST",
			{ Origin: "https://evil.example", "Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate", "Sec-Fetch-Dest": "document" },
		],
		["nowhere", 403, "POST", { Origin: "null" }],
	];
	for (const [what, status, method, headers] of table) {
		const found = (await get("/echo", { method, headers })).status;
		if (found !== status) refused.push(`${what}: ${found}`);
	}
	expect(refused).toEqual([]);
	// Its name is no way to us, and ours none to it.
	expect((await get("/api/processes")).body).toBe("at /api/processes");
	expect((await ask(api, host.replace("localhost", "evil.example"), "/", { headers: { Cookie: cookie } })).status).toBe(403);
	expect(await api.fails("GET", "/api/processes", undefined, { ...session, Origin: own })).toBe("FORBIDDEN 403");

	// A cookie that a page of a neighbouring name has set beside ours locks nobody out.
	const tossed = { ...session, Cookie: `${session.Cookie.split("=")[0]}=forged; ${session.Cookie}` };
	expect((await api.request("GET", "/api/processes", { headers: tossed })).status).toBe(200);

	const socket = await dial(api, first, own);
	await api.call(okSchema, "POST", "/api/logout", undefined, session);
	await socket.closed;
	expect((await get("/")).status).toBe(401);
	expect((await second.get("/")).status).toBe(200); // opened with the token, which has no session
});

test("WebSockets go both ways; one that is refused says so, and one of another page is refused", async () => {
	const runtime = await testRuntime();
	const api = await overApi(runtime);
	const preview = await previewed(api, runtime);
	const own = `http://${preview.host}`;
	const { socket } = await dial(api, preview, own);
	const heard: string[] = [];
	socket.on("message", (data: Buffer) => heard.push(data.toString()));
	for (const text of ["one", "two"]) socket.send(text);
	await new Promise<void>((resolve) => socket.on("message", () => heard.length === 2 && resolve()));
	expect(heard).toEqual(["one", "two"].map((text) => `${text} from http://localhost:${preview.port}`));
	await expect(dial(api, preview, own, "/elsewhere")).rejects.toThrow("404");
	await expect(dial(api, preview, "https://evil.example")).rejects.toThrow("403");
	await expect(dial(api, { ...preview, cookie: "" }, own)).rejects.toThrow("401");
	// The application dies: its sockets end, and the next request is told.
	const closed = new Promise((resolve) => socket.once("close", resolve));
	await preview.process.kill();
	await closed;
	expect(await preview.get("/", { headers: { Accept: "text/html" } })).toMatchObject({
		status: 502,
		body: expect.stringMatching(/There is no application here[\s\S]*listens on port \d+: it has ended/),
	});
});

test("a port that is not the process's is not shown, also not one that another has taken since", async () => {
	const runtime = await testRuntime();
	const api = await overApi(runtime);
	const { port, process, host, cookie, get } = await previewed(api, runtime);
	const other = await runtime.spawn({ command: "echo up; exec sleep 1000", task: "other" });
	await other.wait({ until: { pattern: "up" }, timeout: 100_000 });
	expect(await api.call(portsSchema, "GET", `/api/processes/${other.id}/ports`)).toMatchObject({ ports: [], note: null });
	const ours = new URL(api.origin).port; // the server's own is a port of this machine, too
	expect((await ask(api, host.replace(/^p\d+/, `p${ours}`), "/", { headers: { Cookie: cookie } })).status).toBe(401);

	await process.kill();
	const taken = http.createServer((_, response) => response.end("another's"));
	await new Promise<void>((resolve) => taken.listen(port, "127.0.0.1", resolve));
	atEnd(() => new Promise((resolve) => taken.close(resolve)));
	expect(await get("/")).toMatchObject({ status: 502, body: expect.not.stringContaining("another's") });
	expect(await api.fails("GET", `/api/processes/proc_000000000000/ports`)).toBe("NOT_FOUND 404");
});

test("below a public name previews need names of their own: with --preview-url they have them", async () => {
	const runtime = await testRuntime();
	const plain = await overApi(runtime, { publicUrls: ["https://box.example"] });
	const { process, port } = await previewed(plain, runtime);
	const at = `/api/processes/${process.id}/ports`;
	const from = (api: Api) => ask(api, "box.example", at, { headers: { Authorization: `Bearer ${api.token}` } });
	expect(JSON.parse((await from(plain)).body)).toMatchObject({ ports: [{ port, url: null }], note: expect.stringContaining("--preview-url") });

	const api = await overApi(runtime, { publicUrls: ["https://box.example"], previewUrls: ["https://*.previews.example:8443"] });
	const [{ url }] = JSON.parse((await from(api)).body).ports;
	const { host, pathname, search } = new URL(url);
	expect(host).toBe(`p${port}-${process.id.slice(5)}.previews.example:8443`);
	const opened = await ask(api, host, pathname + search);
	expect(opened.headers["set-cookie"]).toEqual([expect.stringMatching(/^holdfast_preview=.*; Path=\/; HttpOnly; SameSite=Lax; Max-Age=43200; Secure$/)]);
	const cookie = opened.headers["set-cookie"]?.[0]?.split(";")[0] as string;
	expect((await ask(api, host, "/landed", { headers: { Cookie: cookie } })).body).toBe("at /landed");
	expect((await ask(api, host.replace(":8443", ":8444"), "/landed", { headers: { Cookie: cookie } })).status).toBe(403);
	await expect(overApi(runtime, { previewUrls: ["https://previews.example"] })).rejects.toThrow("https://*.preview.example.org");
});

test.skipIf(noSandbox)("a port in a sandbox with a network of its own", async () => {
	const runtime = await testRuntime({ place: "local+sandbox" });
	const api = await overApi(runtime);
	await everyWay(api, await previewed(api, runtime, { app: await copied(runtime) }));
	await runtime.endTask("default");
});

test.skipIf(noSshd)("a port over SSH, where the login prints things of its own", async () => {
	const { runtime } = await elsewhere({ rc: "echo welcome; echo to this machine >&2\n" });
	const api = await overApi(runtime);
	await everyWay(api, await previewed(api, runtime));
});

test.skipIf(noEngine())("a port in a container", async () => {
	const box = await dockerBox();
	const runtime = await box.open();
	const api = await overApi(runtime);
	fs.copyFileSync(path.resolve("test/fixtures/preview-app.pl"), path.join(box.dir, "app.pl"));
	const preview = await previewed(api, runtime, { app: path.join(box.dir, "app.pl"), by: "perl" });
	await carries(preview);
	expect(await upgraded(api, preview, "hello")).toBe("hello");
	await preview.process.kill();
	expect((await preview.get("/")).status).toBe(502);
});

test.skipIf(noEngine())("a port in a container that has busybox and nothing else", async () => {
	const box = await dockerBox({ entry: { image: BUSYBOX_IMAGE } });
	const runtime = await box.open();
	const api = await overApi(runtime);
	fs.writeFileSync(path.join(box.dir, "page.html"), "x".repeat(200_000));
	const port = await freePort();
	const process = await runtime.spawn({ command: `echo ready; exec httpd -f -p 127.0.0.1:${port} -h ${box.dir}` });
	await process.wait({ until: { port }, timeout: 100_000 });
	const preview = await opened(api, process, port);
	const bodies = await Promise.all(Array.from({ length: 4 }, () => preview.get("/page.html")));
	expect(bodies.map(({ status, body }) => [status, body.length])).toEqual(Array.from({ length: 4 }, () => [200, 200_000]));
});

async function copied(runtime: Runtime): Promise<string> {
	const { output } = await runtime.terminal({ command: `cat >/tmp/app.py <<'END'\n${fs.readFileSync(APP, "utf8")}\nEND\necho done` });
	expect(output.trim()).toBe("done");
	return "/tmp/app.py";
}

async function everyWay(api: Api, preview: Preview): Promise<void> {
	await carries(preview);
	const { socket } = await dial(api, preview, `http://${preview.host}`);
	const answer = new Promise((resolve) => socket.once("message", (data: Buffer) => resolve(data.toString())));
	socket.send("hello");
	expect(await answer).toBe(`hello from http://localhost:${preview.port}`);
	const closed = new Promise((resolve) => socket.once("close", resolve));
	await preview.process.kill();
	await closed;
	expect((await preview.get("/")).status).toBe(502);
}

/** Many at once, a long answer, a long question. */
async function carries(preview: Preview): Promise<void> {
	const bodies = await Promise.all(Array.from({ length: 8 }, (_, at) => preview.get(`/n/${at}`)));
	expect(bodies.map(({ body }) => body)).toEqual(Array.from({ length: 8 }, (_, at) => `at /n/${at}`));
	expect((await preview.get("/large")).body.length).toBe(5_000_000);
	const long = "x".repeat(300_000);
	expect((await preview.get("/echo", { method: "POST", body: long })).body).toBe(long);
}

/** What comes back over a connection that has changed to another protocol. */
function upgraded({ origin }: Api, { host, cookie }: Preview, text: string): Promise<string> {
	const headers = { Host: host, Cookie: cookie, Origin: `http://${host}`, Connection: "Upgrade", Upgrade: "echo" };
	return new Promise((resolve, reject) => {
		const request = http.request(origin, { headers });
		request.on("error", reject);
		request.on("upgrade", (_, socket) => {
			socket.once("data", (bytes: Buffer) => {
				socket.destroy();
				resolve(bytes.toString());
			});
			socket.write(text);
		});
		request.end();
	});
}

async function dial(
	api: Api,
	{ host, cookie }: Pick<Preview, "host" | "cookie">,
	origin: string,
	at = "/socket",
): Promise<{ socket: WebSocket; closed: Promise<unknown> }> {
	const socket = new WebSocket(`${api.origin.replace("http", "ws")}${at}`, { origin, headers: { Host: host, Cookie: cookie } });
	atEnd(() => socket.terminate());
	const closed = new Promise((resolve) => socket.once("close", resolve));
	await new Promise((resolve, reject) => socket.once("open", resolve).once("error", reject));
	return { socket, closed };
}
