/** Streams as endpoints really write them, oddities included, cut into chunks anywhere: the answer must not change. */
import fs from "node:fs";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { Answer, WireFormat } from "../../src/model/index.js";
import { seedOf } from "../support/seed.js";
import { askAt, assistant, result, shown, streamOf, user } from "./support.js";

const FROM = (format: WireFormat) => `${format} endpoint.test/v1 m`;
const reasoned = (format: WireFormat, text: string, data?: unknown) => ({ text, format, from: FROM(format), ...(data === undefined ? {} : { data }) });
const terminal = (id: string, command: string, args = JSON.stringify({ command })) => ({ id, name: "terminal", args });

/** What each stream says. Names are those of the files, without `.sse`. */
const EXPECTED: Readonly<Record<string, Answer>> = {
	"chat-router": {
		text: "Ich schaue nach – ",
		reasoning: [
			reasoned("chat", "Zuerst prüfen 🔍.", {
				field: "reasoning",
				details: [{ type: "reasoning.text", text: "Zuerst prüfen 🔍.", format: "vendor-v1", index: 0, signature: "c2ln" }],
			}),
		],
		calls: [terminal("toolu_vrtx_01A", "", `{"command": "grep -c 'ä' 🙂.txt"}`)],
		stop: "calls",
		usage: { input: 802, output: 66, cached: 512, cost: 0.00566 },
		model: "vendor/model-1-20260101",
	},
	"chat-forced": { text: "", reasoning: [], calls: [terminal("mcf2d8nn1", "ls")], stop: "calls", usage: { input: 249, output: 10 }, model: "small-2" },
	"chat-last-chunk": {
		text: "",
		reasoning: [],
		calls: [terminal("call_yu1m", "pwd")],
		stop: "calls",
		usage: { input: 194, output: 19, cached: 64 },
		model: "llama",
	},
	"chat-same-index": {
		text: "Beides.",
		reasoning: [],
		calls: [
			{ ...terminal("call_a", "a"), wire: { from: FROM("chat"), extra: { extra_content: { vendor: { thought_signature: "QUJD" } } } } },
			terminal("call_b", "b"),
		],
		stop: "calls",
		usage: { input: 50, output: 20 },
		model: "gem",
	},
	"chat-parts": {
		text: "Voilà.",
		reasoning: [reasoned("chat", "Réfléchir un peu.")],
		calls: [terminal("gSIMJiOkT", "", '{"command": "date"}')],
		stop: "calls",
		usage: { input: 124, output: 22 },
		model: "mag",
	},
	"chat-hidden": {
		text: "好的。",
		reasoning: [reasoned("chat", "思考中。", { field: "reasoning_content" })],
		calls: [],
		stop: "done",
		usage: { input: 18, output: 219, cached: 16 },
		model: "deep",
	},
	"chat-copied": {
		text: "Here:",
		reasoning: [reasoned("chat", "Let me look.", { field: "reasoning_text" })],
		calls: [terminal("call_one", "one"), terminal("call_two", "two")],
		stop: "calls",
		usage: { input: 300, output: 30 },
		model: "pilot",
	},
	"anthropic-thinking": {
		text: "Ich schaue nach — gleich.",
		reasoning: [
			reasoned("anthropic", "Erst »prüfen«, dann handeln 🧰.", {
				block: { type: "thinking", thinking: "Erst »prüfen«, dann handeln 🧰.", signature: "EqQBCgY=" },
				at: 0,
			}),
			reasoned("anthropic", "", { block: { type: "redacted_thinking", data: "EmwKAhgB" }, at: 0 }),
		],
		calls: [terminal("toolu_01M8", "", '{"command": "echo ö🙂"}'), { id: "toolu_01M9", name: "todo", args: "{}" }],
		stop: "calls",
		usage: { input: 798, output: 66, cached: 500 },
		model: "claude-x",
	},
	"anthropic-plain": { text: "你好", reasoning: [], calls: [], stop: "done", usage: { input: 12, output: 4 }, model: "claude-y" },
	"responses-interleaved": {
		text: "It’s 22 °C.",
		reasoning: [
			reasoned("responses", "**Planning**\n\nÜber Öl – 🛢️", {
				item: {
					type: "reasoning",
					id: "rs_1",
					summary: [
						{ type: "summary_text", text: "**Planning**" },
						{ type: "summary_text", text: "Über Öl – 🛢️" },
					],
					encrypted_content: "gAAAA-sealed-1",
				},
				text: 0,
				calls: 0,
			}),
			reasoned("responses", "", { item: { type: "reasoning", id: "rs_2", summary: [], encrypted_content: "gAAAA-sealed-2" }, text: 11, calls: 0 }),
		],
		calls: [terminal("call_J1", "ü"), terminal("call_J2", "w")],
		stop: "calls",
		usage: { input: 106, output: 40, cached: 64 },
		model: "gpt-x-2026",
	},
	"responses-late-text": { text: "Grüße\n\nZweiter Teil.", reasoning: [], calls: [], stop: "done", usage: { input: 31, output: 2 }, model: "local" },
};

/** The same events, as other servers end their lines. A carriage return alone is a line end too, if more than one byte follows it. */
const LINES: Readonly<Record<string, (source: string) => string>> = {
	LF: (source) => source,
	CRLF: (source) => source.replaceAll("\n", "\r\n"),
	BOM: (source) => `\uFEFF${source}`,
};

const formatOf = (name: string): WireFormat => name.split("-")[0] as WireFormat;
const source = (name: string): string => fs.readFileSync(new URL(`fixtures/${name}.sse`, import.meta.url), "utf8");
const read = (name: string, bytes: Uint8Array, borders: readonly number[] = []) =>
	askAt("http://endpoint.test/v1", formatOf(name), { fetch: streamOf(bytes, borders), request: { tools: [] } });

it("reads every stream there is a file of", async () => {
	const files = fs.readdirSync(new URL("fixtures", import.meta.url)).filter((name) => name.endsWith(".sse"));
	expect(files.map((name) => name.replace(".sse", "")).sort()).toEqual(Object.keys(EXPECTED).sort());
	for (const [name, expected] of Object.entries(EXPECTED)) {
		const { answer, pieces, error } = await read(name, Buffer.from(source(name)));
		expect({ name, error, answer }).toEqual({ name, error: undefined, answer: expected });
		expect(shown(pieces)).toBe(expected.text);
	}
});

describe("chunk borders", () => {
	it("do not matter when every byte comes alone", async () => {
		for (const [name, expected] of Object.entries(EXPECTED))
			for (const [line, change] of Object.entries(LINES)) {
				const bytes = Buffer.from(change(source(name)));
				const each = Array.from({ length: bytes.byteLength - 1 }, (_, at) => at + 1);
				expect({ name, line, answer: (await read(name, bytes, each)).answer }).toEqual({ name, line, answer: expected });
			}
	});

	it("do not matter wherever they are", async () => {
		const stream = fc.record({ name: fc.constantFrom(...Object.keys(EXPECTED)), line: fc.constantFrom(...Object.keys(LINES)) });
		const property = fc.asyncProperty(stream, fc.array(fc.nat(20_000), { maxLength: 40 }), async ({ name, line }, places) => {
			const bytes = Buffer.from(LINES[line]?.(source(name)) ?? "");
			const borders = [...new Set(places.map((place) => place % bytes.byteLength))].sort((a, b) => a - b);
			const { answer, pieces } = await read(name, bytes, borders);
			expect(answer).toEqual(EXPECTED[name]);
			expect(shown(pieces)).toBe(EXPECTED[name]?.text);
		});
		await fc.assert(property, { numRuns: 300, seed: seedOf("chunk borders") });
	});

	it("never make an answer of a stream that lacks its end, wherever it stops", async () => {
		const names = Object.keys(EXPECTED);
		const property = fc.asyncProperty(fc.constantFrom(...names), fc.double({ min: 0, max: 1, noNaN: true }), async (name, share) => {
			const whole = source(name);
			const closes = { chat: '"finish_reason":"', anthropic: '{"type":"message_stop"', responses: '{"type":"response.completed"' }[formatOf(name)];
			const end = whole.indexOf(closes) + closes.length;
			const cut = Buffer.from(whole.slice(0, Math.floor(share * end)));
			const { error, answer } = await read(name, cut);
			expect({ answer, kind: error?.kind }).toEqual({ answer: undefined, kind: "cut" });
		});
		await fc.assert(property, { numRuns: 150, seed: seedOf("streams without an end") });
	});
});

it("sends back what the stream said, where the format wants it, and each body is valid", async () => {
	for (const [name, answer] of Object.entries(EXPECTED)) {
		let sent = "";
		const fetch: typeof globalThis.fetch = async (_, init) => {
			sent = String(init?.body);
			return new Response("", { status: 400, headers: { "content-type": "application/json" } });
		};
		const messages = [user("x"), assistant(answer), ...answer.calls.map(({ id }) => result(id, "y")), user("z")];
		const back = async (url: string, model: string) => {
			await askAt(url, formatOf(name), { fetch, model, request: { messages } });
			return sent;
		};
		const same = await back("http://endpoint.test/v1", "m");
		for (const secret of ["c2ln", "EqQBCgY=", "EmwKAhgB", "gAAAA-sealed-1", "gAAAA-sealed-2", "QUJD", "思考中。", "Let me look."]) {
			const kept = JSON.stringify(answer).includes(secret);
			expect({ name, secret, back: same.includes(secret) }).toEqual({ name, secret, back: kept });
			if (!kept) continue;
			// Not to another model, and not to the same model elsewhere.
			expect(await back("http://endpoint.test/v1", "other")).not.toContain(secret);
			expect(await back("http://elsewhere.test/v1", "m")).not.toContain(secret);
		}
	}
});
