/** What goes on the wire: bodies in three formats, and what endpoints want differently. */
import { describe, expect, it } from "vitest";
import type { Message, ModelCall, Reasoning } from "../../src/model/index.js";
import { fails, modelServer, type SeenRequest, type Step } from "../model-server/index.js";
import { type AskOptions, askAt, FORMATS, KEY, modelAt, requestOf, result, TERMINAL, user } from "./support.js";

type Part = Record<string, unknown>;
const said = (text: string, calls: readonly ModelCall[] = [], reasoning: readonly Reasoning[] = []): Message => ({
	role: "assistant",
	text,
	calls,
	reasoning,
	model: "m",
});
const call = (id: string, args = "{}"): ModelCall => ({ id, name: "terminal", args });

/** The body of one request. */
async function sent(format: (typeof FORMATS)[number], messages: readonly Message[], options: AskOptions = {}): Promise<Record<string, unknown>> {
	await using server = await modelServer({ script: ["ok"] });
	const { error } = await askAt(server.url, format, { ...options, request: { ...options.request, messages } });
	if (error) throw error;
	return server.requests[0]?.body ?? {};
}

describe("a small conversation", () => {
	const messages = [
		user("Look."),
		said("I'll look. ", [call("call_1", '{"command":"ls"}'), call("call_2", "{broken")]),
		result("call_1", "a"),
		{ ...result("call_2", "no JSON"), failed: true } as Message,
		user("Well?"),
	];

	it("is this in chat completions", async () => {
		expect(await sent("chat", messages)).toEqual({
			model: "m",
			stream: true,
			stream_options: { include_usage: true },
			tools: [{ type: "function", function: { name: "terminal", description: "Runs a command.", parameters: TERMINAL.schema } }],
			messages: [
				{ role: "system", content: "Be brief." },
				{ role: "user", content: "Look." },
				{
					role: "assistant",
					content: "I'll look. ",
					tool_calls: [
						{ id: "call_1", type: "function", function: { name: "terminal", arguments: '{"command":"ls"}' } },
						{ id: "call_2", type: "function", function: { name: "terminal", arguments: "{}" } },
					],
				},
				{ role: "tool", tool_call_id: "call_1", content: "a" },
				{ role: "tool", tool_call_id: "call_2", content: "no JSON" },
				{ role: "user", content: "Well?" },
			],
		});
	});

	it("is this in responses", async () => {
		expect(await sent("responses", messages)).toEqual({
			model: "m",
			stream: true,
			store: false,
			include: ["reasoning.encrypted_content"],
			instructions: "Be brief.",
			tools: [{ type: "function", name: "terminal", description: "Runs a command.", parameters: TERMINAL.schema, strict: false }],
			input: [
				{ type: "message", role: "user", content: [{ type: "input_text", text: "Look." }] },
				{ type: "message", role: "assistant", content: [{ type: "output_text", text: "I'll look. " }] },
				{ type: "function_call", call_id: "call_1", name: "terminal", arguments: '{"command":"ls"}' },
				{ type: "function_call", call_id: "call_2", name: "terminal", arguments: "{}" },
				{ type: "function_call_output", call_id: "call_1", output: "a" },
				{ type: "function_call_output", call_id: "call_2", output: "no JSON" },
				{ type: "message", role: "user", content: [{ type: "input_text", text: "Well?" }] },
			],
		});
	});

	it("is this in Anthropic messages, with four marks for the cache", async () => {
		const cache_control = { type: "ephemeral" };
		expect(await sent("anthropic", messages)).toEqual({
			model: "m",
			max_tokens: 32_000,
			stream: true,
			system: [{ type: "text", text: "Be brief.", cache_control }],
			tools: [{ name: "terminal", description: "Runs a command.", input_schema: TERMINAL.schema, cache_control }],
			messages: [
				{ role: "user", content: [{ type: "text", text: "Look.", cache_control }] },
				{
					role: "assistant",
					content: [
						{ type: "text", text: "I'll look." },
						{ type: "tool_use", id: "call_1", name: "terminal", input: { command: "ls" } },
						{ type: "tool_use", id: "call_2", name: "terminal", input: {} },
					],
				},
				{
					role: "user",
					content: [
						{ type: "tool_result", tool_use_id: "call_1", content: "a" },
						{ type: "tool_result", tool_use_id: "call_2", content: "no JSON", is_error: true },
						{ type: "text", text: "Well?", cache_control },
					],
				},
			],
		});
	});
});

describe("reasoning", () => {
	const block = (text: string, at: number) => ({
		text,
		format: "anthropic" as const,
		data: { block: { type: "thinking", thinking: text, signature: `sig ${text}` }, at },
	});

	it("stands between the texts where it stood, unchanged (Anthropic)", async () => {
		const body = await sent("anthropic", [user("x"), said("one two", [call("call_1")], [block("A", 0), block("B", 4)]), result("call_1", "y")]);
		expect((body.messages as Part[])[1]?.content).toEqual([
			{ type: "thinking", thinking: "A", signature: "sig A" },
			{ type: "text", text: "one" },
			{ type: "thinking", thinking: "B", signature: "sig B" },
			{ type: "text", text: "two" },
			{ type: "tool_use", id: "call_1", name: "terminal", input: {} },
		]);
	});

	it("stands directly before what it led to, and is left out with it (responses)", async () => {
		const item = (id: string) => ({ type: "reasoning", id, summary: [], encrypted_content: "e" });
		const sealed = (id: string, text: number, calls: number): Reasoning => ({ text: "", format: "responses", data: { item: item(id), text, calls } });
		const first = said("one", [call("call_1"), call("call_2")], [sealed("rs_1", 0, 0), sealed("rs_2", 3, 0), sealed("rs_3", 3, 1), sealed("rs_4", 3, 2)]);
		const body = await sent("responses", [user("x"), first, result("call_1", "y"), result("call_2", "y")]);
		expect((body.input as Part[]).slice(1, 7).map((one) => one.id ?? one.call_id ?? one.type)).toEqual(["rs_1", "message", "rs_2", "call_1", "rs_3", "call_2"]);
		expect(JSON.stringify(body)).not.toContain("rs_4");
	});

	it("goes back under the name that it came with (chat)", async () => {
		for (const field of ["reasoning", "reasoning_content", "reasoning_text"]) {
			const body = await sent("chat", [user("x"), said("", [call("call_1")], [{ text: "Hm.", format: "chat", data: { field } }]), result("call_1", "y")]);
			expect((body.messages as Part[])[2]).toMatchObject({ role: "assistant", [field]: "Hm." });
		}
	});

	it("of which nobody knows the endpoint goes back to the model of its message, and to no other", async () => {
		const messages = [user("x"), said("one", [], [block("A", 0)]), user("y")];
		expect(JSON.stringify(await sent("anthropic", messages))).toContain("sig A");
		expect(JSON.stringify(await sent("anthropic", messages, { model: "other" }))).not.toContain("sig A");
	});

	it("is asked for as each format writes it", async () => {
		expect(await sent("chat", [user("x")], { reasoning: "high" })).toMatchObject({ reasoning_effort: "high" });
		expect(await sent("responses", [user("x")], { reasoning: "low" })).toMatchObject({ reasoning: { effort: "low", summary: "auto" } });
		expect(await sent("anthropic", [user("x")], { reasoning: "low", model: "claude-sonnet-4-5" })).toMatchObject({
			thinking: { type: "enabled", budget_tokens: 4096 },
		});
		for (const model of ["claude-opus-4-6", "claude-opus-4.7", "claude-sonnet-5", "mythos"]) {
			const body = await sent("anthropic", [user("x")], { reasoning: "medium", model });
			expect(body).toMatchObject({ model, thinking: { type: "adaptive" }, output_config: { effort: "medium" } });
		}
		for (const model of ["claude-3-7-sonnet-20250219", "claude-opus-4-20250514", "claude-haiku-4-5-20251001"])
			expect(await sent("anthropic", [user("x")], { reasoning: "high", model, maxTokens: 8_000 })).toMatchObject({
				thinking: { type: "enabled", budget_tokens: 6_976 },
			});
	});

	it("is not asked for in the middle of calls that were made without it (Anthropic, with a budget)", async () => {
		const options = { reasoning: "low" as const, model: "claude-sonnet-4-5" };
		expect(await sent("anthropic", [user("x"), said("", [call("call_1")]), result("call_1", "y")], options)).not.toHaveProperty("thinking");
		expect(await sent("anthropic", [user("x"), said("done"), user("z")], options)).toHaveProperty("thinking");
	});
});

describe("odd content", () => {
	it("has no half of a surrogate pair in it", async () => {
		for (const format of FORMATS) {
			const body = JSON.stringify(
				await sent(format, [user("cut \ud83d"), said("\ude42 cut", [call("call_1", '{"command":"\\ud83d"}')]), result("call_1", "whole 🙂, half \ud83d")]),
			);
			expect(body).toContain("whole 🙂, half \ufffd");
			expect(body).not.toMatch(/[^\\]\\ud83d/); // a JSON escape of one, outside of arguments that are text themselves
		}
	});

	it("has a word for a message without one, and skips an answer that says nothing", async () => {
		for (const format of FORMATS) expect(JSON.stringify(await sent(format, [user("  "), said(""), user("x")]))).toContain("(empty message)");
	});

	it("begins with a user, where the format wants that", async () => {
		const body = await sent("anthropic", [said("I was here."), user("x")]);
		expect((body.messages as Part[])[0]).toMatchObject({ role: "user", content: [{ text: "(continued)" }] });
	});

	it("leaves out the system prompt and the tools if there are none", async () => {
		for (const format of FORMATS) {
			const body = await sent(format, [user("x")], { request: { system: "", tools: [] } });
			for (const key of ["tools", "system", "instructions"]) expect(body).not.toHaveProperty(key);
		}
	});
});

describe("what endpoints want differently", () => {
	it("bridges results and users for strict templates", async () => {
		await using server = await modelServer({ strict: true, script: ["ok"] });
		const messages = [
			user("x"),
			said("", [call("call_1")]),
			result("call_1", "y"),
			user("a"),
			user("b"),
			said("half"),
			said("", [call("call_2")]),
			result("call_2", "z"),
			user("c"),
		];
		expect((await askAt(server.url, "chat", { endpoint: { bridge: true }, request: { messages } })).answer?.text).toBe("ok");
		expect(((server.requests[0]?.body.messages ?? []) as Part[]).map(({ role, content }) => [role, content])).toEqual([
			["system", "Be brief."],
			["user", "x"],
			["assistant", null],
			["tool", "y"],
			["assistant", "(interrupted)"],
			["user", "a\n\nb"],
			["assistant", "half"],
			["tool", "z"],
			["assistant", "(interrupted)"],
			["user", "c"],
		]);
	});

	it("rewrites ids for the endpoint that wants nine characters, the same ones each time", async () => {
		await using server = await modelServer({ script: ["one", "two"] });
		const messages = [
			user("x"),
			said("", [call("call_1"), call("functions.terminal:0"), call("abcdefghi")]),
			...["call_1", "functions.terminal:0", "abcdefghi"].map((id) => result(id, "y")),
		];
		const mistral = { fetch: ((_: unknown, init: RequestInit) => fetch(`${server.url}/chat/completions`, init)) as typeof fetch, request: { messages } };
		for (const _ of ["one", "two"]) await askAt("https://api.mistral.ai/v1", "chat", mistral);
		const [first, second] = server.requests.map(({ body }) =>
			(body.messages as Part[]).filter(({ role }) => role === "tool").map(({ tool_call_id }) => String(tool_call_id)),
		);
		expect(first).toEqual(second);
		expect(first?.every((id) => /^[a-zA-Z0-9]{9}$/.test(id))).toBe(true);
		expect(first?.[2]).toBe("abcdefghi");
		expect(server.requests[0]?.body).not.toHaveProperty("stream_options");
	});

	it("has the fields that OpenAI and OpenRouter want", async () => {
		await using server = await modelServer({ script: ["one", "two"] });
		const through = ((_: unknown, init: RequestInit) => fetch(`${server.url}/chat/completions`, init)) as typeof fetch;
		await askAt("https://api.openai.com/v1", "chat", { fetch: through, maxTokens: 100 });
		await askAt("https://openrouter.ai/api/v1", "chat", { fetch: through, maxTokens: 100, reasoning: "low" });
		expect(server.requests[0]?.body).toMatchObject({ max_completion_tokens: 100, messages: [{ role: "developer" }, {}] });
		expect(server.requests[1]?.body).toMatchObject({ max_tokens: 100, reasoning: { effort: "low" }, messages: [{ role: "system" }, {}] });
	});

	it("marks what a router to Anthropic may cache, and only there", async () => {
		await using server = await modelServer({ script: ["one", "two"] });
		const through = ((_: unknown, init: RequestInit) => fetch(`${server.url}/chat/completions`, init)) as typeof fetch;
		const messages = [user("a"), said("b"), user("c"), said("", [call("call_1")]), result("call_1", "d"), user("e")];
		for (const model of ["anthropic/claude-x", "openai/gpt-x"])
			await askAt("https://openrouter.ai/api/v1", "chat", { fetch: through, model, request: { messages } });
		const marked = server.requests.map(({ body }) =>
			(body.messages as Part[]).map(({ role, content }) => (Array.isArray(content) ? `${role} ${content[0].text}` : undefined)),
		);
		expect(marked[0]?.filter(Boolean)).toEqual(["system Be brief.", "user c", "user e"]);
		expect(marked[1]?.filter(Boolean)).toEqual([]);
	});

	it("gives Anthropic its own header alone", async () => {
		const seen: Record<string, unknown>[] = [];
		const fetch: typeof globalThis.fetch = async (_, init) => {
			seen.push(init?.headers as Record<string, unknown>);
			return new Response("", { status: 400 });
		};
		await askAt("https://api.anthropic.com/v1", "anthropic", { fetch });
		expect(seen).toEqual([{ "content-type": "application/json", "anthropic-version": "2023-06-01", "x-api-key": KEY }]);
	});

	it("sends headers of the settings, and those of the caller over them", async () => {
		await using server = await modelServer({ script: ["ok"] });
		await askAt(server.url, "chat", { endpoint: { headers: { "x-one": "1", "x-two": "1" } }, headers: { "x-two": "2" } });
		expect(server.requests[0]?.headers).toMatchObject({ "x-one": "1", "x-two": "2" });
	});

	const refusals: readonly (readonly [format: (typeof FORMATS)[number], refuses: (request: SeenRequest) => string | undefined])[] = [
		[
			"chat",
			({ body }) =>
				"max_tokens" in body ? "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead." : undefined,
		],
		["chat", ({ body }) => ("stream_options" in body ? "Extra inputs are not permitted: stream_options" : undefined)],
		["chat", ({ body }) => ("reasoning_effort" in body ? "Unrecognized request argument supplied: reasoning_effort" : undefined)],
		[
			"chat",
			({ results }) => (results.some(({ id }) => id.length !== 9) ? "Tool call id was call_1 but must be a-z, A-Z, 0-9, with a length of 9." : undefined),
		],
		["responses", ({ body }) => ("include" in body ? "Encrypted content is not supported with this model." : undefined)],
		["responses", ({ body }) => ("summary" in (body.reasoning as Part) ? "Your organization must be verified to generate reasoning summaries." : undefined)],
		[
			"anthropic",
			({ body }) => (Number(body.max_tokens) > 4096 ? "max_tokens: 32000 > 4096, which is the maximum allowed number of output tokens for m" : undefined),
		],
	];
	it.each(refusals)("learns from a refusal, and keeps it in mind (%s: %s)", async (format, refuses) => {
		const script = (request: SeenRequest): Step | string => {
			const message = refuses(request);
			return message === undefined ? "ok" : fails(400, { message, type: "invalid_request_error" });
		};
		await using server = await modelServer({ script });
		const model = modelAt(server.url, format, { reasoning: "low", model: "claude-m", maxTokens: format === "anthropic" ? undefined : 100 });
		const messages = [user("x"), said("", [call("call_1")]), result("call_1", "y")];
		for (const expected of [2, 3]) {
			const run = model.ask(requestOf({ messages }), new AbortController().signal);
			const pieces = [];
			for (let next = await run.next(); ; next = await run.next()) {
				if (next.done) {
					expect(next.value.text).toBe("ok");
					break;
				}
				pieces.push(next.value.type);
			}
			expect(pieces).not.toContain("retry");
			expect(server.requests.length).toBe(expected);
		}
	});

	it("does not ask for ever: a refusal that stays is an error", async () => {
		await using server = await modelServer({ script: () => fails(400, { message: "Unknown parameter: stream_options" }) });
		expect((await askAt(server.url, "chat")).error?.kind).toBe("wrong");
		expect(server.requests.length).toBe(2);
	});
});
