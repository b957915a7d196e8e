import fs from "node:fs";
import http from "node:http";
import path from "node:path";
import { expect, test } from "vitest";
import { ensureToken, readToken, serveHttp } from "../../src/doors/http/index.js";
import { cli } from "../support/cli.js";
import { atEnd, tempDir } from "../support/home.js";

const TOKEN = "right-token-right-token-right-token";

test.each([
	["the right token", {}, 200],
	["another case of the word Bearer", { Authorization: `bearer ${TOKEN}` }, 200],
	["no token", { Authorization: undefined }, 401],
	["another token", { Authorization: "Bearer wrong-token-wrong-token-wrong-token" }, 401],
	["the beginning of the token", { Authorization: `Bearer ${TOKEN.slice(0, -1)}` }, 401],
	["a password", { Authorization: `Basic ${Buffer.from(`:${TOKEN}`).toString("base64")}` }, 401],
	["localhost as host", { Host: "localhost:PORT" }, 200],
	["IPv6 loopback as host", { Host: "[::1]:PORT" }, 200],
	["another host, as after DNS rebinding", { Host: "evil.example.com:PORT" }, 403],
	["a host that only begins like ours", { Host: "localhost.evil.example.com:PORT" }, 403],
	["a host that is an address of this network", { Host: "192.168.0.1:PORT" }, 403],
	["a capital name as host", { Host: "LOCALHOST:PORT" }, 200],
	["the port of a tunnel, as ssh -L has it", { Host: "localhost:9000" }, 200],
	["no port, so 80", { Host: "localhost" }, 200],
	["a name with a dot at its end", { Host: "localhost.:PORT" }, 403],
	["a name below localhost", { Host: "evil.localhost:PORT" }, 403],
	["the address of no machine in particular", { Host: "0.0.0.0:PORT" }, 403],
	["nonsense as host", { Host: "a b" }, 400],
	["a name before the host", { Host: "me@localhost:PORT" }, 400],
	["our own origin", { Origin: "http://127.0.0.1:PORT" }, 200],
	["the origin of a tunnel's page", { Host: "localhost:9000", Origin: "http://localhost:9000" }, 200],
	["the origin of a tunnel's page without a port", { Host: "localhost", Origin: "http://localhost" }, 200],
	["our own origin by another loopback name", { Origin: "http://localhost:PORT" }, 403],
	["our own origin where the host has another port", { Host: "localhost:9000", Origin: "http://localhost:PORT" }, 403],
	["the origin of a page elsewhere", { Origin: "http://evil.example.com" }, 403],
	["the origin of another local server", { Origin: "http://localhost:1" }, 403],
	["the origin of a file or a sandbox", { Origin: "null" }, 403],
	["a secure origin, which we are not", { Origin: "https://127.0.0.1:PORT" }, 403],
	["an origin with a path", { Origin: "http://127.0.0.1:PORT/" }, 403],
	["no origin at all", { Origin: "" }, 403],
	["what a proxy would say of another host", { Host: "evil.example.com", "X-Forwarded-Host": "localhost:PORT", Forwarded: "host=localhost:PORT" }, 403],
])("%s", async (_what, headers, status) => {
	const { get } = await serve();
	expect((await get(headers)).status).toBe(status);
});

test("a request without a token is told what to send", async () => {
	const { get } = await serve();
	expect((await get({ Authorization: undefined })).headers["www-authenticate"]).toBe('Bearer realm="holdfast"');
	expect((await get({ Authorization: "Bearer no" })).headers["www-authenticate"]).toContain('error="invalid_token"');
});

test("guessing a token is slowed down, and does not lock the owner out", async () => {
	const { get } = await serve();
	const statuses = new Set<number | undefined>();
	for (let i = 0; i < 30; i++) statuses.add((await get({ Authorization: `Bearer guess-${i}` })).status);
	expect([...statuses]).toEqual([401, 429]);
	expect((await get({})).status).toBe(200);
});

test("nothing is behind any other path, and nothing is said there without the token", async () => {
	const { get } = await serve();
	expect((await get({}, "/else")).status).toBe(404);
	expect((await get({ Authorization: undefined }, "/else")).status).toBe(401);
});

test("on an address given by hand that address is a host too, but no other name is", async () => {
	const { get } = await serve("0.0.0.0");
	expect((await get({ Host: "192.168.0.1:PORT" })).status).toBe(200);
	expect((await get({ Host: "evil.example.com:PORT" })).status).toBe(403);
});

test("a port that is taken is said so", async () => {
	const { port } = await serve();
	await expect(serveHttp({ host: "127.0.0.1", port, token: TOKEN, routes: {} })).rejects.toThrow(`something already listens on 127.0.0.1:${port}`);
});

test("the token file is made for its owner alone, and kept", () => {
	const file = path.join(tempDir(), "token");
	const token = ensureToken(file);
	expect(token).toMatch(/^[\w-]{43}$/);
	expect(fs.statSync(file).mode & 0o777).toBe(0o600);
	expect(ensureToken(file)).toBe(token);
	expect(fs.readdirSync(path.dirname(file))).toEqual(["token"]);
});

test.each([
	["that others can read", (file: string) => fs.chmodSync(file, 0o640), "other users may have read"],
	["that others can write", (file: string) => fs.chmodSync(file, 0o602), "other users may have read"],
	["with too short a token", (file: string) => fs.writeFileSync(file, "short"), "at least 32 characters"],
	["with several words", (file: string) => fs.writeFileSync(file, `${TOKEN} ${TOKEN}`), "one word"],
	["that is empty", (file: string) => fs.writeFileSync(file, ""), "one word"],
])("a token file %s is refused", (_what, spoil, sentence) => {
	const file = path.join(tempDir(), "token");
	ensureToken(file);
	spoil(file);
	expect(() => ensureToken(file)).toThrow(sentence);
});

test.skipIf(process.getuid?.() !== 0)("a token file of another user is refused", () => {
	const file = path.join(tempDir(), "token");
	ensureToken(file);
	fs.chownSync(file, 12_345, 12_345); // which only root can do
	expect(() => ensureToken(file)).toThrow("belongs to another user");
});

test("a symbolic link, a directory or nothing is no token file", () => {
	const dir = tempDir();
	ensureToken(path.join(dir, "real"));
	fs.symlinkSync(path.join(dir, "real"), path.join(dir, "link"));
	expect(() => ensureToken(path.join(dir, "link"))).toThrow("symbolic link");
	expect(() => readToken(dir)).toThrow("not a file");
	expect(() => readToken(path.join(dir, "none"))).toThrow("there is no token file");
});

test("holdfast mcp --http refuses a token file that others can read", async () => {
	const file = path.join(tempDir(), "mine");
	fs.writeFileSync(file, TOKEN, { mode: 0o644 });
	const { code, stderr } = await cli(tempDir("home"), ["mcp", "--http", "--port", "0", "--token-file", file]);
	expect({ code, stderr }).toEqual({ code: 1, stderr: expect.stringContaining("other users may have read") });
});

/** A server that greets each visitor who gets in. PORT in a header is its port. */
async function serve(host = "127.0.0.1") {
	const server = await serveHttp({ host, port: 0, token: TOKEN, routes: { "/": async () => new Response("hello") } });
	atEnd(() => server.close());
	const port = Number(new URL(server.origin).port);
	const get = (given: Record<string, string | undefined>, url = "/") =>
		new Promise<{ status: number | undefined; headers: http.IncomingHttpHeaders }>((resolve, reject) => {
			const wanted = Object.entries({ Authorization: `Bearer ${TOKEN}`, ...given }).filter((entry): entry is [string, string] => entry[1] !== undefined);
			const headers = Object.fromEntries(wanted.map(([name, value]) => [name, value.replace("PORT", String(port))]));
			http
				.get({ host: "127.0.0.1", port, path: url, headers, agent: false }, (response) => {
					response.resume().once("end", () => resolve({ status: response.statusCode, headers: response.headers }));
				})
				.once("error", reject);
		});
	return { port, get };
}
