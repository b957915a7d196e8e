import { expect, it } from "vitest";
import { calls, fails, say } from "../model-server/index.js";
import { bench } from "./support.js";

const TOO_LONG = fails(400, {
	message: "This model's maximum context length is 32768 tokens. However, your messages resulted in 40321 tokens.",
	code: "context_length_exceeded",
});
const LONG = Array.from({ length: 700 }, (_, n) => `fact ${n}: ${"abcdefghijklmnopqrstuvwxyz".slice(n % 20)} ${n * 31}`).join("\n");
const isSummary = (body: Record<string, unknown>): boolean => body.tools === undefined;

it("makes the conversation shorter once when it is too long, and asks once more", async () => {
	let failed = 0;
	await using on = await bench(({ n, body }) => {
		if (isSummary(body)) return say("They told many facts.");
		if (n === 1) return say("Noted.");
		return failed++ === 0 ? TOO_LONG : say("The answer.");
	});
	const talk = await on.open({ window: 32_768 });
	await talk.say(LONG);
	expect(await talk.say("so?")).toMatchObject({ why: "answered", text: "The answer." });
	expect(talk.lines().filter(({ t }) => t === "summary")).toEqual([expect.objectContaining({ text: expect.stringContaining("They told many facts.") })]);
	expect(on.server.requests).toHaveLength(4);
	expect(await talk.until("compacting")).toMatchObject({ done: false });
	const { before, after } = await talk.until("compacted");
	expect(after).toBeLessThan(before);
});

it("makes no third request if it is too long all the same, and says what to do", async () => {
	await using on = await bench(({ n, body }) => (isSummary(body) ? say("Facts.") : n === 1 ? say("Noted.") : TOO_LONG));
	const talk = await on.open({ window: 32_768 });
	await talk.say(LONG);
	expect(await talk.say("so?")).toMatchObject({ why: "too_long", text: expect.stringMatching(/also after it was made shorter .*\/new/) });
	expect(on.server.requests.filter(({ body }) => !isSummary(body))).toHaveLength(3);
	expect(talk.it.log.entries.at(-1)).toMatchObject({ t: "stopped", why: "too_long" });
});

it("gives up at once if nothing can be left out", async () => {
	await using on = await bench([TOO_LONG]);
	const talk = await on.open({ window: 32_768 });
	expect(await talk.say("hello")).toMatchObject({ why: "too_long", text: expect.stringContaining("could not be made shorter") });
	expect(on.server.requests).toHaveLength(1);
});

it("has running processes in view after a summary: the model polls one that was started before", async () => {
	let id = "";
	await using on = await bench(({ body, n }) => {
		const text = JSON.stringify(body.messages);
		if (isSummary(body)) return say("Facts were told.");
		if (n === 1) return calls(["terminal", { command: "echo up and running; exec sleep 600", background: true }]);
		if (n === 2) return say("Started.");
		if (n === 3) return TOO_LONG;
		if (id !== "") return say("Still there.");
		const summary = /Summary by the program.*/.exec(text)?.[0] ?? "";
		id = /proc_[0-9a-f]{12}/.exec(summary)?.[0] ?? "none";
		return calls(["process", { action: "log", session_id: id }]);
	});
	const talk = await on.open({ window: 32_768 });
	await talk.say(`start the server\n${LONG}`);
	expect(await talk.say("does it run?")).toMatchObject({ why: "answered", text: "Still there." });
	const last = talk.it.log.entries.findLast(({ t }) => t === "result");
	expect(last).toMatchObject({ text: expect.stringMatching(new RegExp(`^\\[running, ${id}.*\\nup and running`)), failed: false });
});

it("makes room by itself before the window is full", async () => {
	await using on = await bench(({ body }) => (isSummary(body) ? say("Facts.") : say("Noted.")));
	const talk = await on.open({ window: 24_000 });
	for (let n = 0; n < 3; n++) expect(await talk.say(`${LONG}\n${n}`)).toMatchObject({ why: "answered" });
	expect(talk.lines().some(({ t }) => t === "summary")).toBe(true);
});

it("is made shorter when the person asks for it", async () => {
	await using on = await bench(({ body }) => (isSummary(body) ? say("Facts.") : say("Noted.")));
	const talk = await on.open({ window: 32_768 });
	await talk.say(LONG);
	await talk.say("and?");
	expect(await talk.it.compact()).toMatchObject({ did: "summarised" });
	await talk.until("compacting", ({ done }) => done);
	expect(talk.events.filter(({ type }) => type === "compacting")).toEqual([
		{ type: "compacting", done: false },
		{ type: "compacting", done: true },
	]);
	expect(await talk.say("go on")).toMatchObject({ why: "answered" });
});

it("is left as it is when the person stops the summary that they have asked for", async () => {
	const stalled = { ...say("Facts."), fault: { kind: "stall", at: "text" } } as const;
	await using on = await bench(({ body }) => (isSummary(body) ? stalled : say("Noted.")));
	const talk = await on.open({ window: 32_768 });
	await talk.say(LONG);
	await talk.say("and?");
	const compacting = talk.it.compact();
	await talk.until("compacting");
	expect(await talk.it.interrupt()).toBe(true);
	expect(await compacting).toMatchObject({ did: "nothing", why: "interrupted" });
	expect(talk.lines().some(({ t }) => t === "summary")).toBe(false);
	expect(await talk.say("go on")).toMatchObject({ why: "answered" });
	expect(await talk.it.interrupt()).toBe(false);
});
