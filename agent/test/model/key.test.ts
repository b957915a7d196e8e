/** The key is in a header, and nowhere else: not in an error, not in a piece, not in an answer, whatever the endpoint echoes. */
import { inspect } from "node:util";
import { expect, it } from "vitest";
import { listModels, type ModelError, type Piece } from "../../src/model/index.js";
import { PieceMask } from "../../src/model/mask.js";
import { calls, type Fault, fails, modelServer, type Step } from "../model-server/index.js";
import { askAt, FORMATS, KEY, modelAt, requestOf, shown } from "./support.js";

/** Everything that can be seen of a value, hidden properties and causes included. */
const all = (value: unknown): string => inspect(value, { depth: null, showHidden: true, maxStringLength: null, maxArrayLength: null });

const echo = `you sent Bearer ${KEY} and ${encodeURIComponent(KEY)}`;
const broken = (step: Step, fault: Fault): Step => ({ ...step, fault });

it.each(FORMATS)("is in nothing that leaves, over %s", async (format) => {
	const said: Step = {
		reasoning: `It is ${KEY}?`,
		text: `Your key is ${KEY}. Again: ${KEY.slice(0, 10)}`,
		...calls({ name: "terminal", args: { command: `echo ${KEY}` }, id: KEY }),
	};
	const script: Step[] = [
		said,
		{ ...said, wire: { chunk: 1 } },
		{ ...said, wire: { chunk: 1_000 } },
		{ ...said, finish: "length" },
		fails(401, { message: echo }),
		fails(400, { message: echo, code: KEY, type: KEY }),
		fails(400, { body: echo }),
		fails(404, { body: `<title>${KEY}</title>` }),
		fails(307, { headers: { location: `http://elsewhere.test/?key=${KEY}` } }),
		fails(200, { body: JSON.stringify({ error: { message: echo, code: 400 } }) }),
		broken(said, { kind: "error", at: "text", message: echo, type: "invalid_request_error" }),
		{ text: KEY, finish: "filter" },
		fails(429, { message: echo, headers: { "retry-after": "3600" } }),
		...Array.from({ length: 5 }, () => fails(500, { message: echo })),
		...Array.from({ length: 4 }, () => broken(said, { kind: "cut", at: "arguments" })),
	];
	await using server = await modelServer({ script });
	let seen = 0;
	while (server.requests.length < script.length) {
		const { answer, error, pieces } = await askAt(server.url, format);
		expect(answer ?? error).toBeDefined();
		const joined = (["text", "reasoning"] as const).map((type) => shown(pieces, type));
		const text = all({ answer, error, pieces, joined, message: error?.message, stack: error?.stack });
		expect(text).not.toContain(KEY);
		expect(text).not.toContain(encodeURIComponent(KEY));
		if (text.includes("[key]")) seen++;
	}
	expect(seen).toBeGreaterThanOrEqual(12);
	for (const { body } of server.requests) expect(JSON.stringify(body)).not.toContain(KEY);
});

it("is in no error when it cannot be a header, and when the list is asked for", async () => {
	await using server = await modelServer({ key: "sk-right", script: [] });
	const options = { endpoint: { url: server.url, format: "chat" as const }, key: async () => `${KEY}\n${KEY}` };
	const failures: ModelError[] = [];
	const keep = (error: ModelError) => void failures.push(error);
	await listModels(options, {}, new AbortController().signal).catch(keep);
	await listModels({ ...options, key: async () => KEY }, {}, new AbortController().signal).catch(keep);
	await modelAt(server.url, "anthropic", { key: async () => `${KEY}\0` })
		.ask(requestOf(), new AbortController().signal)
		.next()
		.catch(keep);
	expect(failures.map(({ kind }) => kind)).toEqual(["key", "key", "key"]);
	expect(all(failures) + failures.map(({ stack }) => stack).join()).not.toContain(KEY);
});

it("is taken out of pieces however they are cut, and everything else stays", () => {
	const text = `a${KEY.slice(0, 9)}b ${KEY}${KEY} sk- ${KEY.slice(0, -1)}`;
	for (let size = 1; size <= text.length; size++) {
		const mask = new PieceMask(KEY);
		const out: Piece[] = [];
		for (let at = 0; at < text.length; at += size) out.push(...mask.take({ type: "text", text: text.slice(at, at + size) }));
		out.push(...mask.rest());
		expect(out.map((piece) => (piece.type === "text" ? piece.text : "")).join("")).toBe(text.replaceAll(KEY, "[key]"));
		expect(JSON.stringify(out)).not.toContain(KEY);
	}
});

it("does not take a placeholder for a key", async () => {
	await using server = await modelServer({ script: ["I run in ollama."] });
	expect((await askAt(server.url, "chat", { key: async () => "ollama" })).answer?.text).toBe("I run in ollama.");
});
