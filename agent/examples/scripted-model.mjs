// A model that is a script: it does the three example tasks, over the API of OpenAI, on loopback. It thinks nothing; it is for trying runs without a key.
//   node scripted-model.mjs [PORT]
import fs from "node:fs";
import http from "node:http";

const tasks = new URL("../tasks/", import.meta.url);
const solution = (name) => fs.readFileSync(new URL(`${name}/solve.sh`, tasks), "utf8").replace(/^#!.*\n/, "");
const terminal = (args) => ({ name: "terminal", args });

/** What it does after each thing it was told, by a word of that. */
const SCRIPTS = [
	["127.0.0.1", [terminal({ command: solution("keeps-serving/solution") })]],
	[
		"register",
		[
			terminal({ command: "cat passphrase.txt" }),
			terminal({ command: "sh ./register", pty: true, timeout: 20 }),
			terminal({ input_keys: "seven brown horses<ENTER>" }),
			terminal({ input_keys: "yes<ENTER>" }),
		],
	],
	["Mend it", [terminal({ command: solution("mends-the-sum/steps/mend/solution") })]],
	["without arguments", [terminal({ command: solution("mends-the-sum/steps/extend/solution") })]],
];

function answer({ messages }) {
	const told = messages.findLastIndex(({ role }) => role === "user");
	const said = JSON.stringify(messages[told]?.content ?? "");
	const done = messages.slice(told).filter(({ role }) => role === "assistant").length;
	const step = SCRIPTS.find(([word]) => said.includes(word))?.[1][done];
	if (!step) return { content: done > 0 ? "It is done." : "That is not in my script." };
	return { tool_calls: [{ index: 0, id: `call_${told}_${done}`, type: "function", function: { name: step.name, arguments: JSON.stringify(step.args) } }] };
}

const server = http.createServer(async (request, response) => {
	if (request.url?.endsWith("/models")) return response.end(JSON.stringify({ object: "list", data: [{ id: "scripted", object: "model" }] }));
	let body = "";
	for await (const piece of request.setEncoding("utf8")) body += piece;
	if (!request.url?.endsWith("/chat/completions")) return response.writeHead(404).end("{}");
	const delta = answer(JSON.parse(body));
	response.writeHead(200, { "content-type": "text/event-stream" });
	const chunk = (choice, more = {}) =>
		response.write(`data: ${JSON.stringify({ id: "x", object: "chat.completion.chunk", model: "scripted", choices: choice, ...more })}\n\n`);
	chunk([{ index: 0, delta: { role: "assistant", ...delta }, finish_reason: null }]);
	chunk([{ index: 0, delta: {}, finish_reason: delta.tool_calls ? "tool_calls" : "stop" }]);
	chunk([], { usage: { prompt_tokens: Math.ceil(body.length / 4), completion_tokens: 20, total_tokens: Math.ceil(body.length / 4) + 20 } });
	response.end("data: [DONE]\n\n");
});
server.listen(Number(process.argv[2] ?? 8099), "127.0.0.1", () =>
	console.log(`a scripted model listens at http://127.0.0.1:${server.address().port}/v1; Ctrl-C ends it`),
);
