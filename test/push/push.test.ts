/** People are told of questions, of what waits and of ends; and can answer a question from there. */
import fs from "node:fs";
import path from "node:path";
import { expect, test } from "vitest";
import { readAudit } from "../../src/audit/index.js";
import { answerLinks } from "../../src/doors/http/index.js";
import { answerKey } from "../../src/doors/http/sign.js";
import { diagnose } from "../../src/process/index.js";
import { type PushOptions, startPush } from "../../src/push/index.js";
import type { PushMessage } from "../../src/push/message.js";
import { asked, setting } from "../approvals/support.js";
import { atEnd, tempDir, testRuntime, until } from "../support/home.js";
import { type Api, overApi, TOKEN } from "../support/http.js";
import type { Runtime } from "../support/internal.js";
import { ntfyDouble, receiver } from "./support.js";

const ALL: ("question" | "waiting" | "end")[] = ["question", "waiting", "end"];

function pushing(runtime: Runtime, api: Pick<Api, "origin">, targets: PushOptions["targets"], times: PushOptions["times"] = {}): string[] {
	const said: string[] = [];
	const options = { targets, page: api.origin, answerLinks: answerLinks(TOKEN, api.origin), say: (text: string) => void said.push(text), times };
	const stop = startPush(runtime, options);
	atEnd(stop);
	return said;
}

const messagesOf = (received: readonly { body: string }[]): PushMessage[] => received.map(({ body }) => JSON.parse(body));

test("a question reaches a webhook, ntfy and a command, past a target that hangs; a link of it answers once, with the button, and the audit says so", async () => {
	const { runtime, risky, runs, dir } = await setting();
	const api = await overApi(runtime);
	const [hook, hung, ntfy] = [await receiver(() => 204), await receiver(() => undefined), await ntfyDouble("secret-topic")];
	const file = path.join(tempDir(), "message");
	const command = [
		"/bin/sh",
		"-c",
		'cat >"$1"; printf "%s\\n" "$HOLDFAST_NOTIFY_KIND" "$HOLDFAST_NOTIFY_TITLE" >>"$1"; mv "$1" "$2"',
		"sh",
		`${file}.new`,
		file,
	];
	const said = pushing(
		runtime,
		api,
		[
			{ kind: "webhook", name: "hung", on: ALL, url: hung.url },
			{ kind: "webhook", name: "hook", on: ALL, url: `${hook.url}/path?x=1` },
			{ kind: "webhook", name: "ends", on: ["end"], url: `${hook.url}/ends` },
			{ kind: "ntfy", name: "phone", on: ["question"], url: ntfy.url },
			{ kind: "command", name: "desk", on: ["question"], command },
		],
		{ timeoutMs: 4_000, pausesMs: [] },
	);
	const call = runtime.terminal({ command: risky });
	const [id = ""] = await asked(runtime); // it waits: whoever is told counts as somebody who answers
	await until("all are told", () => hook.received.length === 1 && ntfy.messages.length + ntfy.refused.length === 1 && fs.existsSync(file));
	const [message] = messagesOf(hook.received);
	expect(message).toMatchObject({
		v: 1,
		kind: "question",
		task: "default",
		title: "default asks for approval",
		approval_id: id,
		url: `${api.origin}/#/approvals`,
	});
	expect(message?.text).toBe(`${risky}\n\nin ${dir} on local`);
	expect(hook.received[0]).toMatchObject({ path: "/path?x=1", headers: { "content-type": "application/json" } });
	expect(ntfy).toMatchObject({ refused: [], messages: [{ title: "default asks for approval", message: message?.text, click: `${api.origin}/#/approvals` }] });
	expect(ntfy.messages[0]?.actions.map(({ label }) => label)).toEqual(["Allow once", "Deny"]);
	const [json = "", ...lines] = fs.readFileSync(file, "utf8").split("\n");
	expect([JSON.parse(json).approval_id, ...lines]).toEqual([id, "question", "default asks for approval", ""]);

	const once = ntfy.messages[0]?.actions[0]?.url as string;
	const deny = message?.answer?.no as string;
	for (const method of ["GET", "HEAD", "GET"]) expect((await fetch(once, { method })).status).toBe(200);
	expect(await (await fetch(once)).text()).toContain(
		`<pre>${risky.replaceAll("&", "&amp;").replaceAll(">", "&gt;")}</pre><form method="post"><button>Allow once</button>`,
	);
	const key = once.split("/answer/")[1] as string;
	const [, answer, target, expires, signature] = key.split(".");
	for (const bad of [
		deny.split("/answer/")[1]?.replace(".no.", ".once."),
		[id, answer, "other", expires, signature].join("."),
		[id, answer, target, `${expires}0`, signature].join("."),
		["appr_000000000000", answer, target, expires, signature].join("."),
		answerKey("another-token-another-token-another", { approval_id: id, answer: "once", target: "phone", expiresAt: Date.now() + 60_000 }),
		key.slice(0, -1),
		`${key}.x`,
	])
		expect([bad, (await fetch(`${api.origin}/answer/${bad}`, { method: "POST" })).status]).toEqual([bad, 403]);
	const late = answerKey(TOKEN, { approval_id: id, answer: "once", target: "phone", expiresAt: Date.now() - 1 });
	for (const method of ["GET", "POST"]) expect((await fetch(`${api.origin}/answer/${late}`, { method })).status).toBe(410);
	expect((await fetch(once, { method: "POST", headers: { Origin: "http://evil.example" } })).status).toBe(403);
	expect((await fetch(once, { method: "PUT" })).status).toBe(404);
	expect(runtime.approvals.get(id).state).toBe("pending");

	const done = await fetch(once, { method: "POST", headers: { Origin: api.origin } });
	expect([done.status, await done.text()]).toEqual([200, expect.stringContaining("<h1>Allowed once</h1>")]);
	await call;
	expect(runs()).toBe(1);
	expect(readAudit(runtime.home, {}, () => undefined)).toContainEqual(
		expect.objectContaining({ event: "decided", approval_id: id, outcome: "once", by: "push phone" }),
	);
	for (const [url, method] of [
		[once, "POST"],
		[deny, "POST"],
		[deny, "GET"],
	] as const) {
		const second = await fetch(url, { method });
		expect([second.status, await second.text()]).toEqual([409, expect.stringContaining("was answered before: once, by push phone")]);
	}

	await until("the target that hangs is named", () => said.length > 0);
	expect(said).toEqual(["the notify target hung fails: no answer within 4 s; a message was lost"]);
	expect(hung.received).toHaveLength(1);
	expect((await diagnose(runtime)).checks).toContainEqual(
		expect.objectContaining({
			name: "notify",
			state: "warn",
			found: expect.stringMatching(/^the target hung fails since \S+: no answer within 4 s; 1 message lost$/),
		}),
	);
	expect(hook.received.filter(({ path }) => path === "/ends")).toEqual([]);
});

test("a link to a question that is already answered, or gone, does nothing and says so; too many wrong links are refused", async () => {
	const { runtime, risky, runs } = await setting();
	const api = await overApi(runtime);
	const hook = await receiver(() => 200);
	pushing(runtime, api, [{ kind: "webhook", name: "hook", on: ALL, url: hook.url }]);
	const call = runtime.terminal({ command: risky });
	const [id = ""] = await asked(runtime);
	await until("it is told", () => hook.received.length === 1);
	const once = messagesOf(hook.received)[0]?.answer?.once as string;
	await runtime.approvals.answer(id, { answer: "no", by: "page" });
	expect(await call).toMatchObject({ status: "blocked" });
	const late = await fetch(once, { method: "POST" });
	expect([late.status, await late.text()]).toEqual([409, expect.stringContaining("was answered before: no, by page")]);
	expect(runs()).toBe(0);
	const gone = answerKey(TOKEN, { approval_id: "appr_000000000000", answer: "once", target: "hook", expiresAt: Date.now() + 60_000 });
	expect((await fetch(`${api.origin}/answer/${gone}`, { method: "POST" })).status).toBe(404);
	const statuses = new Set<number>();
	for (let tries = 0; tries < 25; tries++) statuses.add((await fetch(`${api.origin}/answer/guess-${tries}`)).status);
	expect([...statuses]).toEqual([403, 429]);
});

test("what waits for a line, unanswered, and ends of background processes are told, each once; of two servers one sends", async () => {
	const runtime = await testRuntime();
	const hook = await receiver(() => 200);
	for (const one of [runtime, await testRuntime({ home: runtime.home.root })])
		pushing(one, { origin: "http://127.0.0.1:1" }, [{ kind: "webhook", name: "hook", on: ALL, url: hook.url }], { waitingMs: 0 });
	const process = await runtime.spawn({ command: "read -p 'Your name? ' x; exit 3", terminal: true, task: "tüsk\n\u202e1" });
	const told = (kind: string) => messagesOf(hook.received).filter((message) => message.kind === kind);
	await until("it is told that it waits", () => told("waiting").length > 0);
	await runtime.terminal({ command: "sleep 0.5" }); // the end of a foreground command is its caller's
	await process.write("Jo\r");
	await until("it is told that it has ended", () => told("end").length > 0);
	const last = await runtime.spawn({ command: "true" });
	await until("the next is told, too", () => told("end").some(({ session_id }) => session_id === last.id));
	const page = `http://127.0.0.1:1/#/p/${process.id}`;
	expect(told("waiting")[0]).toMatchObject({ title: "tüsk \\u202e1 waits for a line of input", session_id: process.id, url: page });
	expect(told("end").slice(0, 2)).toMatchObject([
		{ title: "tüsk \\u202e1: a process exited with 3", session_id: process.id, url: page, exit_code: 3, status: "exited" },
		{ session_id: last.id, exit_code: 0 },
	]);
});
