/** The rules of the formats: planted mistakes are found before anything is sent, and two copies of the rules agree about everything. */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { Message } from "../../src/model/index.js";
import { modelServer } from "../model-server/index.js";
import { seedOf } from "../support/seed.js";
import { type Body, bodyOf, type Item, itemsOf, judgedAlike, KINDS, type Kind, ours, theirs, validBodies } from "./sequences.js";
import { askAt, FORMATS, requestOf, result, user } from "./support.js";

const call = (id: string, args = "{}") => ({ id, name: "terminal", args });
const said = (text: string, ...made: ReturnType<typeof call>[]): Message => ({ role: "assistant", text, reasoning: [], calls: made, model: "m" });

/** A conversation with everything in it. */
const CONVERSATION: readonly Message[] = [
	user("Build it."),
	said("I'll look. ", call("call_1", '{"command":"ls"}'), call("call_2", "{broken")),
	result("call_1", "a\nb"),
	result("call_2", "not JSON"),
	said("", call("call_3")),
	result("call_3", ""),
	said("Half of an ans"),
	user("Go on."),
	user("And quickly."),
];

it("lets the conversation through that the mistakes are planted in", () => {
	for (const kind of KINDS) {
		const body = bodyOf(kind, requestOf({ messages: CONVERSATION }));
		expect({ kind, ours: ours(kind, body), theirs: theirs(kind, body) }).toEqual({ kind, ours: undefined, theirs: undefined });
	}
});

/** Each changes the items of a body, and the rule that finds it. */
type Mistake = readonly [name: string, plant: (items: Item[], body: Body) => void, found: RegExp];
const at = (items: Item[], index: number): Item => items[index] as Item;
const blocks = (items: Item[], index: number): Item[] => at(items, index).content as Item[];
const firstCall = (items: Item[]) => items.flatMap((item) => (item.tool_calls ?? []) as Item[])[0] as Item;
const find = (items: Item[], type: string) => items.find((item) => item.type === type) as Item;
const without = (items: Item[], test: (item: Item) => boolean) => void items.splice(items.findIndex(test), 1);

const CHAT: readonly Mistake[] = [
	["a call without its result", (items) => without(items, ({ role }) => role === "tool"), /before the results of call_1/],
	["a result without its call", (items) => items.push({ role: "tool", tool_call_id: "call_9", content: "x" }), /answers no open call/],
	["a result twice", (items) => items.splice(4, 0, { ...at(items, 3) }), /answers no open call/],
	["a user between call and result", (items) => items.splice(3, 0, { role: "user", content: "x" }), /user comes before the results/],
	["an id used twice", (items) => items.push({ ...at(items, 2) }, at(items, 3), at(items, 4), { role: "user", content: "x" }), /used twice/],
	["two calls of a message with one id", (items) => Object.assign((at(items, 2).tool_calls as Item[])[1] as Item, { id: "call_1" }), /same id/],
	["a call without an id", (items) => Object.assign(firstCall(items), { id: "" }), /no id/],
	["an id of 41 characters", (items) => Object.assign(firstCall(items), { id: "x".repeat(41) }), /more than 40/],
	["arguments that are no JSON", (items) => Object.assign(firstCall(items), { function: { name: "terminal", arguments: "{broken" } }), /no JSON object/],
	["arguments that are an object", (items) => Object.assign(firstCall(items), { function: { name: "terminal", arguments: {} } }), /no JSON object/],
	["an assistant that says nothing", (items) => Object.assign(at(items, items.length - 3), { content: null }), /says nothing/],
	["an empty list of calls", (items) => Object.assign(at(items, items.length - 3), { tool_calls: [] }), /empty list of calls/],
	["a user without a word", (items) => Object.assign(at(items, 1), { content: "" }), /has no text/],
	["a role that there is not", (items) => Object.assign(at(items, 1), { role: "human" }), /no role "human"/],
	["a key that there is not", (items) => Object.assign(at(items, 1), { id: "msg_1" }), /has no "id"/],
	["an assistant at the end", (items) => items.push({ role: "assistant", content: "x" }), /ends with assistant/],
	["no messages", (items) => items.splice(0), /no messages/],
	["no model", (_, body) => Object.assign(body, { model: "" }), /no model/],
	["an empty list of tools", (_, body) => Object.assign(body, { tools: [] }), /empty list of tools/],
	["two tools of one name", (_, body) => Object.assign(body, { tools: [...(body.tools as Item[]), ...(body.tools as Item[])] }), /same name/],
];
const STRICT: readonly Mistake[] = [
	["a user after a result", (items) => items.splice(5, 0, { role: "user", content: "x" }), /user comes after tool/],
	["two users in a row", (items) => items.push({ role: "user", content: "x" }), /user comes after user/],
	["two assistants in a row", (items) => items.splice(-1, 0, { role: "assistant", content: "x" }), /assistant comes after assistant/],
	["an assistant first", (items) => items.splice(1, 1), /assistant comes after system/],
	["a system prompt in the middle", (items) => items.splice(2, 0, { role: "system", content: "x" }), /system comes after user/],
];
const ANTHROPIC: readonly Mistake[] = [
	["a call without its result", (items) => blocks(items, 2).splice(0, 1), /results of call_1 are not in the next message/],
	["a result of an unknown call", (items) => blocks(items, 2).push({ type: "tool_result", tool_use_id: "call_9", content: "x" }), /call_9 answers no call/],
	["two results of a call", (items) => blocks(items, 2).push({ ...(blocks(items, 2)[0] as Item) }), /two results/],
	["text before a result", (items) => blocks(items, 2).unshift({ type: "text", text: "x" }), /before a result/],
	["text after a call", (items) => blocks(items, 1).push({ type: "text", text: "x" }), /follows a call/],
	["two of a role in a row", (items) => items.push({ role: "user", content: [{ type: "text", text: "x" }] }), /twice in a row/],
	["an assistant first", (items) => items.splice(0, 1), /begins with assistant/],
	["an assistant last", (items) => items.pop(), /ends with assistant/],
	["an open call last", (items) => items.splice(2), /ends before the results/],
	["an empty message", (items) => Object.assign(at(items, 0), { content: [] }), /is empty/],
	["an empty text", (items) => Object.assign(blocks(items, 0)[0] as Item, { text: " \n" }), /text of user is empty/],
	["a space at the end of an assistant's text", (items) => Object.assign(blocks(items, 5)[0] as Item, { text: "x " }), /ends with a space/],
	["an id with a dot", (items) => Object.assign(blocks(items, 1)[1] as Item, { id: "a.b" }), /id of a call is "a.b"/],
	[
		"an id used twice",
		(items) =>
			items.splice(
				-1,
				0,
				...(JSON.parse(JSON.stringify([{ role: "user", content: [{ type: "text", text: "x" }] }, at(items, 3), at(items, 4), at(items, 5)])) as Item[]),
			),
		/used twice/,
	],
	["an input that is text", (items) => Object.assign(blocks(items, 1)[1] as Item, { input: "{}" }), /input of call_1 is no object/],
	["thinking without a signature", (items) => blocks(items, 1).unshift({ type: "thinking", thinking: "x" }), /no signature/],
	["thinking of a user", (items) => blocks(items, 0).unshift({ type: "thinking", thinking: "x", signature: "y" }), /user has thinking/],
	["a fifth cache mark", (items) => items.map((item) => Object.assign((item.content as Item[])[0] as Item, { cache_control: {} })), /cache marks/],
	["no max_tokens", (_, body) => Object.assign(body, { max_tokens: undefined }), /no max_tokens/],
	["a budget for thinking above the limit", (_, body) => Object.assign(body, { thinking: { type: "enabled", budget_tokens: 64_000 } }), /budget for thinking/],
	[
		"thinking in the middle of a call without it",
		(items, body) => Object.assign(body, { messages: items.slice(0, 5), thinking: { type: "enabled", budget_tokens: 2_000 } }),
		/without thinking/,
	],
];
const RESPONSES: readonly Mistake[] = [
	["a call without its output", (items) => without(items, ({ type }) => type === "function_call_output"), /call_1 has no output/],
	["an output without its call", (items) => items.push({ type: "function_call_output", call_id: "call_9", output: "x" }), /call_9 answers no open call/],
	["an output twice", (items) => items.push({ ...find(items, "function_call_output") }), /answers no open call/],
	["an output before its call", (items) => items.unshift(...items.splice(items.indexOf(find(items, "function_call_output")), 1)), /answers no open call/],
	["a call twice", (items) => items.push({ ...find(items, "function_call") }), /used twice/],
	["a call without an id", (items) => Object.assign(find(items, "function_call"), { call_id: "" }), /id of a call is ""/],
	["an id of 65 characters", (items) => Object.assign(find(items, "function_call"), { call_id: "x".repeat(65) }), /id of a call/],
	["arguments that are an object", (items) => Object.assign(find(items, "function_call"), { arguments: {} }), /no text/],
	["reasoning before a user", (items) => items.splice(-1, 0, { type: "reasoning", id: "rs_1", summary: [], encrypted_content: "x" }), /nothing after it/],
	["reasoning at the end", (items) => items.push({ type: "reasoning", id: "rs_1", summary: [], encrypted_content: "x" }), /nothing after it/],
	["reasoning that is only an id", (items) => items.splice(1, 0, { type: "reasoning", id: "rs_1", summary: [] }), /not sealed/],
	["a stored response", (_, body) => Object.assign(body, { previous_response_id: "resp_1" }), /stored response/],
	["a message without a word", (items) => Object.assign(at(items, 0), { content: [{ type: "input_text", text: "" }] }), /has no text/],
	[
		"an assistant at the end",
		(items) => items.push({ type: "message", role: "assistant", content: [{ type: "output_text", text: "x" }] }),
		/ends with assistant/,
	],
	["an item that there is not", (items) => items.push({ type: "thought" }), /no item "thought"/],
];

describe("planted mistakes", () => {
	const all: readonly (readonly [Kind, readonly Mistake[]])[] = [
		["chat", CHAT],
		["bridge", STRICT],
		["anthropic", ANTHROPIC],
		["responses", RESPONSES],
	];
	it.each(all)("are found in %s, by both copies of the rules", (kind, mistakes) => {
		for (const [name, plant, found] of mistakes) {
			const body = bodyOf(kind, requestOf({ messages: CONVERSATION }));
			plant(itemsOf(kind, body), body);
			expect({ name, ours: ours(kind, body) }).toEqual({ name, ours: expect.stringMatching(found) });
			expect({ name, theirs: theirs(kind, body) }).toEqual({ name, theirs: expect.any(String) });
		}
	});

	it("are not sent: the error names the rule and has the sequence in it", async () => {
		for (const format of FORMATS) {
			await using server = await modelServer({ script: [] });
			const { error } = await askAt(server.url, format, {
				request: { messages: [user("private words"), said("", call("call_1"), call("call_2")), result("call_2", "x")] },
			});
			expect(error).toMatchObject({ kind: "wrong", message: expect.stringMatching(/not sent.*call_1.*→/) });
			expect(error?.message).not.toContain("private words");
			expect(server.requests).toEqual([]);
		}
	});
});

describe("random conversations", () => {
	it("make bodies that no rule is broken by, in every format", () => {
		fc.assert(validBodies(), { numRuns: 800, seed: seedOf("conversations") });
	});

	it("are judged alike by both copies of the rules when they are broken at random", () => {
		const judged = { valid: 0, broken: 0 };
		fc.assert(judgedAlike(judged), { numRuns: 3_000, seed: seedOf("broken conversations") });
		expect(Math.min(judged.valid, judged.broken)).toBeGreaterThan(300);
	});
});
