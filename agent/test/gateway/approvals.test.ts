/** Questions about commands, in chats. */
import fs from "node:fs";
import path from "node:path";
import { expect, test } from "vitest";
import { fileKey } from "../../src/base/index.js";
import { Inbox } from "../../src/talk/index.js";
import { calls, type SeenRequest } from "../model-server/index.js";
import { atEnd, tempDir, until } from "../support/dirs.js";
import type { ShownMessage } from "./double.js";
import { type GateWorld, gateWorld } from "./support.js";

/** A push with force is asked about; a file counts how often it ran. */
const asked = (world: GateWorld, n: number): string => `echo ran >> ${path.join(world.dir, `ran-${n}`)} && git push --force origin main`;
const runs = (world: GateWorld, n: number): number => {
	const file = path.join(world.dir, `ran-${n}`);
	return fs.existsSync(file) ? fs.readFileSync(file, "utf8").trim().split("\n").length : 0;
};
const questions = (world: GateWorld, chat = "c1"): ShownMessage[] => world.chats.in(chat).filter(({ id }) => /^appr_[0-9a-f]+$/.test(id));
const oneOf = async (world: GateWorld, chat = "c1"): Promise<ShownMessage> => {
	await until("a question is shown", () => questions(world, chat).length > 0, 30_000);
	return questions(world, chat)[0] as ShownMessage;
};

/** Asks for a command by its number, and answers when it has a result. */
const script = (world: () => GateWorld) => (request: SeenRequest) => {
	const [, n] = /run (\d)/.exec(request.said) ?? [];
	if (request.results.length > 0) return `Result: ${request.results.map(({ text }) => text).join(" ")}`;
	return n === undefined ? "Hello." : calls(["terminal", { command: asked(world(), Number(n)) }]);
};

async function start(options: Parameters<typeof gateWorld>[0] = {}): Promise<GateWorld> {
	const it: { world?: GateWorld } = {};
	it.world = await gateWorld({ script: script(() => it.world as GateWorld), ...options });
	return it.world;
}

test("a question has buttons; two people tap, the first counts, and the second reads who was first", async () => {
	const world = await start();
	await world.start();
	world.chats.write("run 1");
	const question = await oneOf(world);
	expect(question.text).toContain("git push --force");
	expect(question.rings).toBe(true);
	expect(question.buttons.map(({ label }) => label)).toEqual(["Once", "This chat", "Always", "No"]);
	const [once, , , no] = question.buttons.map(({ data }) => data) as [string, string, string, string];
	const strange = world.chats.press(question, once, { person: "tim" });
	await until("who may not is told", () => world.chats.shown.some(({ tap }) => tap === strange));
	expect(world.chats.shown.find(({ tap }) => tap === strange)?.text).toMatch(/You may not decide that; .*(jo|ann)/);
	const first = world.chats.press(question, once);
	const second = world.chats.press(question, no, { person: "ann" });
	await world.shows(/^Result: /);
	await until("both are told", () => world.chats.shown.some(({ tap }) => tap === second));
	expect(world.chats.shown.find(({ tap }) => tap === first)?.text).toBe("Allowed once.");
	expect(world.chats.shown.find(({ tap }) => tap === second)?.text).toMatch(/^Allowed once by tele, jo, \d\d:\d\d\.$/);
	expect(runs(world, 1)).toBe(1);
	await until("its message says so", () => /Allowed once by tele, jo/.test(questions(world)[0]?.text ?? ""));
	expect(questions(world)).toHaveLength(1);
	expect(questions(world)[0]?.buttons).toEqual([]);
});

test("the gateway stops while it asks, and the answer comes when the next one runs: it runs once, with one message", async () => {
	const world = await start();
	const first = await world.start();
	world.chats.write("run 1");
	const question = await oneOf(world);
	await first.stop();
	expect(runs(world, 1)).toBe(0);
	world.chats.tap(question, "Once");
	await world.start();
	await world.shows(/^Result: /);
	expect(runs(world, 1)).toBe(1);
	await until("the buttons are gone", () => questions(world)[0]?.buttons.length === 0);
	expect(questions(world)).toHaveLength(1);
});

test("/deny with a reason reaches the model; words alone count as a reply, or when one question is open", async () => {
	const world = await start();
	await world.start();
	world.chats.write("run 1");
	const question = await oneOf(world);
	const digits = /^\*\*May this run\?\*\* ([0-9a-f]{4})/.exec(question.text)?.[1];
	world.chats.write(`/deny ${digits} not on main`);
	await world.shows(/^Result: [\s\S]*not on main/);
	expect(runs(world, 1)).toBe(0);
	world.chats.write("run 3");
	await until("the next question", () => questions(world).length === 2);
	world.chats.write("/deny added by mistake"); // the first word could be digits
	await world.shows(/^Result: [\s\S]*added by mistake/);
	world.chats.write("run 2");
	await until("the next question", () => questions(world).length === 3);
	world.chats.write("yes", { replyTo: questions(world)[2]?.message as string });
	await until("it ran", () => runs(world, 2) === 1, 30_000);
	await world.shows("Allowed once.");
});

test("words and /approve without digits are for a question that was there when they were written; what they have decided is not decided again", async () => {
	const world = await start({ config: { busy: "queue" } });
	const key = "agent/tele/direct/c1";
	const first = await world.start();
	world.chats.write("run 1");
	const { id = "" } = await oneOf(world);
	await first.stop();
	// As a gateway leaves them that is killed while it answers: they are looked at once more, and a younger question waits.
	const left = async (text: string, at: number): Promise<void> => {
		const by = { platform: "tele", person: "jo", name: "jo", message: "m0" };
		await new Inbox(world.home, fileKey(key), { clock: { now: () => at } }).put({ kind: "user", id: `tele/c1/${text}`, text, by, mode: "queue" });
	};
	const asked = Date.parse(world.runtime.approvals.get(id).created_at);
	for (const text of ["/approve", "/approve all always", "/deny", "yes"]) await left(text, asked - 1);
	const second = await world.start();
	const none = /^No question waited when you wrote that\. Since then:\n[0-9a-f]{4} {2}echo ran/;
	await world.shows((texts) => texts.filter((text) => none.test(text)).length === 3);
	await world.shows(/^Queued/); // the word is left to the model
	expect(world.runtime.approvals.get(id).state).toBe("pending");
	world.chats.write("/approve");
	await world.shows(/^Result: /);
	await second.stop();
	await left("/approve once", asked + 1);
	await left("ok", asked + 1);
	await world.start();
	await world.shows((texts) => texts.filter((text) => /^[0-9a-f]{4}: Allowed once by tele, jo, \d\d:\d\d\.$/.test(text)).length === 2);
	expect(runs(world, 1)).toBe(1);
});

test("/approve all lets each question that is open in the chat run once, and no longer; asked in the page, the chat says who answered", async () => {
	const world = await start();
	await world.start();
	world.chats.write("hello");
	await world.shows("Hello.");
	const groups = ["g1", "g2", "g3"];
	for (const [n, chat] of groups.entries()) world.chats.write(`run ${n + 1}`, { chat, kind: "group" });
	world.chats.write("run 4", { chat: "c2" });
	await until("all are asked", () => questions(world).length === 3 && questions(world, "c2").length === 1, 60_000);
	// Those of other chats are not touched by "all".
	world.chats.write("/approve all");
	for (const chat of groups) await world.shows(/^Result: /, chat);
	await world.shows(/^([0-9a-f]{4} .*: Allowed once\.\n?){3}$/);
	expect([1, 2, 3, 4].map((n) => runs(world, n))).toEqual([1, 1, 1, 0]);
	const [elsewhere] = world.runtime.approvals.list({ task: "agent/tele/direct/c2" });
	await world.runtime.approvals.answer(elsewhere?.id ?? "", { answer: "once", by: "the page" });
	await world.shows(/^Result: /, "c2");
	await until("its message says so", () => /Allowed once by the page/.test(questions(world, "c2")[0]?.text ?? ""));
	const stale = world.chats.press(questions(world, "c2")[0] as ShownMessage, `a:${elsewhere?.id}:no`);
	await until("a stale button says who", () => world.chats.shown.some(({ tap }) => tap === stale));
	expect(world.chats.shown.find(({ tap }) => tap === stale)?.text).toContain("by the page");
	world.chats.write("run 1", { chat: "g1", kind: "group" });
	await until("it is asked anew", () => questions(world).length === 4, 30_000);
	expect(world.runtime.approvals.list({ task: "agent/tele/group/g1" })).toHaveLength(1);
	expect(runs(world, 1)).toBe(1);
});

test("what is allowed in this chat is not asked again there, until /new takes it back", async () => {
	const world = await start();
	await world.start();
	world.chats.write("run 1");
	const digits = /([0-9a-f]{4})\n/.exec((await oneOf(world)).text)?.[1];
	world.chats.write(`/approve ${digits} task`);
	await world.shows(`${digits}: Allowed in this chat.`);
	await until("it ran", () => runs(world, 1) === 1, 30_000);
	world.chats.write("run 1");
	await until("it ran again", () => runs(world, 1) === 2, 30_000);
	expect(questions(world)).toHaveLength(1);
	world.chats.write("/new");
	await world.shows(/^A new conversation\./);
	world.chats.write("run 1");
	await until("it is asked anew", () => questions(world).length === 2, 30_000);
	expect(runs(world, 1)).toBe(2);
});

test("nobody answers: it expires, the message says so, and the model is told not to go around it", async () => {
	const before = process.env.XDG_CONFIG_HOME;
	const xdg = tempDir("xdg");
	fs.mkdirSync(path.join(xdg, "holdfast"));
	fs.writeFileSync(path.join(xdg, "holdfast", "config.json"), '{ "approvals": { "expires": 1 } }');
	process.env.XDG_CONFIG_HOME = xdg;
	atEnd(() => {
		if (before === undefined) delete process.env.XDG_CONFIG_HOME;
		else process.env.XDG_CONFIG_HOME = before;
	});
	const world = await start();
	await world.start();
	world.chats.write("run 1");
	await world.shows(/^Result: /);
	expect(world.chats.texts().find((text) => text.startsWith("Result: "))).toMatch(/expired|no answer|another way/i);
	await until("the message says so", () => /Nobody answered in time/.test(questions(world)[0]?.text ?? ""), 30_000);
	expect(questions(world)[0]?.buttons).toEqual([]);
	expect(runs(world, 1)).toBe(0);
});

test("a question of a group goes to the private chat of who wrote, and can be answered there; to the group if nobody has one, or it is set so", async () => {
	const world = await start();
	const gateway = await world.start();
	world.chats.write("run 2", { chat: "g2", kind: "group", person: "tim" });
	world.chats.tap(await oneOf(world, "g2"), "Once", { kind: "group" });
	await world.shows(/^Result: /, "g2");
	world.chats.write("hello");
	await world.shows("Hello.");
	world.chats.write("run 1", { chat: "g1", kind: "group", chatName: "Team" });
	const question = await oneOf(world, "c1");
	expect(question.text).toMatch(/^In the group Team: \*\*May this run/);
	expect(questions(world, "g1")).toEqual([]);
	world.chats.write("yes");
	await world.shows(/^Result: /, "g1");
	expect(runs(world, 1)).toBe(1);
	gateway.hall.settings.config.gateway.groups.approveInGroup = true;
	world.chats.write("run 3", { chat: "g1", kind: "group" });
	world.chats.tap(await oneOf(world, "g1"), "Once", { kind: "group" });
	await until("it ran", () => runs(world, 3) === 1, 30_000);
});

test("a question of the model has buttons for its choices, and any message answers it", async () => {
	const world = await gateWorld({
		script: (request) => {
			if (request.results.length > 0) return `You chose ${request.results[0]?.text}`;
			return calls(["ask_user", { question: "Which one?", choices: ["db1", "db2"] }]);
		},
	});
	await world.start();
	world.chats.write("go");
	await world.shows("Which one?");
	const [question] = world.chats.in().filter(({ text }) => text === "Which one?");
	world.chats.tap(question as ShownMessage, "db2");
	await world.shows(/You chose .*db2/);
	world.chats.write("go", { chat: "c2" });
	await world.shows("Which one?", "c2");
	world.chats.write("neither, use db3", { chat: "c2" });
	await world.shows(/You chose .*neither, use db3/, "c2");
});
