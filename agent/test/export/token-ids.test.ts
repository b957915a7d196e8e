import { expect, it } from "vitest";
import { segmentsOf } from "../../src/talk/index.js";
import { calls, say, type TokenMode, textOfIds } from "../model-server/index.js";
import { bench, type TalkOptions } from "../turn/support.js";

const FOUR = [
	calls(["terminal", { command: "echo one" }]),
	calls(["terminal", { command: "echo two" }]),
	calls(["terminal", { command: "echo three" }]),
	say("All three."),
];

/** Four requests of one turn, to a server that gives token ids in this way. */
async function talked(tokens: TokenMode, options: TalkOptions = {}, script = FOUR) {
	await using stage = await bench(script, { tokens });
	const warnings: string[] = [];
	const talk = await stage.open({ tokenIds: "stream", parts: { warn: (text) => void warnings.push(text) }, ...options });
	await talk.say("Count.");
	const { entries } = talk.it.log;
	return { entries, segments: segmentsOf(entries), warnings, requests: stage.server.requests.map(({ body }) => body) };
}

const part = (list: readonly number[], written: readonly boolean[], wanted: boolean) => textOfIds(list.filter((_, at) => written[at] === wanted));

it("the ids of a turn are one sequence: what the model read and what it wrote, with a logprob for each id that it wrote", async () => {
	const { entries, segments, warnings } = await talked("right");
	expect(warnings).toEqual([]);
	expect(segments).toHaveLength(1);
	const [{ ids, written, logprobs, answers }] = segments as [(typeof segments)[0]];
	expect(answers).toBe(4);
	expect([written.length, logprobs?.length]).toEqual([ids.length, ids.length]);
	const wrote = part(ids, written, true).split("|").filter(Boolean);
	expect(wrote).toEqual([..."one two three".split(" ").map((word) => `<call>terminal {"command":"echo ${word}"}</call>`), "All three."]);
	const read = part(ids, written, false);
	for (const result of entries.flatMap((entry) => (entry.t === "result" ? [entry.text] : []))) expect(read).toContain(result);
	expect(read.match(/Count\./g)).toHaveLength(1); // nothing twice
	expect(ids.every((id, at) => logprobs?.[at] === (written[at] ? -(id % 7) / 10 : 1))).toBe(true);
	const lines = entries.flatMap((entry) => (entry.t === "assistant" ? [entry.tokens] : []));
	expect(lines.slice(1).every((tokens) => (tokens?.prompt.length ?? 0) < 1_000)).toBe(true); // only what is new
});

it("a prompt that was tokenised anew begins a segment of its own, whole; what follows goes on in it", async () => {
	const { segments, requests } = await talked("drift");
	expect(segments.map(({ answers }) => answers)).toEqual([2, 2]);
	expect(requests).toHaveLength(4);
	const [, second] = segments;
	const read = textOfIds(second?.ids ?? []);
	expect(read.match(/Count\./g)).toHaveLength(1);
	expect(part(second?.ids ?? [], second?.written ?? [], true)).toBe(`${'<call>terminal {"command":"echo three"}</call>'}|All three.|`);
});

it("a template that drops old reasoning makes a segment for each answer", async () => {
	const script = [
		{ ...calls(["terminal", { command: "echo a" }]), reasoning: "first a" },
		{ ...calls(["terminal", { command: "echo b" }]), reasoning: "then b" },
		say("ok"),
	];
	const { segments } = await talked("right", {}, script);
	expect(segments.map(({ answers }) => answers)).toEqual([1, 1, 1]);
});

it.each([
	["missing", /no token ids/],
	["wrong length", /\d+ logprobs for|ids of the answer, but \d+ tokens in the usage/],
	["whole", /no token ids/], // a server that has them only for answers that are not streamed
] as const)("ids that are %s are said once and never made up; the answers are kept", async (mode, why) => {
	const { entries, segments, warnings } = await talked(mode);
	expect(warnings).toEqual([expect.stringMatching(why)]);
	expect(segments).toEqual([]);
	const answers = entries.flatMap((entry) => (entry.t === "assistant" ? [entry] : []));
	expect(answers).toHaveLength(4);
	for (const { tokens, noTokens } of answers) expect([tokens, noTokens]).toEqual([undefined, expect.stringMatching(why)]);
});

it("SGLang gives them with answers that are not streamed; the answer is the same", async () => {
	const { segments, warnings, entries, requests } = await talked("whole", { tokenIds: "whole" });
	expect(warnings).toEqual([]);
	expect(requests.every(({ stream }) => stream === false)).toBe(true);
	expect(segments.map(({ answers }) => answers)).toEqual([4]);
	expect(entries.findLast(({ t }) => t === "assistant")).toMatchObject({ text: "All three." });
});

it("ids without logprobs are kept without", async () => {
	const { segments, warnings } = await talked("no logprobs");
	expect(warnings).toEqual([]);
	expect(segments.map(({ logprobs, answers }) => [logprobs, answers])).toEqual([[undefined, 4]]);
});

it("they are asked for only when they are wanted", async () => {
	const { requests, segments } = await talked("right", { tokenIds: undefined });
	expect(requests.some((body) => "return_token_ids" in body || "logprobs" in body)).toBe(false);
	expect(segments).toEqual([]);
});

it("what requests show besides the messages is on record once, in a run", async () => {
	await using stage = await bench(["one", "two"]);
	const talk = await stage.open({ record: true });
	await talk.say("a");
	await talk.say("b");
	const shown = talk.it.log.entries.filter(({ t }) => t === "shown");
	expect(shown).toEqual([
		expect.objectContaining({ system: stage.server.requests[1]?.system, tools: expect.arrayContaining([expect.objectContaining({ name: "terminal" })]) }),
	]);
	const other = await stage.open();
	stage.server.play("three");
	await other.say("c");
	expect(other.it.log.entries.some(({ t }) => t === "shown")).toBe(false);
});
