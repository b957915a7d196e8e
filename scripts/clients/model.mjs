/**
 * A model that follows a script, on loopback: what four MCP clients need of the APIs of OpenAI (chat completions, responses), Anthropic
 * (messages) and Google (generateContent), as streams. Each request with tools takes the next turn of the script:
 * `{ calls: [{ tool, args }] }`, `{ say }`, or a function that returns one from the texts of the tool results so far.
 * Every such request is recorded: its tools, its results and its whole body.
 */
import { once } from "node:events";
import http from "node:http";

const SPENT = { input_tokens: 10, output_tokens: 10, total_tokens: 20 };

export async function startModel() {
	const model = { url: "", requests: [], others: [], script: [], play, close };
	const server = http.createServer(async (request, response) => {
		let text = "";
		for await (const chunk of request) text += chunk;
		try {
			answer(model, request, JSON.parse(text || "{}"), response);
		} catch (error) {
			model.others.push(`${request.url}: ${error.stack}`);
			response.writeHead(500).end();
		}
	});
	server.listen(0, "127.0.0.1");
	await once(server, "listening");
	model.url = `http://127.0.0.1:${server.address().port}`;
	return model;

	/** A new conversation; requests are counted from zero again. */
	function play(script) {
		model.script = [...script];
		model.requests = [];
	}
	function close() {
		server.closeAllConnections();
		server.close();
	}
}

function answer(model, { method, url }, body, response) {
	const api = APIS.find(({ path }) => path.test(url));
	if (method !== "POST" || !api) {
		model.others.push(`${method} ${url}`);
		return response.writeHead(404, { "content-type": "application/json" }).end("{}");
	}
	const tools = api.tools(body);
	const send = (turn) => {
		response.writeHead(200, { "content-type": "text/event-stream", "cache-control": "no-store" });
		api.reply(
			turn,
			(data, event) => response.write(`${event ? `event: ${event}\n` : ""}data: ${typeof data === "string" ? data : JSON.stringify(data)}\n\n`),
			body,
		);
		response.end();
	};
	if (tools.length === 0 || api.aside?.(body)) return send({ calls: [], say: "A title" }); // clients ask for titles and summaries beside the conversation
	const results = api.results(body);
	const text = JSON.stringify(body);
	model.requests.push({ at: Date.now(), tools, results, text });
	const next = model.script.shift() ?? { say: "Done." };
	const { calls = [], say = "" } = typeof next === "function" ? next(results) : next;
	send({ say, calls: calls.map(({ tool, args }, index) => ({ ...named(tools, tool, api.prefix), args, id: `call_${model.requests.length}_${index}` })) });
}

/** The name that the client gave to our tool; one that it has not loaded is called by the name that it would have. */
function named(tools, tool, prefix) {
	const found = tools.find(({ name, namespace }) => (namespace ?? name).includes("holdfast") && name.endsWith(tool));
	if (found) return { name: found.name, namespace: found.namespace };
	return { name: tool.startsWith("=") ? tool.slice(1) : `${prefix}${tool}` };
}

const flat = (content) => (typeof content === "string" ? content : (content ?? []).map((part) => part.text ?? "").join(""));
const asText = (value) => (typeof value === "string" ? value : JSON.stringify(value));

const APIS = [
	{
		path: /\/chat\/completions/,
		prefix: "holdfast_",
		tools: ({ tools = [] }) => tools.map((tool) => ({ name: tool.function.name, bytes: tool })),
		results: ({ messages }) => messages.filter(({ role }) => role === "tool").map(({ content }) => flat(content)),
		reply({ say, calls }, send, { model }) {
			const chunk = (delta, finish_reason = null) => ({
				id: "chat-1",
				object: "chat.completion.chunk",
				created: 1,
				model,
				choices: [{ index: 0, delta, finish_reason }],
			});
			if (say) send(chunk({ role: "assistant", content: say }));
			for (const [index, { id, name, args }] of calls.entries())
				send(chunk({ role: "assistant", tool_calls: [{ index, id, type: "function", function: { name, arguments: JSON.stringify(args) } }] }));
			send({ ...chunk({}, calls.length > 0 ? "tool_calls" : "stop"), usage: { prompt_tokens: 10, completion_tokens: 10, total_tokens: 20 } });
			send("[DONE]");
		},
	},
	{
		path: /\/responses/,
		prefix: "mcp__holdfast__",
		tools: ({ tools = [] }) =>
			tools.flatMap((tool) =>
				tool.type === "namespace"
					? tool.tools.map((inner) => ({ name: inner.name, namespace: tool.name, bytes: inner }))
					: [{ name: tool.name ?? tool.type, bytes: tool }],
			),
		results: ({ input }) =>
			input.filter(({ type }) => type === "function_call_output").map(({ output }) => (Array.isArray(output) ? flat(output) : asText(output))),
		reply({ say, calls }, send) {
			const id = `resp-${Math.random()}`;
			const event = (type, rest) => send({ type, ...rest }, type);
			event("response.created", { response: { id } });
			if (say)
				event("response.output_item.done", {
					output_index: 0,
					item: { type: "message", id: "msg-1", role: "assistant", content: [{ type: "output_text", text: say, annotations: [] }] },
				});
			for (const [index, call] of calls.entries())
				event("response.output_item.done", {
					output_index: index,
					item: {
						type: "function_call",
						id: `fc-${call.id}`,
						call_id: call.id,
						name: call.name,
						...(call.namespace && { namespace: call.namespace }),
						arguments: JSON.stringify(call.args),
					},
				});
			event("response.completed", { response: { id, usage: { ...SPENT, input_tokens_details: null, output_tokens_details: null } } });
		},
	},
	{
		path: /\/v1\/messages/,
		prefix: "mcp__holdfast__",
		tools: ({ tools = [] }) => tools.map((tool) => ({ name: tool.name, bytes: tool })),
		results: ({ messages }) =>
			messages.flatMap(({ content }) => (Array.isArray(content) ? content.filter(({ type }) => type === "tool_result").map((part) => flat(part.content)) : [])),
		reply({ say, calls }, send, { model }) {
			const event = (type, rest) => send({ type, ...rest }, type);
			event("message_start", { message: { id: "msg_1", type: "message", role: "assistant", model, content: [], stop_reason: null, usage: SPENT } });
			const blocks = calls.map(({ id, name, args }) => [
				{ type: "tool_use", id: `toolu_${id}`, name, input: {} },
				{ type: "input_json_delta", partial_json: JSON.stringify(args) },
			]);
			if (say)
				blocks.unshift([
					{ type: "text", text: "" },
					{ type: "text_delta", text: say },
				]);
			for (const [index, [content_block, delta]] of blocks.entries()) {
				event("content_block_start", { index, content_block });
				event("content_block_delta", { index, delta });
				event("content_block_stop", { index });
			}
			event("message_delta", { delta: { stop_reason: calls.length > 0 ? "tool_use" : "end_turn" }, usage: SPENT });
			event("message_stop", {});
		},
	},
	{
		path: /:(streamG|g)enerateContent/,
		prefix: "mcp_holdfast_",
		tools: ({ tools = [] }) => tools.flatMap(({ functionDeclarations = [] }) => functionDeclarations.map((tool) => ({ name: tool.name, bytes: tool }))),
		results: ({ contents }) =>
			contents.flatMap(({ parts }) =>
				(parts ?? [])
					.filter(({ functionResponse }) => functionResponse)
					.map(({ functionResponse: { response } }) => response.output ?? response.error ?? asText(response)),
			),
		reply({ say, calls }, send) {
			const parts = [...(say ? [{ text: say }] : []), ...calls.map(({ id, name, args }) => ({ functionCall: { id, name, args } }))];
			send({
				candidates: [{ index: 0, content: { role: "model", parts }, finishReason: "STOP" }],
				usageMetadata: { promptTokenCount: 10, candidatesTokenCount: 10, totalTokenCount: 20 },
			});
		},
	},
];
