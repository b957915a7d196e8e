/** Bytes, limits, sizes, and what a caller does in the middle. */
import { getEventListeners } from "node:events";
import { describe, expect, it } from "vitest";
import { estimateTokens } from "../../src/model/index.js";
import { streamEvents } from "../../src/model/sse.js";
import { modelServer, type Step } from "../model-server/index.js";
import { askAt, FORMATS, KEY, modelAt, requestOf, streamOf, user } from "./support.js";

async function eventsOf(source: string | Uint8Array, limits: { eventChars?: number; totalBytes?: number } = {}, borders: readonly number[] = []) {
	const response = await streamOf(typeof source === "string" ? Buffer.from(source) : source, borders)("http://endpoint.test");
	const events = [];
	for await (const event of streamEvents(response.body as ReadableStream<Uint8Array>, { stallMs: () => 1_000, ...limits })) events.push(event);
	return events.map(({ event, data, tail }) => [event, data, tail ?? false]);
}

describe("events", () => {
	it("are lines of data, joined, with or without a name; comments and unknown fields are nothing", async () => {
		expect(await eventsOf(": hello\n\nevent: a\ndata: 1\ndata: 2\nid: 7\nretry: 9\nodd: x\n\ndata:3\n\n\n\n")).toEqual([
			["a", "1\n2", false],
			[undefined, "3", false],
		]);
	});

	it("can lack the empty line after the last one", async () => {
		expect(await eventsOf("data: 1\n\ndata: [DO")).toEqual([
			[undefined, "1", false],
			[undefined, "[DO", true],
		]);
	});

	it("have a limit each and together", async () => {
		await expect(eventsOf(`data: ${"x".repeat(200)}`, { eventChars: 100 }, [50, 120])).rejects.toMatchObject({
			kind: "wrong",
			message: expect.stringContaining("more than 100 characters"),
		});
		await expect(eventsOf("data: x\n\n".repeat(100), { totalBytes: 500 }, [400, 600])).rejects.toMatchObject({
			kind: "wrong",
			message: expect.stringContaining("more than 500 bytes"),
		});
	});

	it("have U+FFFD for bytes that are no UTF-8", async () => {
		expect(await eventsOf(Buffer.concat([Buffer.from("data: a"), Buffer.from([0xc3, 0x28]), Buffer.from("\n\n")]))).toEqual([[undefined, "a\ufffd(", false]]);
	});
});

describe("a caller", () => {
	it.each(FORMATS)("that stops reading closes the connection, over %s", async (format) => {
		const stalls: Step = { text: "word ".repeat(50), pause: { at: "text", until: new Promise(() => {}) } };
		await using server = await modelServer({ script: [stalls] });
		const run = modelAt(server.url, format).ask(requestOf(), new AbortController().signal);
		expect((await run.next()).value).toMatchObject({ type: "text" });
		await run.return(undefined as never);
		await server.idle();
	});

	it("that stops leaves no listener on its signal", async () => {
		await using server = await modelServer({ script: () => "fine" });
		const { signal } = new AbortController();
		for (let round = 0; round < 3; round++) await askAt(server.url, "chat", { signal });
		expect(getEventListeners(signal, "abort")).toEqual([]);
	});
});

describe("a stream that is odd and whole", () => {
	it("is read with comments, CRLF, borders after every third byte, without `[DONE]`, without indexes", async () => {
		for (const format of FORMATS) {
			const wire = { crlf: true, comments: true, bytes: 3, noDone: true, noIndex: true };
			const made = [1, 2].map((n) => ({ name: "terminal", args: { command: `ä${n}🙂` } }));
			await using server = await modelServer({
				script: [
					{ reasoning: "ü", text: "ö🙂", calls: made, wire },
					{ calls: made, wire: { sameIndex: true } },
				],
			});
			for (const text of ["ö🙂", ""]) {
				const { answer, error } = await askAt(server.url, format);
				expect({ error, text: answer?.text, args: answer?.calls.map(({ args }) => args) }).toEqual({
					error: undefined,
					text,
					args: ['{"command":"ä1🙂"}', '{"command":"ä2🙂"}'],
				});
			}
		}
	});

	it("may have an event that is no JSON only if it is its end", async () => {
		const fetch = streamOf(Buffer.from('data: {"choices":[{"index":0,"delta":{"content":"x"}}]}\n\ndata: oops\n\n'));
		expect((await askAt("http://endpoint.test/v1", "chat", { fetch })).error).toMatchObject({
			kind: "wrong",
			message: expect.stringContaining("no JSON: oops"),
		});
	});

	it("goes by the first finish, and fails with the finish `error`", async () => {
		const chunk = (delta: object, finish: string | null) => `data: ${JSON.stringify({ choices: [{ index: 0, delta, finish_reason: finish }] })}\n\n`;
		const ask = async (...chunks: string[]) => askAt("http://endpoint.test/v1", "chat", { fetch: streamOf(Buffer.from(chunks.join(""))) });
		const half = { tool_calls: [{ index: 0, id: "call_1", function: { name: "terminal", arguments: '{"command":"rm -rf bu' } }] };
		expect((await ask(chunk(half, "length"), chunk({}, "tool_calls"))).answer).toMatchObject({ stop: "length", cutCall: true, calls: [] });
		expect((await ask(chunk({ content: "So" }, null), chunk({}, "error"))).error).toMatchObject({ kind: "again", details: { text: "So" } });
		expect((await ask("data: [DONE]\n\n")).error).toMatchObject({ kind: "cut" });
	});

	it("waits a short while for the usage after a finish, and does without", async () => {
		await using server = await modelServer({ script: [{ text: "whole", fault: { kind: "stall", at: "finish" } }] });
		expect((await askAt(server.url, "chat", { stallMs: 50 })).answer).toMatchObject({ text: "whole", usage: { estimated: true } });
	});

	it("is not whole at message_stop without a reason, with an open block, or with another message in the middle", async () => {
		const start = { type: "message_start", message: { model: "m", usage: { input_tokens: 1, output_tokens: 1 } } };
		const open = (index: number) => ({ type: "content_block_start", index, content_block: { type: "tool_use", id: `t${index}`, name: "terminal", input: {} } });
		const close = (index: number) => ({ type: "content_block_stop", index });
		const reason = { type: "message_delta", delta: { stop_reason: "tool_use" }, usage: { output_tokens: 2 } };
		const stop = { type: "message_stop" };
		const ask = async (...events: object[]) => {
			const body = events.map((data) => `data: ${JSON.stringify(data)}\n\n`).join("");
			return askAt("http://endpoint.test/v1", "anthropic", { fetch: streamOf(Buffer.from(body)) });
		};
		expect((await ask(start, open(0), close(0), reason, stop)).answer?.calls.length).toBe(1);
		for (const broken of [
			[start, open(0), close(0), stop],
			[start, open(0), reason, stop],
			[start, open(0), close(0), start, open(1), close(1), reason, stop],
		])
			expect((await ask(...broken)).error).toMatchObject({ kind: "cut" });
		expect((await ask(start, open(0), open(0), close(0), reason, stop)).error).toMatchObject({ kind: "wrong" });
		expect((await ask(start, close(0), reason, stop)).error).toMatchObject({ kind: "wrong" });
	});
});

it("is not whole at response.completed while an item of it is open", async () => {
	const call = { type: "function_call", id: "fc_1", call_id: "call_1", name: "terminal", arguments: '{"command":"ls"}', status: "completed" };
	const added = { type: "response.output_item.added", output_index: 0, item: { ...call, arguments: "", status: "in_progress" } };
	const done = { type: "response.output_item.done", output_index: 0, item: call };
	const end = (status: string, why?: string) => ({
		type: `response.${status}`,
		response: { status, model: "m", ...(why ? { incomplete_details: { reason: why } } : {}) },
	});
	const ask = async (...events: object[]) => {
		const body = events.map((data) => `data: ${JSON.stringify(data)}\n\n`).join("");
		return askAt("http://endpoint.test/v1", "responses", { fetch: streamOf(Buffer.from(body)) });
	};
	expect((await ask(added, done, end("completed"))).answer?.calls.length).toBe(1);
	expect((await ask(added, end("completed"))).error).toMatchObject({ kind: "cut" });
	expect((await ask(added, end("incomplete", "max_output_tokens"))).answer).toMatchObject({ stop: "length", cutCall: true, calls: [] });
	expect((await ask(added, done, end("failed"))).error).toMatchObject({ kind: "again" });
	expect((await ask(added, done, end("completed", "content_filter"))).error).toMatchObject({ kind: "refused" });
});

describe("tokens and money", () => {
	it("are taken from the endpoint, or from its prices", async () => {
		await using server = await modelServer({ script: () => ({ text: "x", usage: { input: 1_000, output: 100, cached: 400 } }) });
		const listed = { prices: { input: 0.001, output: 0.01, cached: 0.0001 } };
		for (const format of FORMATS) {
			const { answer } = await askAt(server.url, format, { listed });
			expect(answer?.usage).toMatchObject({ input: 1_000, output: 100, cached: 400 });
			expect(answer?.usage?.cost).toBeCloseTo(600 * 0.001 + 400 * 0.0001 + 100 * 0.01);
		}
		await using told = await modelServer({ script: () => ({ text: "x", usage: { input: 1_000, output: 100, cost: 0.5 } }) });
		expect((await askAt(told.url, "chat", { listed })).answer?.usage?.cost).toBe(0.5);
		expect((await askAt(server.url, "chat")).answer?.usage?.cost).toBeUndefined();
	});

	it("are estimated from the last usage and what came since", () => {
		const request = requestOf({ messages: [user("x".repeat(3_500)), user("y".repeat(350))], system: "", tools: [] });
		expect(estimateTokens(request)).toBeGreaterThanOrEqual(1_100);
		const since = estimateTokens(request, { usage: { input: 500, output: 50 }, messages: 1 });
		expect(since).toBeGreaterThanOrEqual(650);
		expect(since).toBeLessThan(660);
	});

	it("have a window from the settings, else from the endpoint, else the usual", () => {
		const window = (options: Parameters<typeof modelAt>[2]) => modelAt("http://endpoint.test/v1", "chat", options).window;
		expect(window({})).toEqual({ tokens: 32_768, from: "default" });
		expect(window({ listed: { window: 8_000 } })).toEqual({ tokens: 8_000, from: "endpoint" });
		expect(window({ listed: { window: 8_000 }, endpoint: { window: 9_000 } })).toEqual({ tokens: 9_000, from: "config" });
		expect(window({ endpoint: { window: 9_000, models: { m: { window: 10_000 } } } })).toEqual({ tokens: 10_000, from: "config" });
		expect(window({ window: 11_000, endpoint: { window: 9_000 } })).toEqual({ tokens: 11_000, from: "config" });
	});
});

it("keeps the key out of the request that a fetch of one's own sees, but for its header", async () => {
	let seen: RequestInit | undefined;
	const fetch: typeof globalThis.fetch = async (_, init) => {
		seen = init;
		return new Response("", { status: 400 });
	};
	await askAt("http://endpoint.test/v1", "chat", { fetch });
	expect(JSON.stringify({ ...seen, headers: undefined })).not.toContain(KEY);
	expect(seen?.headers).toMatchObject({ authorization: `Bearer ${KEY}` });
});
