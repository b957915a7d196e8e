import fs from "node:fs";
import { expect, it } from "vitest";
import { agentConfigSchema } from "../../src/base/index.js";
import type { Answer, Model, ModelRequest, Piece } from "../../src/model/index.js";
import { type CompactOptions, compact, compactAbove, type EntryBody, history, Log, recallResult, roughTokens } from "../../src/talk/index.js";
import { tempHome } from "../support/dirs.js";
import { broken } from "./support/wire.js";

const BY = { platform: "test", person: "p" };
const SETTINGS = agentConfigSchema.parse({}).compact;
let count = 0;
const user = (text: string): EntryBody => ({ t: "user", id: `m${++count}`, text, by: BY });
const answer = (text: string): EntryBody => ({ t: "assistant", text, calls: [], stop: "done", model: "m" });
const words = (tokens: number): string => "seven c".repeat(Math.floor(tokens / 2));

/** A turn with a call whose result has so many tokens. */
const turn = (id: string, tokens: number, text = `please do ${id}`): EntryBody[] => [
	user(text),
	{ t: "assistant", text: "", calls: [{ id, name: "terminal", args: '{"command":"make"}' }], stop: "calls", model: "m" },
	{ t: "result", call: id, text: `begin of ${id}\n${words(tokens)}`, failed: false, how: "ran" },
	answer(`did ${id}`),
];

async function conversation(...lines: readonly EntryBody[]): Promise<Log> {
	const log = await Log.begin(tempHome(), { task: "t", place: "local", model: "m" });
	for (const line of lines) await log.append(line);
	return log;
}

type Asked = { readonly requests: ModelRequest[]; readonly model: Model };

/** A model that answers every request for a summary in the same way. */
function summariser(does: (signal: AbortSignal) => Promise<string>): Asked {
	const requests: ModelRequest[] = [];
	const model: Model = {
		name: "s",
		format: "chat",
		window: { tokens: 100_000, from: "default" },
		async *ask(request: ModelRequest, signal: AbortSignal): AsyncGenerator<Piece, Answer> {
			requests.push(request);
			yield { type: "text", text: "…" };
			return { text: await does(signal), reasoning: [], calls: [], stop: "done", model: "s" };
		},
	};
	return { requests, model };
}

const options = (model: Model, more: Partial<CompactOptions> = {}): CompactOptions => ({
	model,
	window: 100_000,
	settings: SETTINGS,
	digest: () => "Running processes:\n- proc_8d33aa11bb22 web (3 h)",
	signal: new AbortController().signal,
	...more,
});

const says = (text: string): Asked => summariser(async () => text);

it("leaves a conversation alone that has room, and leaves room for the answer", async () => {
	await using log = await conversation(...turn("c1", 1_000));
	const { model, requests } = says("short");
	expect(await compact(log, options(model))).toMatchObject({ did: "nothing", fits: true, why: "there is room" });
	expect(requests).toEqual([]);
	expect(compactAbove(200_000)).toBe(170_000);
	expect(compactAbove(32_768)).toBe(16_384);
	expect(compactAbove(8_192)).toBe(4_096);
});

it("first sends old results in short: no request, and each can be read back byte for byte", async () => {
	await using log = await conversation(...turn("c1", 30_000), ...turn("c2", 30_000), ...turn("c3", 29_000), user("go on"));
	const before = history(log.entries);
	const { model, requests } = says("short");
	const done = await compact(log, options(model));
	expect(done).toMatchObject({ did: "shortened", fits: true });
	expect(requests).toEqual([]);
	const after = history(log.entries);
	expect(broken(after)).toBeUndefined();
	const results = after.filter((message) => message.role === "result");
	expect(results[0]?.text).toMatch(/^begin of c1\n.*\n\[shortened: 2 lines, 105,012 characters; recall\(call="c1", offset=0\) has them\]$/s);
	expect(results[1]?.text).toContain('recall(call="c2", offset=0)');
	expect(results[2]?.text === before.filter((message) => message.role === "result")[2]?.text).toBe(true);
	for (const call of ["c1", "c2"]) expect(recallResult(log.entries, call)).toBe(`begin of ${call}\n${words(30_000)}`);
	expect(done).toMatchObject({ after: roughTokens(after), before: roughTokens(before) });
	expect(log.entries.at(-1)).toMatchObject({ t: "shortened", before: roughTokens(before), after: roughTokens(after) });
});

it("a result that the model has just asked for is never sent in short, however long it is", async () => {
	await using log = await conversation(...turn("c1", 10_000), ...turn("c2", 80_000).slice(0, 3));
	expect(await compact(log, options(says("x").model))).toMatchObject({ did: "shortened" });
	const settings = { ...SETTINGS, keepResults: 10 };
	await compact(log, options(says("x").model, { settings, force: true }));
	expect(history(log.entries).at(-1)?.text.length).toBe(280_012);
});

it("said to be too long by the provider, old results in short are enough if they halve it", async () => {
	await using log = await conversation(...turn("c1", 30_000), ...turn("c2", 5_000), ...turn("c3", 100), user("go on"));
	const { model, requests } = says("short");
	expect(await compact(log, options(model, { force: true, window: 20_000, settings: { ...SETTINGS, keepResults: 6_000 } }))).toMatchObject({
		did: "shortened",
	});
	expect(requests).toEqual([]);
	expect(await compact(log, options(model, { force: true }))).toMatchObject({ did: "summarised" });
	expect(requests).toHaveLength(1);
});

it("if that is not enough, summarises up to the beginning of a turn; what is under way stands behind the summary", async () => {
	const small = [user("small"), answer("yes"), user("now this")];
	await using log = await conversation(user("the goal"), answer(words(60_000)), user("and then"), answer(words(30_000)), ...small);
	const { model, requests } = says("Goal: the goal.");
	expect(await compact(log, options(model))).toMatchObject({ did: "summarised", fits: true });
	const messages = history(log.entries);
	expect(broken(messages)).toBeUndefined();
	expect(messages.slice(1).map(({ role, text }) => `${role}: ${text}`)).toEqual(["user: small", "assistant: yes", "user: now this"]);
	expect(messages[0]?.text).toMatch(
		/^\[Summary by the program .* history, not orders.*Goal: the goal\.\n\nRunning processes:\n- proc_8d33aa11bb22 web \(3 h\)$/s,
	);
	expect(requests).toHaveLength(1);
	const asked = requests[0]?.messages[0]?.text ?? "";
	expect(asked).toContain("USER: the goal");
	expect(asked).not.toMatch(/small|now this/);
	expect(requests[0]).toMatchObject({ tools: [], maxTokens: 8_000 });
});

it("a turn that alone is too long is cut before an answer, never between call and result, and the request is quoted", async () => {
	const steps = Array.from({ length: 12 }, (_, at) => turn(`c${at}`, 10).slice(1, 3)).flat();
	const wordy = steps.map((line) => (line.t === "assistant" ? { ...line, text: words(9_000) } : line));
	await using log = await conversation(user("fix all tests"), ...wordy);
	const { model } = says("Tests are being fixed.");
	expect(await compact(log, options(model))).toMatchObject({ did: "summarised", fits: true });
	const messages = history(log.entries);
	expect(broken(messages)).toBeUndefined();
	expect(messages.slice(0, 3).map(({ role }) => role)).toEqual(["user", "assistant", "result"]);
	expect(messages[0]?.text).toContain("which you are working on, in their own words:\nfix all tests");
	expect(messages.length).toBe(5);
});

it("a second summary stands for the first one too", async () => {
	await using log = await conversation(user("one"), answer(words(60_000)), user("two"), answer(words(30_000)), user("three"));
	await compact(log, options(says("First summary.").model));
	for (const line of [answer(words(60_000)), user("four"), answer(words(40_000)), user("five")]) await log.append(line);
	const { model, requests } = says("Second summary.");
	expect(await compact(log, options(model))).toMatchObject({ did: "summarised" });
	expect(requests[0]?.messages[0]?.text).toContain("First summary.");
	expect(requests[0]?.messages[0]?.text).not.toContain("USER: one");
	expect(history(log.entries)[0]?.text).toContain("Second summary.");
	expect(history(log.entries)).toHaveLength(2);
});

it("a second summary that ends before the line of the first one stands for it too", async () => {
	await using log = await conversation(user("one"), answer(words(90_000)), user("two"), answer(words(9_000)), user("three"));
	expect(await compact(log, options(says("First summary.").model))).toMatchObject({ did: "summarised" });
	const { model, requests } = says("Second summary.");
	expect(await compact(log, options(model, { force: true }))).toMatchObject({ did: "summarised" });
	expect(requests[0]?.messages[0]?.text).toContain("First summary.");
	expect(requests[0]?.messages[0]?.text).not.toContain("USER: one");
	expect(history(log.entries).map(({ text }) => text.slice(-5))).toEqual(["(3 h)", "three"]);
});

it("turns that were taken back are not summarised", async () => {
	await using log = await conversation(user("one"), answer(words(90_000)), user("a secret"), answer("no"));
	await log.append({ t: "undone", from: 3 });
	await log.append(user("two"));
	const { model, requests } = says("Said one.");
	expect(await compact(log, options(model))).toMatchObject({ did: "summarised" });
	expect(JSON.stringify(requests)).not.toContain("a secret");
});

it("a summary that gains less than a fifth is thrown away, and is not tried again until the conversation has grown", async () => {
	await using log = await conversation(user("one"), answer(words(5_000)), user(words(85_000)), answer("x"), user("two"));
	const { model, requests } = summariser(async () => words(80_000));
	const lines = log.entries.length;
	expect(await compact(log, options(model))).toMatchObject({ did: "nothing", fits: false, why: expect.stringContaining("gain too little") });
	expect(log.entries).toHaveLength(lines);
	expect(await compact(log, options(model))).toMatchObject({ did: "nothing", why: expect.stringContaining("hardly grown") });
	expect(await compact(log, options(model, { force: true }))).toMatchObject({ did: "nothing" });
	expect(requests).toHaveLength(1);
	await log.append(answer(words(30_000)));
	await log.append(user("three"));
	await compact(log, options(model));
	expect(requests).toHaveLength(2);
});

it("interrupted, nothing has changed, and it may be tried again", async () => {
	await using log = await conversation(...turn("c1", 20_000), user("one"), answer(words(70_000)), user("go on"));
	const settings = { ...SETTINGS, keepResults: 10 }; // something could be sent in short, too
	const stop = new AbortController();
	const waits = summariser(() => {
		stop.abort(new Error("Esc"));
		return new Promise(() => {}); // also a model that does not heed the signal
	});
	const before = fs.readFileSync(log.file, "utf8");
	expect(await compact(log, options(waits.model, { signal: stop.signal, settings }))).toMatchObject({ did: "nothing", why: "interrupted" });
	expect(fs.readFileSync(log.file, "utf8")).toBe(before);
	expect(await compact(log, options(says("Did c1.").model, { force: true }))).toMatchObject({ did: "summarised" });
});

it("a model that does not answer in time, fails, or says nothing ends it with words; what can be shortened is", async () => {
	const never = summariser((signal) => new Promise((_, reject) => signal.addEventListener("abort", () => reject(signal.reason), { once: true })));
	const failing = summariser(() => Promise.reject(new Error("529 overloaded")));
	for (const [{ model }, why] of [
		[never, "not done within 1 s"],
		[failing, "the summary failed: 529 overloaded"],
		[says("  "), "was empty"],
	] as const) {
		await using log = await conversation(user("one"), answer(words(90_000)), user("two"));
		expect(await compact(log, options(model, { settings: { ...SETTINGS, seconds: 1 } }))).toMatchObject({
			did: "nothing",
			fits: false,
			why: expect.stringContaining(why),
		});
	}
	await using log = await conversation(...turn("c1", 45_000), user("one"), answer(words(45_000)), user("two"));
	expect(await compact(log, options(failing.model, { settings: { ...SETTINGS, keepResults: 10 } }))).toMatchObject({ did: "shortened", fits: true });
});

it("one message that is longer than the window cannot be helped, and that is said", async () => {
	await using log = await conversation(user(words(200_000)));
	const { model, requests } = says("x");
	expect(await compact(log, options(model))).toMatchObject({
		did: "nothing",
		fits: false,
		why: expect.stringContaining("nothing in it that a summary could stand for"),
	});
	expect(requests).toEqual([]);
});

it("what the model is asked to summarise fits into its window, however long the conversation is", async () => {
	const lines = Array.from({ length: 200 }, (_, at) => [user(`${at} ${words(2_000)}`), answer(words(2_000))]).flat();
	await using log = await conversation(...lines, user("last"));
	const { model, requests } = says("Long.");
	expect(await compact(log, options(model, { window: 32_768 }))).toMatchObject({ did: "summarised", fits: true });
	expect(roughTokens(requests[0]?.messages ?? [])).toBeLessThan(32_768 - 4_096);
	expect(requests[0]?.maxTokens).toBe(4_096);
});

it("is refused between a call and its result", async () => {
	await using log = await conversation(...turn("c1", 10).slice(0, 2));
	await expect(compact(log, options(says("x").model, { force: true }))).rejects.toMatchObject({ code: "SEQUENCE" });
});
