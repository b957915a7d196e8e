/** The page's API without a browser: who may use it, what it refuses, and what it tells over a stream. */
import fs from "node:fs";
import path from "node:path";
import type { Runtime } from "holdfast";
import { createSite, type HttpSite } from "holdfast/http";
import { testRuntime } from "holdfast/testing";
import { expect, it } from "vitest";
import { type AgentHome, Claim, openAgentHome } from "../../src/base/index.js";
import { sitePart } from "../../src/page/index.js";
import type { StreamEvents } from "../../src/page/messages.js";
import { type EntryBody, Inbox, Log } from "../../src/talk/index.js";
import { calls, fails, modelServer, type Script, say } from "../model-server/index.js";
import { atEnd, tempDir } from "../support/dirs.js";

const TOKEN = "right-token-right-token-right-token";
const URL_OF = "http://page.test";
const KEY = "sk-planted-0123456789abcdef";

interface Made {
	readonly site: HttpSite;
	readonly home: AgentHome;
	readonly model: Awaited<ReturnType<typeof modelServer>>;
	readonly ask: (method: string, path: string, body?: unknown, headers?: Record<string, string>) => Promise<Response>;
	readonly runtime: Runtime;
}

async function made(script: Script = [], settings: Record<string, unknown> = {}): Promise<Made> {
	const model = await modelServer({ script, key: KEY });
	atEnd(() => model[Symbol.asyncDispose]());
	const home = openAgentHome(path.join(tempDir(), "home"));
	fs.writeFileSync(path.join(home.keys, "test"), KEY, { mode: 0o600 });
	const endpoints = { test: { url: model.url, key: { file: "test" } } };
	fs.writeFileSync(home.config, JSON.stringify({ endpoints, model: "scripted", toolsets: ["terminal"], ...settings }));
	const runtime = await testRuntime({ task: "t" });
	atEnd(() => runtime[Symbol.asyncDispose]());
	const part = sitePart({ home: runtime.home.root, runtime, agentHome: home.root });
	const site = createSite(runtime, { url: URL_OF, token: TOKEN, parts: [part] });
	atEnd(() => site.close());
	return {
		...{ site, home, model, runtime },
		ask: (method, where, body, headers = {}) =>
			site.fetch(
				new Request(`${URL_OF}/api/parts/agent${where}`, {
					method,
					headers: { host: "page.test", Authorization: `Bearer ${TOKEN}`, ...(body === undefined ? {} : { "Content-Type": "application/json" }), ...headers },
					...(body === undefined ? {} : { body: typeof body === "string" ? body : JSON.stringify(body) }),
				}),
			),
	};
}

const problem = async (response: Response): Promise<string> => {
	const { error } = (await response.json()) as { error: { code: string; message: string } };
	return `${response.status} ${error.code}: ${error.message}`;
};

type Told = { [K in keyof StreamEvents]: { readonly event: K; readonly data: StreamEvents[K] } }[keyof StreamEvents];

/** Reads a stream until something holds; all that came. */
async function told(response: Response, holds: (all: readonly Told[]) => boolean): Promise<Told[]> {
	const all: Told[] = [];
	let rest = "";
	const reader = (response.body as ReadableStream<Uint8Array>).pipeThrough(new TextDecoderStream()).getReader();
	for (;;) {
		const { done, value = "" } = await reader.read();
		const blocks = (rest + value).split("\n\n");
		rest = blocks.pop() ?? "";
		for (const block of blocks) {
			const event = /^event: (.*)$/m.exec(block)?.[1];
			if (event) all.push({ event, data: JSON.parse(/^data: (.*)$/m.exec(block)?.[1] ?? "null") } as Told);
		}
		if (holds(all) || done) {
			await reader.cancel();
			return all;
		}
	}
}

const entriesIn = (all: readonly Told[]) => all.flatMap((one) => (one.event === "entries" ? one.data.entries : []));
const liveIn = (all: readonly Told[]) => all.findLast((one) => one.event === "live")?.data as StreamEvents["live"] | undefined;

/** A conversation on the disk. */
async function written(home: AgentHome, lines: readonly EntryBody[], task = "t"): Promise<string> {
	await using log = await Log.begin(home, { task, place: "local", model: "scripted" });
	for (const line of lines) await log.append(line);
	return log.id;
}
const user = (text: string, id = `m-${text.slice(0, 20)}`): EntryBody => ({ t: "user", id, text, by: { platform: "chat", person: "me" } });
const answer = (text: string): EntryBody => ({ t: "assistant", text, calls: [], stop: "done", model: "scripted" });

it("a stranger, a wrong token and a read-only link reach nothing of it", async () => {
	const { ask, runtime, home, model } = await made();
	const { id: session_id } = await runtime.spawn({ command: "sleep 300" });
	const viewer = runtime.links.create({ session_id }).hash.replace(/^.*#view=/, "");
	const id = await written(home, [user("secret plans"), answer("yes")]);
	for (const where of ["/settings", "/stream?list=10", `/conversations/${id}/entries?before=10`, `/conversations/${id}/entries/1`]) {
		expect(await problem(await ask("GET", where, undefined, { Authorization: "" }))).toContain("401 UNAUTHORIZED");
		expect(await problem(await ask("GET", where, undefined, { Authorization: "Bearer wrong-token-wrong-token-wrong-token" }))).toContain("401 UNAUTHORIZED");
		expect(await problem(await ask("GET", where, undefined, { Authorization: `Bearer ${viewer}` }))).toContain("403 FORBIDDEN");
	}
	expect(await problem(await ask("POST", `/conversations/${id}/messages`, { text: "do it" }, { Authorization: `Bearer ${viewer}` }))).toContain("403");
	expect(await problem(await ask("POST", "/conversations", { text: "do it" }, { Origin: "http://evil.test" }))).toContain("403");
	expect(model.requests).toEqual([]);
	expect(Log.read(home, id).entries).toHaveLength(3);
});

it("requests that cannot be used are refused in words, and nothing is written", async () => {
	const { ask, home, model } = await made();
	const id = await written(home, [user("one"), answer("two")]);
	const at = `/conversations/${id}`;
	const none = "/conversations/20260101_000000_abcdef";
	const cases: readonly (readonly [string, Promise<Response>])[] = [
		["400 INVALID: text: ", ask("POST", `${at}/messages`, { text: "  " })],
		["400 INVALID: text: ", ask("POST", `${at}/messages`, {})],
		["400 INVALID: mode: ", ask("POST", `${at}/messages`, { text: "a", mode: "shout" })],
		["400 INVALID: the request: ", ask("POST", `${at}/messages`, { text: "a", more: 1 })],
		["400 INVALID: id: ", ask("POST", `${at}/messages`, { text: "a", id: "../x" })],
		["400 INVALID: the body is not valid JSON", ask("POST", `${at}/messages`, "{")],
		["415 INVALID: ", ask("POST", `${at}/messages`, "text=a", { "Content-Type": "application/x-www-form-urlencoded" })],
		["413 TOO_BIG: ", ask("POST", `${at}/messages`, { text: "x".repeat(2_000_000) })],
		["404 NOT_FOUND: there is no conversation", ask("POST", `${none}/messages`, { text: "a" })],
		["404 NOT_FOUND: there is no conversation", ask("GET", `${none}/entries/0`)],
		["404 NOT_FOUND: there is no conversation of that id", ask("GET", "/conversations/..%2f..%2fagent.json/entries/0")],
		["404 NOT_FOUND: conversation", ask("GET", `${at}/entries/99`)],
		["404 NOT_FOUND: conversation", ask("GET", `${at}/entries/__proto__`)],
		["400 INVALID: before: ", ask("GET", `${at}/entries?before=-1`)],
		["400 INVALID: list: ", ask("GET", "/stream?list=1000000")],
		["404 NOT_FOUND: there is nothing at this path", ask("GET", "/nowhere")],
		["405 INVALID: this path takes another method", ask("PUT", `${at}/messages`, {})],
		["404 NOT_FOUND: this message does not wait any more", ask("DELETE", `${at}/messages/msg_1`)],
		["404 NOT_FOUND: this question does not wait", ask("POST", `${at}/answers`, { id: "q", text: "yes" })],
		["400 INVALID: title: ", ask("POST", `${at}/title`, { title: "\n" })],
	];
	for (const [words, response] of cases) expect(await problem(await response)).toContain(words);
	expect(model.requests).toEqual([]);
	expect(Log.read(home, id).entries).toHaveLength(3);
});

it("a conversation is begun and gone on with; the stream has its pieces, then its lines, once, and goes on from any number", async () => {
	const { ask, home } = await made([calls(["terminal", { command: "echo hi" }]), say("It says *hi*.", { wire: { chunk: 2, dripMs: 5 } }), "Again."]);
	const begun = (await (await ask("POST", "/conversations", { text: "say hi" })).json()) as { id: string };
	const all = await told(await ask("GET", `/stream?list=5&conversation=${begun.id}`), (some) =>
		entriesIn(some).some((entry) => entry.t === "assistant" && entry.text.text !== ""),
	);
	const entries = entriesIn(all);
	expect(entries.map(({ t }) => t)).toEqual(["begun", "user", "assistant", "result", "assistant"]);
	expect(entries.map(({ n }) => n)).toEqual([0, 1, 2, 3, 4]);
	expect(entries[1]).toMatchObject({ text: { text: "say hi" }, by: { platform: "page" } });
	expect(entries[3]).toMatchObject({ how: "ran", failed: false, text: { text: expect.stringContaining("hi") } });
	const pieces = all.flatMap((one) => (one.event === "text" ? [one.data] : []));
	let text = "";
	for (const piece of pieces) text = text.slice(0, piece.at) + piece.text || text;
	expect(text).toBe("It says *hi*.");
	expect(pieces.filter((piece) => piece.text !== "").length).toBeGreaterThan(2);
	expect(all.some((one) => one.event === "list" && one.data.conversations[0]?.id === begun.id)).toBe(true);

	const again = async () => (await (await ask("POST", `/conversations/${begun.id}/messages`, { text: "again", id: "msg_same" })).json()) as { did: string };
	expect((await again()).did).toMatch(/^(started|steered)$/); // by now the turn before is over, or about to be
	expect((await again()).did).toBe("known");
	const later = await told(await ask("GET", `/stream?conversation=${begun.id}&from=4`), (some) => entriesIn(some).length >= 3);
	expect(entriesIn(later).map(({ n, t }) => `${n} ${t}`)).toEqual(["4 assistant", "5 user", "6 assistant"]);
	expect(Log.read(home, begun.id).entries.filter((entry) => entry.t === "user")).toHaveLength(2);
});

it("a model that was chosen for a conversation stays; the endpoint's models can be chosen from", async () => {
	const { ask, model } = await made(["One.", "Two."]);
	expect(await (await ask("GET", "/settings")).json()).toMatchObject({ problem: null, endpoint: "test", model: "scripted", place: "local" });
	expect(await (await ask("GET", "/models")).json()).toEqual({ models: ["scripted"] });
	const { id } = (await (await ask("POST", "/conversations", { text: "a", model: "other" })).json()) as { id: string };
	await told(await ask("GET", `/stream?conversation=${id}`), (some) => entriesIn(some).some(({ t }) => t === "assistant"));
	expect(model.requests.map((request) => request.model)).toEqual(["other"]);
});

it("what is wrong in the settings is said, and what there is can still be read", async () => {
	const { ask, home } = await made();
	const id = await written(home, [user("one"), answer("two")]);
	fs.writeFileSync(home.config, "{}");
	expect(await (await ask("GET", "/settings")).json()).toMatchObject({ problem: expect.stringContaining("holdfast-agent setup") });
	expect(await problem(await ask("POST", `/conversations/${id}/messages`, { text: "more" }))).toContain("409 CONFIG: no model is set up yet");
	fs.writeFileSync(home.config, '{ "modle": "x" }');
	expect(await (await ask("GET", "/settings")).json()).toMatchObject({ problem: expect.stringContaining("modle") });
	expect(entriesIn(await told(await ask("GET", `/stream?conversation=${id}`), (some) => liveIn(some) !== undefined))).toHaveLength(3);
	expect(new Inbox(home, "t").waiting()).toEqual([]);
});

it("a long conversation comes from its end, and the rest in steps; long texts are cut for the way and whole when asked for", async () => {
	const { ask, home } = await made();
	const lines = Array.from({ length: 200 }, (_, at) => [user(`question ${at}`), answer(`answer ${at}`)]).flat();
	const id = await written(home, [...lines, user("x".repeat(300_000), "long"), answer("y".repeat(100_000))]);
	const all = await told(await ask("GET", `/stream?conversation=${id}`), (some) => liveIn(some) !== undefined);
	const shown = entriesIn(all);
	expect(shown.length).toBeLessThan(160);
	expect(shown.at(-1)).toMatchObject({ n: 402, t: "assistant", text: { chars: 100_000 } });
	expect(all.find((one) => one.event === "entries")?.data).toMatchObject({ earlier: true });
	for (const text of ["newer", "newest"]) await written(home, [user(text), answer("yes")]);
	const listed = await told(await ask("GET", `/stream?list=1&conversation=${id}`), (some) => some.some(({ event }) => event === "list"));
	expect(listed.find(({ event }) => event === "list")?.data).toMatchObject({ conversations: [{ first: "newest" }, { id }], more: true });
	const whole = (await (await ask("GET", `/conversations/${id}/entries/401`)).json()) as { entry: { text: { text: string; chars?: number } } };
	expect([whole.entry.text.text.length, whole.entry.text.chars]).toEqual([300_000, undefined]);
	let first = shown[0]?.n ?? 0;
	const numbers = shown.map(({ n }) => n);
	for (let earlier = true; earlier; ) {
		const step = (await (await ask("GET", `/conversations/${id}/entries?before=${first}`)).json()) as { entries: { n: number }[]; earlier: boolean };
		numbers.unshift(...step.entries.map(({ n }) => n));
		[first, earlier] = [numbers[0] ?? 0, step.earlier];
	}
	expect(numbers).toEqual(Array.from({ length: 403 }, (_, n) => n));
});

it("a torn last line is left out, and comes when it is whole; a damaged middle is said, in the list too", async () => {
	const { ask, home } = await made();
	const id = await written(home, [user("one"), answer("two")]);
	const file = path.join(home.conversations, `${id}.jsonl`);
	const next = JSON.stringify({ n: 3, at: new Date().toISOString(), ...user("three") });
	fs.appendFileSync(file, next.slice(0, 30));
	const stream = await ask("GET", `/stream?conversation=${id}`);
	const all = await told(stream, (some) => {
		if (liveIn(some) && entriesIn(some).length === 3 && !fs.readFileSync(file, "utf8").endsWith("\n")) fs.appendFileSync(file, `${next.slice(30)}\n`);
		return entriesIn(some).length === 4;
	});
	expect(entriesIn(all).at(-1)).toMatchObject({ t: "user", text: { text: "three" } });

	fs.writeFileSync(file, fs.readFileSync(file, "utf8").replace('"two"', '"tw'));
	const broken = await told(
		await ask("GET", `/stream?list=5&conversation=${id}`),
		(some) => some.some(({ event }) => event === "broken") && some.some(({ event }) => event === "list"),
	);
	expect(broken.find(({ event }) => event === "broken")?.data).toMatchObject({ code: "BROKEN", message: expect.stringContaining("line 3") });
	expect(broken.find(({ event }) => event === "list")?.data).toMatchObject({ conversations: [{ id, broken: expect.stringContaining("line 3") }] });
	expect(await problem(await ask("POST", `/conversations/${id}/messages`, { text: "more" }))).toContain("409 BROKEN");
	fs.rmSync(file);
	const gone = await told(await ask("GET", `/stream?conversation=${id}`), (some) => some.some(({ event }) => event === "broken"));
	expect(gone.find(({ event }) => event === "broken")?.data).toMatchObject({ code: "NOT_FOUND" });
});

it("another program has the conversation: it is named, a message waits in its inbox, and neither title nor stop is forced upon it", async () => {
	const { ask, home, model } = await made(["Mine."]);
	const id = await written(home, [user("one"), answer("two")]);
	const dir = path.join(home.claims, id);
	// Another program: the same claim with another pid, of one that lives as long as the test does.
	const claim = Claim.take(dir, "chat") as Claim;
	const [name = ""] = fs.readdirSync(dir).filter((one) => /^\d+$/.test(one));
	const target = fs.readlinkSync(path.join(dir, name));
	const init = fs
		.readFileSync("/proc/1/stat", "utf8")
		.replace(/^.*\) /, "")
		.split(" ")[19];
	fs.rmSync(path.join(dir, name));
	fs.symlinkSync(target.replace(/^\d+ \S+/, `1 ${init}`), path.join(dir, name));
	atEnd(() => claim.release());
	expect(await (await ask("POST", `/conversations/${id}/messages`, { text: "three", id: "msg_3" })).json()).toMatchObject({ id: "msg_3" });
	const all = await told(
		await ask("GET", `/stream?list=5&conversation=${id}`),
		(some) => (liveIn(some)?.waiting.length ?? 0) > 0 && some.some(({ event }) => event === "list"),
	);
	expect(liveIn(all)).toMatchObject({ holder: "chat (pid 1)", waiting: [{ id: "msg_3", text: { text: "three" }, kind: "user" }] });
	expect(all.find(({ event }) => event === "list")?.data).toMatchObject({ conversations: [{ state: { is: "works", by: "chat (pid 1)" } }] });
	expect(await problem(await ask("POST", `/conversations/${id}/interrupt`, {}))).toContain("409 BUSY: chat (pid 1) makes this turn; stop it there");
	expect(await problem(await ask("POST", `/conversations/${id}/title`, { title: "new" }))).toContain("409 BUSY");
	expect(await (await ask("DELETE", `/conversations/${id}/messages/msg_3`)).json()).toEqual({ text: "three" });
	expect(model.requests).toEqual([]);
	fs.renameSync(path.join(dir, name), path.join(dir, `${name}.free`)); // it lets go: nothing is left to say
	expect(await (await ask("POST", `/conversations/${id}/title`, { title: "new" })).json()).toEqual({});
});

it("a key that an endpoint gives away, or a person writes, is in no answer, no stream, no log and no request", async () => {
	const { ask, home, model } = await made([say(`The key is ${KEY}.`), fails(401, { message: `wrong key ${KEY}` })]);
	const { id } = (await (await ask("POST", "/conversations", { text: `is it ${KEY}?` })).json()) as { id: string };
	const all = await told(await ask("GET", `/stream?list=5&conversation=${id}`), (some) => entriesIn(some).some(({ t }) => t === "assistant"));
	await ask("POST", `/conversations/${id}/messages`, { text: `really ${KEY}?` });
	const more = await told(await ask("GET", `/stream?list=5&conversation=${id}`), (some) => entriesIn(some).some(({ t }) => t === "stopped"));
	expect(entriesIn(all).length).toBe(3);
	expect(JSON.stringify([all, more])).not.toContain(KEY);
	for (const { file } of [Log.read(home, id), new Inbox(home, id)]) expect(fs.readFileSync(file, "utf8")).not.toContain(KEY);
	expect(model.requests.map(({ body }) => JSON.stringify(body)).join()).not.toContain(KEY);
});

it("a call that no one is there to allow ends the turn in words, and is made when someone has allowed it", async () => {
	const { ask, home, runtime } = await made([calls(["terminal", { command: "git push --force origin main; echo ran-now" }]), "Pushed."]);
	const { id } = (await (await ask("POST", "/conversations", { text: "push", cwd: tempDir() })).json()) as { id: string };
	const waits = await told(await ask("GET", `/stream?conversation=${id}`), (some) => liveIn(some)?.end != null && !liveIn(some)?.busy);
	expect(liveIn(waits)).toMatchObject({ end: expect.stringContaining("A person must allow a call first") });
	const [approval] = runtime.approvals.list();
	await runtime.approvals.answer(approval?.id ?? "", { answer: "once", by: "a test" });
	const done = await told(await ask("GET", `/stream?conversation=${id}`), (some) =>
		entriesIn(some).some((entry) => entry.t === "assistant" && entry.text.text === "Pushed."),
	);
	expect(liveIn(done)?.end).toBe(null);
	expect(Log.read(home, id).entries.filter((entry) => entry.t === "result")).toMatchObject([{ text: expect.stringContaining("ran-now") }]);
});
