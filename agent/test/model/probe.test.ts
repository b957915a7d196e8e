/** What an endpoint tells about itself, and what a few requests find out. */
import { describe, expect, it } from "vitest";
import { aboutModel, baseUrl, listModels, type ModelOptions, type ProbeResult, type ProbeStep, probeModel } from "../../src/model/index.js";
import { getJson } from "../../src/model/list.js";
import { calls, fails, type ModelServer, modelServer, type Script, type SeenRequest, type Step } from "../model-server/index.js";
import { FORMATS, KEY } from "./support.js";

const forever = new AbortController().signal;
const at = (server: ModelServer, format: (typeof FORMATS)[number] = "chat"): ModelOptions => ({
	endpoint: { url: server.url, format },
	model: "scripted",
	key: async () => KEY,
});

async function probe(options: ModelOptions): Promise<ProbeResult> {
	const shown: ProbeStep[] = [];
	const run = probeModel(options, {}, forever);
	for (;;) {
		const next = await run.next();
		if (next.done) {
			expect(next.value.steps).toEqual(shown);
			return next.value;
		}
		shown.push(next.value);
	}
}

const good = ({ tools, results, said }: SeenRequest): Step | string =>
	tools.length > 0 && results.length === 0 && said.includes("report") ? { reasoning: "A tool.", ...calls(["report", { word: "ready" }]) } : "ready";

describe("lists of models", () => {
	it("has ids, names, windows under every name, prices and tools, in order of the ids", async () => {
		await using server = await modelServer({
			models: [
				{ id: "b", window: 8_192, as: "max_model_len" },
				{ id: "a", window: 131_072, as: "context_window" },
				{ id: "d", name: "The D", window: 200_000, pricing: { prompt: "0.000003", completion: "0.000015" }, supported_parameters: ["tools", "temperature"] },
				{ id: "c", window: 32_768, as: "max_context_length", supported_parameters: [] },
				"e",
			],
		});
		expect(await listModels(at(server), {}, forever)).toEqual([
			{ id: "a", window: 131_072 },
			{ id: "b", window: 8_192 },
			{ id: "c", window: 32_768, tools: false },
			{ id: "d", name: "The D", window: 200_000, prices: { input: 0.000003, output: 0.000015 }, tools: true },
			{ id: "e" },
		]);
	});

	it("is read in Anthropic's form, with its key", async () => {
		await using server = await modelServer({ key: KEY, models: [{ id: "claude-x", name: "Claude X", window: 200_000 }] });
		expect(await listModels(at(server, "anthropic"), {}, forever)).toEqual([{ id: "claude-x", name: "Claude X", window: 200_000 }]);
	});

	it("says what is wrong with a key, an address, a page", async () => {
		await using server = await modelServer({ key: "sk-another-key-entirely" });
		await expect(listModels(at(server), {}, forever)).rejects.toMatchObject({ kind: "key" });
		const other = { ...at(server), endpoint: { url: `${server.url}/nothing/here`, format: "chat" as const } };
		await expect(listModels({ ...other, key: async () => "sk-another-key-entirely" }, {}, forever)).resolves.toEqual([{ id: "scripted" }]);
		const page = async () => new Response("<html>hello</html>", { status: 200 });
		await expect(listModels(at(server), { fetch: page }, forever)).rejects.toThrow("answered with a web page, so it is no model endpoint; check its address");
		const odd = async () => new Response('{"hello":"world"}', { status: 200 });
		await expect(listModels(at(server), { fetch: odd }, forever)).rejects.toThrow("lists no models");
		await expect(listModels({ endpoint: { url: "ftp://x", format: "chat" } }, {}, forever)).rejects.toThrow('"ftp://x" is no address of an endpoint');
	});
});

describe("the window", () => {
	it("is what servers of one's own have loaded the model with", async () => {
		const pages: readonly (readonly [number | undefined, Record<string, unknown>])[] = [
			[16_384, { "GET /api/ps": { models: [{ name: "scripted", context_length: 16_384 }] } }],
			[8_192, { "GET /api/ps": { models: [] }, "POST /api/show": { parameters: 'stop "x"\nnum_ctx                        8192' } }],
			[4_096, { "GET /api/v0/models": { data: [{ id: "scripted", loaded_context_length: 4_096, max_context_length: 131_072 }] } }],
			[2_048, { "GET /props": { default_generation_settings: { n_ctx: 2_048 } } }],
			[undefined, {}],
		];
		for (const [window, own] of pages) {
			await using server = await modelServer({ pages: own });
			expect((await aboutModel(at(server), {}, forever)).window).toBe(window);
		}
	});
});

describe("requests for facts", () => {
	it("end when the list has told all, and after a while when nobody answers", async () => {
		await using server = await modelServer({ models: [{ id: "scripted", window: 1_000_000 }] });
		const asked: string[] = [];
		const fetched: typeof fetch = (url, init) => {
			asked.push(new URL(String(url)).pathname);
			return fetch(url, init);
		};
		await aboutModel(at(server), { fetch: fetched }, forever);
		expect(asked).toEqual(["/v1/models"]);
		const never: typeof fetch = async (_, init) => {
			init?.signal?.throwIfAborted();
			return new Promise((_resolve, reject) => init?.signal?.addEventListener("abort", () => reject(init.signal?.reason)));
		};
		await expect(getJson(at(server), server.url, { fetch: never }, forever, { ms: 10 })).rejects.toMatchObject({
			kind: "again",
			message: expect.stringContaining("did not answer within 0.01 s"),
		});
		await expect(getJson(at(server), server.url, { fetch: never }, AbortSignal.abort(new Error("Esc")))).rejects.toThrow("Esc");
	});
});

describe("a probe", () => {
	it.each(FORMATS)("finds that all is well, over %s, in four requests and a list", async (format) => {
		await using server = await modelServer({ script: good, models: [{ id: "scripted", window: 65_536 }] });
		const result = await probe(at(server, format));
		expect(result).toMatchObject({ ok: true, window: { tokens: 65_536, from: "endpoint" }, learned: {} });
		expect(result.steps.map(({ name, ok }) => [name, ok])).toEqual([
			["answers", true],
			["tools", true],
			["order", true],
			["window", true],
		]);
		expect(server.requests.length).toBe(3);
	});

	it.each(FORMATS)("finds whether the model takes an effort of reasoning, over %s, and can do without", async (format) => {
		const refuses = (request: SeenRequest) =>
			["reasoning", "reasoning_effort", "thinking"].some((key) => key in request.body)
				? fails(400, { message: "this model does not support reasoning effort" })
				: good(request);
		const found = async (script: Script): Promise<readonly unknown[]> => {
			await using server = await modelServer({ script });
			const { ok, steps } = await probe({ ...at(server, format), reasoning: "low" });
			return [ok, ...steps.flatMap(({ name, ok, words }) => (name === "reasoning" ? [ok, words] : []))];
		};
		expect(await found(good)).toEqual([true, true, "thinks with effort low"]);
		expect(await found(refuses)).toEqual([true, false, expect.stringContaining("low is left out")]);
	});

	it("finds a template that wants a bridge", async () => {
		await using server = await modelServer({ script: good, strict: true, broken: "expected" });
		const result = await probe(at(server));
		expect(result).toMatchObject({ ok: true, learned: { bridge: true }, window: { tokens: 32_768, from: "default" } });
		expect(result.steps[2]?.words).toContain("bridge");
		expect(result.steps[3]).toMatchObject({ ok: false, words: expect.stringContaining("does not tell the window; 32,768 tokens is assumed") });
	});

	it("finds a wrong key and a dead endpoint at once, and tries no further", async () => {
		await using server = await modelServer({ key: "sk-another-key-entirely" });
		const wrong = await probe(at(server));
		expect(wrong.ok).toBe(false);
		expect(wrong.steps.map(({ words }) => words)).toEqual([
			expect.stringMatching(/answered 401.*check the key/),
			"not tried, since the step before failed",
			"not tried, since the step before failed",
			expect.stringContaining("window"),
		]);
		const https = { ...at(server), endpoint: { url: server.url.replace("http:", "https:"), format: "chat" as const } };
		expect((await probe(https)).steps[0]?.words).toMatch(/^127\.0\.0\.1:\d+ does not speak TLS .*; its address may begin with http:\/\/$/);
		await server.close();
		expect((await probe(at(server))).steps[0]?.words).toMatch(/cannot reach 127\.0\.0\.1:\d+ \((ECONNREFUSED|UND_ERR_SOCKET)\)/);
	});

	it("finds a model that has no tools, or does not use them", async () => {
		const refuses = ({ tools }: SeenRequest) => (tools.length > 0 ? fails(400, { message: "scripted does not support tools" }) : "ready");
		await using without = await modelServer({ script: refuses });
		expect((await probe(at(without))).steps[1]).toMatchObject({ ok: false, words: expect.stringContaining("does not take tools") });
		await using talks = await modelServer({ script: () => 'report({"word": "ready"})' });
		const result = await probe(at(talks));
		expect(result.ok).toBe(false);
		expect(result.steps[1]).toMatchObject({ ok: false, words: expect.stringContaining("answered with text instead of calling the tool") });
	});

	it("finds an endpoint that does not stream", async () => {
		await using server = await modelServer({ script: () => ({ text: "ready", fault: { kind: "no stream" } }) });
		expect((await probe(at(server))).steps[0]).toMatchObject({ ok: false, words: expect.stringContaining("although a stream was asked for") });
	});

	it("ends with the caller's reason", async () => {
		await using server = await modelServer({ script: () => ({ text: "ready", fault: { kind: "stall", at: "text" } }) });
		const stop = new AbortController();
		const run = probeModel(at(server), {}, stop.signal).next();
		await server.arrived(1);
		stop.abort(new Error("Esc"));
		await expect(run).rejects.toThrow("Esc");
	});
});

it("makes an address of what people paste", () => {
	const same = [
		"https://api.openai.com",
		"https://api.openai.com/",
		"https://api.openai.com/v1/",
		" https://api.openai.com/v1/chat/completions ",
		"https://api.openai.com/v1/models",
	];
	for (const pasted of same) expect(baseUrl(pasted)).toBe("https://api.openai.com/v1");
	expect(baseUrl("https://api.groq.com")).toBe("https://api.groq.com/openai/v1");
	expect(baseUrl("http://localhost:11434")).toBe("http://localhost:11434/v1");
	expect(baseUrl("https://host.test/some/where?api-version=3")).toBe("https://host.test/some/where?api-version=3");
	expect(["localhost:8000", "192.168.1.7:1234/v1", "gpu-box:8000/v1/models", "api.groq.com", "127.0.0.1"].map(baseUrl)).toEqual([
		"http://localhost:8000/v1",
		"http://192.168.1.7:1234/v1",
		"http://gpu-box:8000/v1",
		"https://api.groq.com/openai/v1",
		"http://127.0.0.1/v1",
	]);
	for (const odd of ["", "two words", "file:///etc/passwd", "https://user:password@host.test/v1"]) expect(() => baseUrl(odd)).toThrow(/address/);
});
