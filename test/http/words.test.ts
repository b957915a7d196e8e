/** What is wrong with a request is said in the words of the other doors: which key, what is there, what belongs there. */
import { expect, test } from "vitest";
import { testRuntime } from "../support/home.js";
import { overApi } from "../support/http.js";

const START = "/api/processes";

test.each<[method: "GET" | "POST", path: string, body: unknown, words: string]>([
	["POST", START, { command: 5 }, "the body cannot be used: command is 5, but must be a string"],
	["POST", START, {}, "the body cannot be used: command is missing; it must be a string"],
	["POST", START, [], "the body cannot be used: it is [], but must be an object"],
	["POST", START, { command: "true", cols: 0, pty: 1 }, "the body cannot be used: pty is 1, but must be true or false; cols is 0, but must be at least 1"],
	[
		"POST",
		START,
		{ command: "true", colour: 1 },
		'the body cannot be used: there is no key "colour"; there are command, task, name, cwd, pty, cols, rows, place',
	],
	["POST", "/api/tickets", { for: "tea" }, 'the body cannot be used: for is "tea", but must be one of "terminal", "download"'],
	["POST", "/api/tickets", { for: "download", path: "/etc" }, 'the body cannot be used: path is "/etc", but must begin with /api/'],
	["POST", "/api/login", { token: 5 }, "the body cannot be used: token is a number, but must be a string"],
	["GET", "/api/audit?since=noon", undefined, 'the query cannot be used: since is "noon", but must be a time such as 2026-01-31T12:00:00Z'],
	["GET", "/api/audit?limit=many", undefined, 'the query cannot be used: limit is "many", but must be a number'],
	["GET", `${START}?ended=maybe`, undefined, 'the query cannot be used: ended is "maybe", but must be one of "true", "false"'],
])("%s %s %j", async (method, path, body, words) => {
	const api = await overApi(await testRuntime());
	const response = await api.request(method, path, body === undefined ? {} : { body: JSON.stringify(body) });
	expect([response.status, await response.json()]).toEqual([400, { error: { code: "INVALID", message: words } }]);
});

test("what is waited for", async () => {
	const runtime = await testRuntime();
	const api = await overApi(runtime);
	const { id } = await runtime.spawn({ command: "cat" });
	const wait = async (until: unknown) => (await api.request("POST", `${START}/${id}/wait`, { body: JSON.stringify({ until }) })).json();
	expect(await wait({ http: "nowhere" })).toEqual({
		error: { code: "INVALID", message: 'until: http is "nowhere", but must be a URL such as http://127.0.0.1:3000/, or one with https' },
	});
	expect(await wait({ port: "80" })).toEqual({ error: { code: "INVALID", message: 'until: port is "80", but must be a number' } });
});
