/** Conversations at random, and small changes to the bodies that are made of them. */
import fc from "fast-check";
import { expect } from "vitest";
import { brokenRule } from "../../src/model/check.js";
import { flagsOf } from "../../src/model/endpoints.js";
import type { Message, ModelRequest, WireFormat } from "../../src/model/index.js";
import { WIRES } from "../../src/model/open.js";
import { anthropicBreaks } from "../model-server/rules-anthropic.js";
import { chatBreaks } from "../model-server/rules-chat.js";
import { responsesBreaks } from "../model-server/rules-responses.js";
import { requestOf, result, user } from "./support.js";

export type Body = Record<string, unknown>;
export type Item = Record<string, unknown>;

export const KINDS = ["chat", "bridge", "responses", "anthropic"] as const;
export type Kind = (typeof KINDS)[number];
const formatOf = (kind: Kind): WireFormat => (kind === "bridge" ? "chat" : kind);

export function bodyOf(kind: Kind, request: ModelRequest): Body {
	const flags = flagsOf({ url: "http://endpoint.test/v1", format: formatOf(kind), bridge: kind === "bridge" });
	const body = WIRES[formatOf(kind)].body(request, { model: "m", from: FROM, flags });
	return JSON.parse(JSON.stringify(body)) as Body;
}

export const ours = (kind: Kind, body: Body) => brokenRule(formatOf(kind), body, { bridge: kind === "bridge" });
export const theirs = (kind: Kind, body: Body) => {
	if (kind === "anthropic") return anthropicBreaks(body);
	return kind === "responses" ? responsesBreaks(body) : chatBreaks(body, { strict: kind === "bridge", longIds: new Set() });
};
export const itemsOf = (kind: Kind, body: Body) => (kind === "responses" ? body.input : body.messages) as Item[];

const FROM = "the endpoint and the model";
/** Conversations as a log can have them: answers with all their results, users anywhere between. */
const word = fc.constantFrom("a", "Go on. ", "", "  ", "ä🙂", "\ud83d half");
const args = fc.constantFrom("{}", '{"command":"ls"}', "{broken", "", "null", "[1]", '"{}"');
const oddId = fc.constantFrom("call_x", "toolu_01", "functions.terminal:0", "y".repeat(450), "ü", "a b");
const name = fc.constantFrom("terminal", "terminal", "a b", "名前", "n".repeat(100));
const reasoning = fc.constantFrom(
	{ text: "r", format: "chat" as const, from: FROM, data: { field: "reasoning" } },
	{ text: "r", format: "chat" as const, from: "another", data: { field: "reasoning_content" } },
	{ text: "r", format: "anthropic" as const, from: FROM, data: { block: { type: "thinking", thinking: "r", signature: "s" }, at: 1 } },
	{
		text: "",
		format: "responses" as const,
		from: FROM,
		data: { item: { type: "reasoning", id: "rs", summary: [], encrypted_content: "e" }, text: 1, calls: 1 },
	},
	{
		text: "",
		format: "responses" as const,
		from: FROM,
		data: { item: { type: "reasoning", id: "rs", summary: [], encrypted_content: "e" }, text: 0, calls: 0 },
	},
	{ text: "r", format: "responses" as const, from: FROM },
);
const turn = fc.oneof(
	fc.record({ t: fc.constant("user" as const), text: word }),
	fc.record({
		t: fc.constant("assistant" as const),
		text: word,
		made: fc.array(fc.record({ args, name, id: oddId, own: fc.boolean() }), { maxLength: 3 }),
		reasoning: fc.array(reasoning, { maxLength: 2 }),
	}),
);
const conversation = fc.array(turn, { maxLength: 8 }).map((turns) => {
	const messages: Message[] = [];
	let n = 0;
	for (const one of turns) {
		if (one.t === "user") messages.push(user(one.text));
		else {
			const made = one.made.map(({ args: text, name: called, id, own }) => ({
				id: `${id}${n++}`,
				name: called,
				args: text,
				...(own ? { wire: { from: FROM, id: `own_${n}` } } : {}),
			}));
			messages.push({ role: "assistant", text: one.text, reasoning: one.reasoning, calls: made, model: "m" }, ...made.map(({ id }) => result(id, "x")));
		}
	}
	return [...messages, user("last")];
});

/** Small changes of a body, each of which may or may not break it. */
const change = fc.record({
	what: fc.constantFrom("drop", "double", "swap", "role", "empty", "id", "call", "blocks", "cut", "type"),
	where: fc.nat(40),
	other: fc.nat(40),
});

function apply(items: Item[], { what, where, other }: { what: string; where: number; other: number }): void {
	if (items.length === 0) return;
	const i = where % items.length;
	const k = other % items.length;
	const item = at(items, i);
	const inner = (Array.isArray(item.tool_calls) ? item.tool_calls : Array.isArray(item.content) ? item.content : []) as Item[];
	const one = inner[other % Math.max(1, inner.length)];
	if (what === "drop") items.splice(i, 1);
	if (what === "double") items.splice(k, 0, JSON.parse(JSON.stringify(item)) as Item);
	if (what === "swap") [items[i], items[k]] = [at(items, k), item];
	if (what === "role" && "role" in item) item.role = ["user", "assistant", "system", "tool"][other % 4];
	if (what === "empty" && "content" in item) item.content = Array.isArray(item.content) ? [] : other % 2 === 0 ? "" : null;
	if (what === "id") for (const key of ["call_id", "tool_call_id"]) if (key in item) item[key] = ["", "x".repeat(65), "call_x0", "."][other % 4];
	if (what === "id" && one) for (const key of ["id", "tool_use_id"]) if (key in one) one[key] = ["", "x".repeat(65), "call_x0", "."][where % 4];
	if (what === "call" && one?.function)
		one.function = [
			{ name: "terminal", arguments: "[]" },
			{ name: "a b", arguments: "{}" },
			{ name: "terminal", arguments: {} },
		][where % 3];
	if (what === "call" && item.type === "function_call") Object.assign(item, [{ name: "" }, { arguments: null }, { arguments: "broken" }][other % 3]);
	if (what === "blocks" && inner.length > 1) inner.reverse();
	if (what === "cut") items.splice(i + 1);
	if (what === "type" && one?.type === "text") one.text = ["", " ", "x ", "x"][where % 4];
	if (what === "type" && one?.type === "tool_use") one.input = [null, [], "x", {}][where % 4];
}

const at = (items: Item[], index: number): Item => items[index] as Item;

/** Whatever a log can be makes a body that breaks no rule. */
export const validBodies = () =>
	fc.property(conversation, fc.constantFrom(...KINDS), (messages, kind) => {
		const body = bodyOf(kind, requestOf({ messages }));
		const broken = ours(kind, body) ?? theirs(kind, body);
		if (broken !== undefined) expect.fail(JSON.stringify({ kind, broken, items: itemsOf(kind, body) }));
	});

/** Whatever is broken is broken for both copies of the rules. */
export const judgedAlike = (judged: { valid: number; broken: number }) =>
	fc.property(conversation, fc.constantFrom(...KINDS), fc.array(change, { minLength: 1, maxLength: 3 }), (messages, kind, changes) => {
		const body = bodyOf(kind, requestOf({ messages }));
		const items = itemsOf(kind, body);
		for (const one of changes) apply(items, one);
		const [a, b] = [ours(kind, body), theirs(kind, body)];
		judged[a === undefined ? "valid" : "broken"]++;
		if ((a === undefined) !== (b === undefined)) expect.fail(JSON.stringify({ kind, ours: a, theirs: b, items }));
	});
