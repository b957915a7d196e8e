/** The scripted model server is no toy: the clients that people use run a tool loop against it, in every format. */
import { createAnthropic } from "@ai-sdk/anthropic";
import { createOpenAI } from "@ai-sdk/openai";
import { generateText, type LanguageModel, stepCountIs, streamText, tool } from "ai";
import OpenAI from "openai";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { calls, modelServer, type SeenRequest, type Step } from "../model-server/index.js";

const KEY = "sk-scripted-0123456789abcdef";

/** Two calls at once, then a third, then an answer made of what they returned. */
const script = (request: SeenRequest): Step => {
	if (request.results.length === 0)
		return { reasoning: "Look at both.", text: "I'll look. ", ...calls(["shell", { command: "a" }], ["shell", { command: "b" }]) };
	if (request.results.length === 2) return calls(["shell", { command: "c" }]);
	return { text: `The end: ${request.results[0]?.text}`, usage: { input: 120, output: 7, cached: 100 } };
};

describe("ai 6", () => {
	const models: Record<string, (url: string) => LanguageModel> = {
		chat: (url) => createOpenAI({ baseURL: url, apiKey: KEY }).chat("gpt-5"),
		responses: (url) => createOpenAI({ baseURL: url, apiKey: KEY }).responses("gpt-5"),
		anthropic: (url) => createAnthropic({ baseURL: url, apiKey: KEY })("claude-sonnet-4-5"),
	};
	const options = (model: LanguageModel) => ({
		model,
		prompt: "Look at both.",
		stopWhen: stepCountIs(5),
		maxRetries: 0,
		providerOptions: { openai: { store: false, include: ["reasoning.encrypted_content" as const] } },
		tools: { shell: tool({ inputSchema: z.object({ command: z.string() }), execute: async ({ command }) => `ran ${command}` }) },
	});

	for (const [format, model] of Object.entries(models)) {
		it(`runs a tool loop over ${format}, streamed`, async () => {
			await using server = await modelServer({ script, key: KEY });
			const run = streamText(options(model(server.url)));
			await run.consumeStream({ onError: (error) => expect.fail(String(error)) });
			expect(await run.text).toBe("The end: ran c");
			expect((await run.steps).map(({ toolCalls }) => toolCalls.map(({ input }) => input))).toEqual([
				[{ command: "a" }, { command: "b" }],
				[{ command: "c" }],
				[],
			]);
			expect(await run.usage).toMatchObject({ inputTokens: 120, outputTokens: 7, inputTokenDetails: { cacheReadTokens: 100 } });
			expect(server.requests.length).toBe(3);
		});

		it(`runs a tool loop over ${format}, not streamed`, async () => {
			await using server = await modelServer({ script, key: KEY });
			const run = await generateText(options(model(server.url)));
			expect(run.text).toBe("The end: ran c");
			expect(run.steps.length).toBe(3);
		});

		it(`shows a reasoning model's thoughts over ${format}`, async () => {
			await using server = await modelServer({ script: [{ reasoning: "Hm, let me see.", text: "Yes." }] });
			const run = streamText({ model: model(server.url), prompt: "Well?", maxRetries: 0, providerOptions: { openai: { store: false } } });
			const parts: string[] = [];
			for await (const part of run.fullStream) if (part.type === "reasoning-delta") parts.push(part.text);
			// @ai-sdk/openai does not read reasoning from chat completions: OpenAI sends none
			expect(parts.join("")).toBe(format === "chat" ? "" : "Hm, let me see.");
			expect(await run.text).toBe("Yes.");
		});
	}
});

describe("openai 6", () => {
	const tools = [
		{
			type: "function" as const,
			function: { name: "shell", description: "Runs a command.", parameters: { type: "object", properties: { command: { type: "string" } } } },
		},
	];

	it("runs a tool loop over chat with its helper", async () => {
		await using server = await modelServer({ script, key: KEY });
		const client = new OpenAI({ baseURL: server.url, apiKey: KEY, maxRetries: 0 });
		const run = client.chat.completions.runTools({
			model: "gpt-5",
			stream: true,
			messages: [{ role: "user", content: "Look at both." }],
			tools: [
				{
					type: "function",
					function: {
						...tools[0]?.function,
						name: "shell",
						description: "",
						parameters: { type: "object" },
						parse: JSON.parse,
						function: ({ command }: { command: string }) => `ran ${command}`,
					},
				},
			],
		});
		expect(await run.finalContent()).toBe("The end: ran c");
		expect(server.requests.length).toBe(3);
	});

	it("reads a chat stream raw, usage included", async () => {
		await using server = await modelServer({ script: [calls(["shell", { command: "ä 🙂" }])] });
		const client = new OpenAI({ baseURL: server.url, apiKey: KEY, maxRetries: 0 });
		const stream = await client.chat.completions.create({
			model: "m",
			stream: true,
			stream_options: { include_usage: true },
			messages: [{ role: "user", content: "x" }],
			tools,
		});
		let args = "";
		let total = 0;
		const finishes: string[] = [];
		for await (const chunk of stream) {
			args += chunk.choices[0]?.delta.tool_calls?.[0]?.function?.arguments ?? "";
			if (chunk.choices[0]?.finish_reason) finishes.push(chunk.choices[0].finish_reason);
			total += chunk.usage?.total_tokens ?? 0;
		}
		expect({ args, total, finishes }).toEqual({ args: '{"command":"ä 🙂"}', total: 15, finishes: ["tool_calls"] });
	});

	it("runs a tool loop over responses with its helper", async () => {
		await using server = await modelServer({ script, key: KEY });
		const client = new OpenAI({ baseURL: server.url, apiKey: KEY, maxRetries: 0 });
		const input: OpenAI.Responses.ResponseInputItem[] = [{ role: "user", content: "Look at both." }];
		let text = "";
		for (let round = 0; round < 5 && !text; round++) {
			const stream = client.responses.stream({
				model: "gpt-5",
				store: false,
				include: ["reasoning.encrypted_content"],
				input,
				tools: [{ type: "function", name: "shell", strict: false, parameters: { type: "object" } }],
			});
			const response = await stream.finalResponse();
			input.push(...(response.output as OpenAI.Responses.ResponseInputItem[]));
			const made = response.output.filter((item) => item.type === "function_call");
			for (const call of made) input.push({ type: "function_call_output", call_id: call.call_id, output: `ran ${JSON.parse(call.arguments).command}` });
			if (made.length > 0) continue;
			for (const item of response.output)
				if (item.type === "message") text += item.content.map((part) => (part.type === "output_text" ? part.text : "")).join("");
		}
		expect(text).toBe("The end: ran c");
	});

	it("lists the models, and reads the error of a wrong key", async () => {
		await using server = await modelServer({ models: ["one", { id: "two", window: 4096 }], key: KEY });
		expect((await new OpenAI({ baseURL: server.url, apiKey: KEY }).models.list()).data.map(({ id }) => id)).toEqual(["one", "two"]);
		await expect(new OpenAI({ baseURL: server.url, apiKey: "sk-other", maxRetries: 0 }).models.list()).rejects.toMatchObject({
			status: 401,
			code: "invalid_api_key",
		});
	});
});

it("answers a broken request with 400 in the provider's words, and says so when it is closed", async () => {
	const server = await modelServer({ script: ["never said"] });
	const client = new OpenAI({ baseURL: server.url, apiKey: KEY, maxRetries: 0 });
	const messages = [
		{ role: "user" as const, content: "x" },
		{ role: "tool" as const, tool_call_id: "call_9", content: "y" },
	];
	await expect(client.chat.completions.create({ model: "m", messages })).rejects.toThrow(
		"400 Invalid parameter: messages with role 'tool' must be a response to a preceeding message",
	);
	await expect(server[Symbol.asyncDispose]()).rejects.toThrow("request 1 (chat): Invalid parameter");
});
