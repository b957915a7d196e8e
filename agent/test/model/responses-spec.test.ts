/** The scripted server's `/responses` is what the open specification says (openresponses.org): its six requests, answered with all that a response has. */
import { createParser } from "eventsource-parser";
import { expect, it } from "vitest";
import * as z from "zod";
import { calls, modelServer, type SeenRequest } from "../model-server/index.js";

const status = z.enum(["in_progress", "completed", "incomplete"]);
const item = z.discriminatedUnion("type", [
	z.object({
		type: z.literal("message"),
		id: z.string(),
		status,
		role: z.literal("assistant"),
		content: z.array(z.looseObject({ type: z.literal("output_text"), text: z.string(), annotations: z.array(z.unknown()), logprobs: z.array(z.unknown()) })),
	}),
	z.object({ type: z.literal("function_call"), id: z.string(), call_id: z.string(), name: z.string(), arguments: z.string(), status }),
	z.object({
		type: z.literal("reasoning"),
		id: z.string(),
		summary: z.array(z.object({ type: z.literal("summary_text"), text: z.string() })),
		encrypted_content: z.string().nullish(),
	}),
]);
const nullable = { text: z.string().nullable(), int: z.number().int().nullable(), object: z.looseObject({}).nullable() };
const response = z.strictObject({
	...{ id: z.string(), object: z.literal("response"), created_at: z.number().int(), completed_at: nullable.int, status: z.string(), model: z.string() },
	...{ error: nullable.object, incomplete_details: nullable.object, previous_response_id: nullable.text, instructions: nullable.text },
	...{ output: z.array(item), metadata: z.looseObject({}), text: z.looseObject({ format: z.object({ type: z.literal("text") }) }) },
	...{
		tools: z.array(z.looseObject({ type: z.literal("function"), name: z.string(), strict: z.boolean() })),
		tool_choice: z.enum(["auto", "none", "required"]),
	},
	...{ truncation: z.enum(["auto", "disabled"]), parallel_tool_calls: z.boolean(), store: z.boolean(), background: z.boolean(), service_tier: z.string() },
	...{ temperature: z.number(), top_p: z.number(), presence_penalty: z.number(), frequency_penalty: z.number(), top_logprobs: z.number().int() },
	...{
		reasoning: nullable.object,
		max_output_tokens: nullable.int,
		max_tool_calls: nullable.int,
		safety_identifier: nullable.text,
		prompt_cache_key: nullable.text,
	},
	usage: z
		.object({
			input_tokens: z.number(),
			input_tokens_details: z.object({ cached_tokens: z.number() }),
			output_tokens: z.number(),
			output_tokens_details: z.object({ reasoning_tokens: z.number() }),
			total_tokens: z.number(),
		})
		.nullable(),
});

const message = (role: string, content: unknown) => ({ type: "message", role, content });
const weather = [
	{
		type: "function",
		name: "get_weather",
		description: "Weather.",
		parameters: { type: "object", properties: { location: { type: "string" } }, required: ["location"] },
	},
];
const script = ({ tools }: SeenRequest) =>
	tools.length > 0 ? { reasoning: "Look.", ...calls(["get_weather", { location: "San Francisco" }]) } : "Hello there, friend.";

it("answers every kind of request with a whole response", async () => {
	await using server = await modelServer({ script });
	const inputs = [
		[message("user", "Say hello.")],
		[message("system", "You are a pirate."), message("user", "Say hello.")],
		[message("user", "My name is Alice."), message("assistant", "Hello Alice!"), message("user", "What is my name?")],
		[
			message("user", [
				{ type: "input_text", text: "What is it?" },
				{ type: "input_image", image_url: "data:image/png;base64,AAAA" },
			]),
		],
	];
	for (const body of [...inputs.map((input) => ({ input })), { input: inputs[0], tools: weather }]) {
		const answer = await fetch(`${server.url}/responses`, { method: "POST", body: JSON.stringify({ model: "m", ...body }) });
		expect(response.parse(await answer.json())).toMatchObject({
			status: "completed",
			output: expect.arrayContaining([expect.objectContaining({ id: expect.any(String) })]),
		});
	}
});

it("streams events that are numbered, begin and end every item, and close with the whole response", async () => {
	await using server = await modelServer({ script });
	for (const tools of [undefined, weather]) {
		const answer = await fetch(`${server.url}/responses`, {
			method: "POST",
			body: JSON.stringify({ model: "m", stream: true, input: [message("user", "Count.")], tools }),
		});
		const events: { name?: string; data: Record<string, unknown> }[] = [];
		createParser({ onEvent: ({ event, data }) => void events.push({ name: event, data: JSON.parse(data) }) }).feed(await answer.text());
		expect(events.map(({ data }) => data.sequence_number)).toEqual(events.map((_, at) => at));
		for (const { name, data } of events) expect(name).toBe(data.type);
		const types = events.map(({ name }) => name);
		expect(types.slice(0, 2)).toEqual(["response.created", "response.in_progress"]);
		expect(types.at(-1)).toBe("response.completed");
		const last = response.parse(events.at(-1)?.data.response);
		const done = events.filter(({ name }) => name === "response.output_item.done").map(({ data }) => item.parse(data.item));
		expect(last.output).toEqual(done);
		expect(types.filter((name) => name === "response.output_item.added").length).toBe(done.length);
		const written = events.filter(({ name }) => name?.endsWith(tools ? "arguments.delta" : "output_text.delta")).map(({ data }) => data.delta);
		expect(written.join("")).toBe(tools ? '{"location":"San Francisco"}' : "Hello there, friend.");
		for (const pair of ["response.output_item", "response.content_part", "response.reasoning_summary_part"])
			expect(types.filter((name) => name === `${pair}.added`).length).toBe(types.filter((name) => name === `${pair}.done`).length);
	}
});
