/** What kind of failure it is, from what providers write; and what a person reads. */
import { describe, expect, it } from "vitest";
import { responseError } from "../../src/model/errors.js";
import { bodyDelay, headerDelay } from "../../src/model/retry-after.js";
import { fails, modelServer, OVERFLOWS } from "../model-server/index.js";
import { askAt, FORMATS } from "./support.js";

it("knows a request that is too long in the words of every provider, and does not make it again", async () => {
	expect(Object.keys(OVERFLOWS).length).toBeGreaterThanOrEqual(20);
	for (const format of FORMATS) {
		await using server = await modelServer({ script: Object.values(OVERFLOWS) });
		for (const provider of Object.keys(OVERFLOWS)) {
			const { error, waits } = await askAt(server.url, format);
			expect({ provider, kind: error?.kind, waits }).toEqual({ provider, kind: "too_long", waits: [] });
		}
	}
});

const kindOf = (status: number, body: string, more: { headers?: Record<string, string>; long?: boolean } = {}) =>
	responseError({ host: "api.test", status, headers: new Headers(more.headers), body, now: 0, long: more.long ?? false });
const openai = (message: string, code?: string, type = "invalid_request_error") => JSON.stringify({ error: { message, type, code } });

describe("kinds", () => {
	it.each([
		["key", 401, openai("Incorrect API key provided", "invalid_api_key")],
		["key", 403, openai("You are not allowed to sample from this model")],
		["key", 402, openai("Payment Required")],
		["key", 429, openai("You exceeded your current quota, please check your plan and billing details.", "insufficient_quota", "insufficient_quota")],
		["key", 400, openai("Your credit balance is too low to access the Anthropic API.")],
		["refused", 400, openai("The response was filtered due to the prompt triggering Azure OpenAI's content management policy.", "content_filter")],
		["refused", 403, JSON.stringify({ error: { code: 403, message: "Your chosen model requires moderation and your input was flagged for x" } })],
		[
			"later",
			429,
			openai(
				"Rate limit reached for gpt-x on tokens per min (TPM): Limit 30000, Used 29000, Requested 2000. Please try again in 2.1s.",
				"rate_limit_exceeded",
				"tokens",
			),
		],
		["later", 429, JSON.stringify({ message: "Too many tokens, please wait before trying again." })],
		[
			"later",
			429,
			JSON.stringify({ type: "error", error: { type: "rate_limit_error", message: "Number of input tokens has exceeded your per-minute rate limit" } }),
		],
		["later", 429, openai("Your request rate exceeds the limit of 60 requests per minute")],
		["again", 500, ""],
		["again", 503, openai("The server is overloaded")],
		["again", 529, JSON.stringify({ type: "error", error: { type: "overloaded_error", message: "Overloaded" } })],
		["wrong", 501, ""],
		["wrong", 400, openai("Unknown parameter: 'x'")],
		["wrong", 404, openai("The model `x` does not exist", "model_not_found")],
		["wrong", 400, ""],
	] as const)("are told apart: %s for %i %s", (kind, status, body) => {
		expect(kindOf(status, body).kind).toBe(kind);
	});

	it("takes 400 without a word for too long only if the request is long", () => {
		expect(kindOf(400, "", { long: true }).kind).toBe("too_long");
	});

	it("takes a quota for a rate limit if it says how long it lasts", () => {
		const body = JSON.stringify([
			{ error: { code: 429, message: "You exceeded your current quota", details: [{ "@type": "RetryInfo", retryDelay: "17.5s" }] } },
		]);
		expect(kindOf(429, body)).toMatchObject({ kind: "later", details: { retryAfterMs: 17_500 } });
	});
});

describe("words", () => {
	it("says who answered what, and what to do", () => {
		expect(kindOf(401, openai("Incorrect API key")).message).toBe("api.test answered 401: Incorrect API key; check the key with `holdfast-agent setup key`");
		expect(kindOf(404, openai("no such model")).message).toContain("check the address and the name of the model");
		expect(kindOf(402, "").message).toContain("no credit left");
	});

	it("has the title of a page, one line of everything else, and never more than a few hundred characters", () => {
		expect(kindOf(502, "<html><head><title>502 Bad Gateway</title>").message).toBe('api.test answered 502: a web page, "502 Bad Gateway"');
		expect(kindOf(500, "a\n\u001b[31mb\0c").message).toBe("api.test answered 500: a [31mb c");
		expect(kindOf(500, openai("x".repeat(100_000))).message.length).toBeLessThan(700);
	});

	it("finds the sentence in every shape of a body", () => {
		const shapes = [
			{ error: "it" },
			{ message: "it" },
			{ detail: "it" },
			{ detail: [{ msg: "it" }] },
			{ errors: [{ message: "it" }] },
			{ error: { error: "it" } },
			[{ error: { message: "it" } }],
		];
		for (const shape of shapes) expect(kindOf(400, JSON.stringify(shape)).message).toBe("api.test answered 400: it");
		for (const odd of ["null", "[]", "3", '"it"', "{}"]) expect(kindOf(400, odd).message).toMatch(/^api\.test answered 400(: .*)?$/);
	});
});

it("reads how long to wait from headers and from words", () => {
	const now = Date.UTC(2026, 0, 1);
	const header = (headers: Record<string, string>) => headerDelay(new Headers(headers), now);
	expect(header({ "retry-after": "3" })).toBe(3_000);
	expect(header({ "retry-after": "0.25" })).toBe(250);
	expect(header({ "retry-after-ms": "1500", "retry-after": "9" })).toBe(1_500);
	expect(header({ "retry-after": new Date(now + 90_000).toUTCString() })).toBe(90_000);
	expect(header({ "retry-after": new Date(now - 90_000).toUTCString() })).toBe(0);
	for (const odd of ["soon", "-1", "", "1e9x"]) expect(header({ "retry-after": odd })).toBeUndefined();
	expect(bodyDelay("Please try again in 7.66s.")).toBe(7_660);
	expect(bodyDelay("Please try again in 1m30s.")).toBe(90_000);
	expect(bodyDelay("Please try again in 250ms.")).toBe(250);
	expect(bodyDelay("Please try again in 2h.")).toBe(7_200_000);
	expect(bodyDelay("Please try again later")).toBeUndefined();
	expect(bodyDelay("try again in a while")).toBeUndefined();
});

it("obeys a wait that is only in the words of the answer", async () => {
	await using server = await modelServer({ script: [fails(429, { message: "Rate limit reached. Please try again in 7.5s." }), "fine"] });
	expect((await askAt(server.url, "chat")).waits).toEqual([7_500]);
});
