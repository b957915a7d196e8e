/** A link that may take the keyboard of one terminal: one browser, once, for a limited time. */
import fs from "node:fs";
import path from "node:path";
import { expect, test } from "vitest";
import { openedLinkSchema, problemSchema, viewerLinkSchema } from "../../src/doors/http/schemas.js";
import { openRuntime } from "../../src/index.js";
import { Viewers } from "../../src/process/viewers.js";
import { cli } from "../support/cli.js";
import { tempDir, testRuntime, textOf, until } from "../support/home.js";
import { type Api, overApi, Viewer } from "../support/http.js";

const OUT = { Authorization: undefined };

const make = async (api: Api, session_id: string) =>
	(await api.call(viewerLinkSchema, "POST", "/api/viewers", { session_id, seconds: 60, keyboard: true })).url.replace(/^.*#keys=/, "");

const open = async (api: Api, secret: string) => {
	const opened = await api.call(openedLinkSchema, "POST", "/api/viewers/open", { secret }, OUT);
	return { Authorization: `Bearer ${opened.secret}` };
};

const refusal = async (api: Api, secret: unknown): Promise<string> => {
	const response = await api.request("POST", "/api/viewers/open", { body: { secret }, headers: OUT });
	const { error } = problemSchema.parse(await response.json());
	return `${response.status} ${error.message}`;
};

test("the first browser types, masked, until it hands the keyboard back; the link is of no use to any other", async () => {
	const runtime = await testRuntime();
	const api = await overApi(runtime);
	const key = ["ghp", "aB3dE5fG7hI9jK1lM3nO5pQ7rS9tU1vW3xY5"].join("_");
	const file = path.join(tempDir(), "key");
	fs.writeFileSync(file, `${key}\n`);
	const process = await runtime.spawn({ command: `cat ${file}; while read -r x; do echo "<$x>"; done`, terminal: true, task: "agent" });
	const other = await runtime.spawn({ command: "cat", terminal: true });
	const secret = await make(api, process.id);
	expect(await api.fails("GET", "/api/session", undefined, { Authorization: `Bearer ${secret}` })).toBe("UNAUTHORIZED 401"); // it has to be opened
	const hand = await open(api, secret);
	expect(await refusal(api, secret)).toMatch(/^403 this link works once, in one browser, and was opened before \(.*\); ask for a new one$/);

	const person = await Viewer.connect(api, process.id, hand);
	person.send({ type: "open", offset: 0 });
	await person.until("opened", () => person.last("opened"));
	expect(person.last("opened")).toMatchObject({ read_only: false });
	await person.takeKeyboard();
	expect(await runtime.process({ action: "submit", session_id: process.id, data: "agent" }, { task: "agent" })).toMatchObject({
		status: "error",
		error: expect.stringContaining("a person with a link has taken the keyboard"),
	});
	person.send({ type: "input", data: "hello\r" });
	await person.until("it is typed", () => person.text.includes("<hello>"));
	expect(person.text).toContain("ghp_****");
	expect(person.text).not.toContain(key.slice(0, 12));

	for (const [method, at, body] of [
		["POST", `/api/processes/${process.id}/input`, { data: "x" }],
		["POST", `/api/processes/${process.id}/kill`],
		["POST", "/api/tickets", { for: "terminal", session_id: other.id }],
		["GET", "/api/viewers"],
	] as const)
		expect([at, await api.fails(method, at, body, hand)]).toEqual([at, "FORBIDDEN 403"]);

	person.socket.terminate(); // a phone loses its connection, and comes back
	const again = await Viewer.connect(api, process.id, hand);
	again.send({ type: "open", offset: null });
	await until(
		"the keyboard is free",
		() =>
			runtime.get(process.id) &&
			!fs.readdirSync(process.dir).some((name) => name.startsWith("keyboard") && !fs.readFileSync(path.join(process.dir, name), "utf8").includes("free")),
	);
	await again.takeKeyboard();
	again.send({ type: "keyboard", action: "release" });
	await again.until("it is handed back", () => again.last("keyboard")?.mine === false);
	again.send({ type: "keyboard", action: "take" });
	await again.until("it is refused", () => again.last("error"));
	expect(again.last("error")).toMatchObject({ code: "FORBIDDEN", message: "this link may take the keyboard once, and it was handed back; ask for a new one" });
	const third = await Viewer.connect(api, process.id, hand);
	third.send({ type: "open", offset: null });
	await third.until("opened", () => third.last("opened"));
	expect(third.last("opened")).toMatchObject({ read_only: true });
	expect(textOf(process)).not.toContain("<agent>");
});

test("it takes the keyboard from no other holder, and ends by timeout, by revocation, and with the process", async () => {
	const runtime = await testRuntime();
	const api = await overApi(runtime);
	const process = await runtime.spawn({ command: "cat", terminal: true });
	const owner = await Viewer.connect(api, process.id);
	owner.send({ type: "open", offset: null });
	await owner.takeKeyboard();
	const hand = await open(api, await make(api, process.id));
	const person = await Viewer.connect(api, process.id, hand);
	person.send({ type: "open", offset: null });
	person.send({ type: "keyboard", action: "take", force: true });
	await person.until("it is refused", () => person.last("error"));
	expect(person.last("error")).toMatchObject({ code: "KEYBOARD", message: expect.stringContaining("a link cannot take it over") });
	const [link] = new Viewers(runtime.home).list();
	await api.request("DELETE", `/api/viewers/${link?.id}`);
	await person.until("it is out", () => person.closed);
	expect(person.closed?.code).toBe(4401);
	expect(await api.fails("GET", "/api/session", undefined, hand)).toBe("UNAUTHORIZED 401");
	expect(fs.readdirSync(path.join(runtime.home.root, "viewers"))).toEqual([]);

	const viewers = new Viewers(runtime.home);
	const late = viewers.create(process.id, 60, { keyboard: true });
	expect(() => viewers.open(late.secret, Date.now() + 60_001)).toThrow("this link has expired or was withdrawn");
	const soon = viewers.open(viewers.create(process.id, 60, { keyboard: true }).secret);
	expect(viewers.find(soon.secret)?.id).toBe(soon.viewer.id);
	expect(viewers.find(soon.secret.replace(/.$/, (last) => (last === "A" ? "B" : "A")))).toBeUndefined();
	expect(viewers.find(soon.secret, Date.now() + 60_001)).toBeUndefined();

	const unused = await make(api, process.id);
	await process.kill();
	expect(await refusal(api, unused)).toBe(`409 ${process.id} has ended, and this link with it`);
	expect(await refusal(api, unused)).toBe("401 this link has expired or was withdrawn; ask for a new one");
});

test("the library and the command line make links; bad input is refused in words", async () => {
	const home = tempDir("home");
	const runtime = await testRuntime({ home });
	const api = await overApi(runtime);
	await using library = await openRuntime({ home, warm: 0 });
	const { id } = await library.spawn({ command: "cat", terminal: true });
	const made = library.links.create({ session_id: id.slice(0, 10), keyboard: true });
	expect(made).toMatchObject({ session_id: id, keyboard: true, url: null, hash: expect.stringMatching(/^#keys=keys_/) });
	expect(Date.parse(made.expires_at) - Date.parse(made.created_at)).toBe(600_000);
	expect(library.links.list().map((link) => link.id)).toEqual([made.id]);
	await open(api, made.hash.replace("#keys=", ""));
	library.links.revoke(made.id);
	expect(library.links.list()).toEqual([]);
	expect(() => library.links.revoke(made.id)).toThrow("there is no such link");
	expect(() => library.links.revoke("../token")).toThrow("there is no such link");
	for (const bad of [{}, { session_id: 7 }, { session_id: id, seconds: 1 }, { session_id: id, keyboard: "yes" }, { session_id: id, once: true }, null])
		expect(() => library.links.create(bad as never), JSON.stringify(bad)).toThrow(/^a link: /);
	expect(() => library.links.create({ session_id: id, keyboard: true, seconds: 90_000 })).toThrow("a day");
	expect(() => library.links.create({ session_id: "proc_000000000000" })).toThrow("there is no process");
	expect((await cli(home, ["link", id])).stderr).toContain("no `holdfast serve` runs on this home");
	expect((await cli(home, ["link"])).stderr).toContain("give the id of one process");
	for (const bad of [{}, { secret: 7 }, { secret: "x", more: 1 }]) expect(await api.fails("POST", "/api/viewers/open", bad, OUT)).toBe("INVALID 400");
	for (const bad of ["", "x", "keys_", "view_aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"]) expect(await refusal(api, bad)).toMatch(/^401 /);
	await library.get(id).kill();
	expect(() => library.links.create({ session_id: id, keyboard: true })).toThrow("its keyboard is of no use");
	expect(library.links.create({ session_id: id }).keyboard).toBe(false);
});
