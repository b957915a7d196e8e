/** Delivery: what is sent again and when, by what the platform can tell. The gateway is not needed for it. */
import path from "node:path";
import { describe, expect, test } from "vitest";
import { Outbox } from "../../src/gateway/outbox.js";
import { OutboxStore, type OutItem } from "../../src/gateway/outbox-store.js";
import { type Certainty, PlatformError } from "../../src/gateway/platforms/platform.js";
import { Progress } from "../../src/gateway/progress.js";
import type { TurnEvent } from "../../src/turn/index.js";
import { atEnd, tempDir, until } from "../support/dirs.js";
import { type DoubleChats, DoubleServer } from "./double.js";
import { DoublePlatform } from "./fixtures/double.mjs";

const LONG = `${"The build has failed in step three, and this is why. ".repeat(10)}The end.`;

const item = (id: string, text: string, more: Partial<OutItem> = {}): OutItem => ({ id, chat: { id: "c1", kind: "direct" }, text, rings: true, ...more });

async function lane(certainty: Certainty, traits: object = {}) {
	const server = await DoubleServer.start();
	atEnd(() => server.close());
	const chats: DoubleChats = server.platform("tele", { certainty, ...traits });
	const file = path.join(tempDir(), "outbox.jsonl");
	let now = 0;
	const clock = { now: () => Date.now() + now };
	const problems: string[] = [];
	const platform = new DoublePlatform({ url: server.url, name: "tele", traits: chats.traits, PlatformError });
	const open = (): Outbox => {
		const outbox = new Outbox({ store: new OutboxStore(file, clock), platform, clock, firstWaitMs: 5, report: (text) => problems.push(text) });
		outbox.start();
		return outbox;
	};
	const settled = (outbox: Outbox): Promise<void> => until("all is settled", () => outbox.store.size === 0, 20_000);
	return { chats, platform, open, settled, problems, later: (ms: number) => (now += ms) };
}

describe.each(["exact", "lookup"] as const)("%s", (certainty) => {
	test.each(["cut before", "cut after"] as const)("%s: once", async (kind) => {
		const { chats, open, settled } = await lane(certainty);
		const outbox = open();
		chats.faults.push({ kind }, { kind });
		await outbox.put(item("a", LONG), item("b", "second"));
		await settled(outbox);
		expect(chats.texts()).toEqual([LONG, "second"]);
		await outbox.close();
	});
});

test("fill: a cut opening comes twice at most, marked, and never the whole text twice; a cut edit comes once", async () => {
	const { chats, open, settled } = await lane("fill");
	const outbox = open();
	chats.faults.push({ kind: "cut after" });
	chats.editFaults.push({ kind: "cut after" }, { kind: "cut before" });
	await outbox.put(item("a", LONG));
	await settled(outbox);
	const [first, second, ...more] = chats.in();
	expect(more).toEqual([]);
	expect(first?.text.length).toBeLessThanOrEqual(200);
	expect(second).toMatchObject({ text: LONG });
	expect(second?.edits[0]).toMatch(/^\(perhaps again\) The build/);
	await outbox.close();
});

test("fill: an opening that the person has removed takes nothing with it: the whole text is sent anew", async () => {
	const { chats, open, settled, problems } = await lane("fill");
	const outbox = open();
	chats.editFaults.push({ kind: "cut before" }, { kind: "refused" });
	await outbox.put(item("a", LONG), item("b", "second"));
	await settled(outbox);
	expect(
		chats
			.texts()
			.slice(1)
			.map((text) => text.replace(/^\(perhaps again\) /, "")),
	).toEqual([LONG, "second"]);
	expect(problems).toEqual([]);
	await outbox.close();
});

test("unsure: what was certainly not taken is sent again as it is, what may have been says so", async () => {
	const { chats, open, settled } = await lane("unsure", { edits: false });
	const outbox = open();
	chats.faults.push({ kind: "not-sent" });
	await outbox.put(item("a", "hello"));
	await settled(outbox);
	chats.faults.push({ kind: "cut after" });
	await outbox.put(item("b", "bye"));
	await settled(outbox);
	expect(chats.texts()).toEqual(["hello", "bye", "(perhaps again) bye"]);
	await outbox.close();
});

test("a pause that the platform asks for is kept over a restart; then the message comes once", async () => {
	const { chats, open, settled, later } = await lane("exact");
	const first = open();
	chats.faults.push({ kind: "later", ms: 30_000 });
	await first.put(item("a", "the answer"));
	await until("the pause is known", () => (first.store.chat("c1").until ?? 0) > 0);
	expect(first.quiet({ id: "c1", kind: "direct" })).toBe(false);
	await first.close();
	const second = open();
	await second.put(item("other", "elsewhere", { chat: { id: "c2", kind: "direct" } }));
	await until("another chat does not wait", () => chats.in("c2").length === 1);
	expect(chats.texts()).toEqual([]);
	await second.close();
	later(30_001);
	const third = open();
	await settled(third);
	expect(chats.texts()).toEqual(["the answer"]);
	await third.close();
});

test("progress is dropped while an answer waits for its pause, in that chat alone; many steps are one edit", async () => {
	const { chats, platform, open, settled, later } = await lane("exact");
	const outbox = open();
	const progressOf = (chat: string): Progress =>
		new Progress({
			...{ platform, outbox, chat: { id: chat, kind: "direct" }, redact: (text) => text.replaceAll("hunter2", "***"), kept: () => undefined, everyMs: 5 },
		});
	const step = (command: string): TurnEvent => ({ type: "call", id: command, name: "terminal", args: JSON.stringify({ command }) }) as TurnEvent;
	const progress = progressOf("c1");
	for (const command of ["one", "two", "echo hunter2"]) progress.take(step(command));
	await until("it is shown", () => chats.messages.length === 1);
	expect(chats.messages[0]).toMatchObject({ rings: false, edits: [], text: expect.stringMatching(/^… .*echo \*\*\*/) });
	chats.faults.push({ kind: "later", ms: 30_000 });
	await outbox.put(item("a", "the answer"));
	await until("the pause is known", () => outbox.store.isPaused("c1"));
	progress.take(step("three"));
	const next = progressOf("c1"); // has no message yet
	next.take(step("three"));
	const other = progressOf("c2"); // begun later: when it is shown, the steps of the first chat have had their time
	other.take(step("four"));
	await until("another chat has its own", () => chats.messages.length === 2);
	progress.end();
	for (const one of [progress, next]) await one.close();
	expect(chats.messages.map(({ chat, edits }) => [chat, edits])).toEqual([
		["c1", []],
		["c2", []],
	]);
	later(30_001);
	outbox.connection(true);
	await settled(outbox);
	expect(chats.texts()).toEqual(["the answer"]);
	await other.close();
	await outbox.close();
});

test("a pause does not grow when the clock is set back, also over a restart: the platform is asked anew", async () => {
	const { chats, open, settled, later } = await lane("exact");
	const first = open();
	chats.faults.push({ kind: "later", ms: 30_000 });
	await first.put(item("a", "the answer"));
	await until("the pause is known", () => (first.store.chat("c1").until ?? 0) > 0);
	later(-7_200_000);
	expect(first.quiet({ id: "c2", kind: "direct" })).toBe(true);
	first.connection(true); // wakes what waits
	await settled(first);
	expect(chats.texts()).toEqual(["the answer"]);
	chats.faults.push({ kind: "later", ms: 30_000 });
	await first.put(item("b", "another"));
	await until("the pause is known", () => first.store.isPaused("c1"));
	await first.close();
	later(-7_200_000);
	const second = open();
	await settled(second);
	expect(chats.texts()).toEqual(["the answer", "another"]);
	await second.close();
});

test("an id is taken once, also after a restart; order is kept; ids that a message stands for count too", async () => {
	const { chats, open, settled } = await lane("exact");
	const first = open();
	await first.put(item("a", "1"), item("b", "2", { also: ["b2"] }), item("c", "3"));
	await first.put(item("a", "again"), item("b2", "again"));
	await settled(first);
	await first.close();
	const second = open();
	await second.put(item("c", "again"), item("b2", "again"), item("d", "4"));
	await settled(second);
	expect(chats.texts()).toEqual(["1", "2", "3", "4"]);
	await second.close();
});

test("a chat that is gone gets nothing more until it writes again; others do", async () => {
	const { chats, open, settled, problems } = await lane("exact");
	const outbox = open();
	chats.gone.add("c1");
	await outbox.put(item("a", "1"), item("b", "2"));
	await settled(outbox);
	expect(chats.texts()).toEqual([]);
	expect(problems).toHaveLength(2);
	chats.gone.clear();
	await outbox.wrote("c1");
	await outbox.put(item("c", "3"));
	await settled(outbox);
	expect(chats.texts()).toEqual(["3"]);
	await outbox.close();
});

test("after ten tries, or a day, it is given up and said", async () => {
	const { chats, open, settled, problems, later } = await lane("exact");
	const outbox = open();
	chats.broken = { kind: "refused" };
	await outbox.put(item("a", "never"));
	await settled(outbox);
	expect(problems[0]).toContain("the double says refused");
	chats.broken = { kind: "not-sent" };
	await outbox.put(item("b", "late"));
	await until("it was tried", () => (outbox.store.waiting[0]?.tries ?? 0) > 0);
	later(25 * 3_600_000);
	outbox.connection(true);
	await settled(outbox);
	expect(problems.at(-1)).toContain("could not be delivered for a day");
	await outbox.close();
});

test("nothing is sent while the connection is away, and all of it when it is back", async () => {
	const { chats, open, settled } = await lane("exact");
	const outbox = open();
	outbox.connection(false);
	await outbox.put(item("a", "1"), item("b", "2"));
	expect(chats.messages).toEqual([]);
	outbox.connection(true);
	await settled(outbox);
	expect(chats.texts()).toEqual(["1", "2"]);
	await outbox.close();
});
