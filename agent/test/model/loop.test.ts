/** A conversation with tools, from the first word to the last, in every format. */
import { describe, expect, it } from "vitest";
import type { Answer, Message } from "../../src/model/index.js";
import { calls, modelServer, type SeenRequest, type Step } from "../model-server/index.js";
import { assistant, collect, FORMATS, KEY, modelAt, requestOf, result, shown, user } from "./support.js";

const script = (request: SeenRequest): Step => {
	if (request.results.length === 0)
		return { reasoning: "Both, then. 🙂", text: "I'll look — ", ...calls(["terminal", { command: "a" }], ["terminal", { command: "b 🙂" }]) };
	if (request.results.length === 2) return { reasoning: "One more.", ...calls(["terminal", { command: "c" }]) };
	return { text: `The end: ${request.results[0]?.text}`, usage: { input: 120, output: 7, cached: 100 } };
};

describe.each(FORMATS)("over %s", (format) => {
	it("runs a tool loop, with reasoning sent back, every request valid", async () => {
		await using server = await modelServer({ script, key: KEY });
		const model = modelAt(server.url, format);
		const messages: Message[] = [user("Look at both.")];
		const answers: Answer[] = [];
		for (let round = 0; round < 3; round++) {
			const { answer, error, pieces } = await collect(model.ask(requestOf({ messages }), new AbortController().signal));
			if (!answer) throw error;
			answers.push(answer);
			expect(shown(pieces)).toBe(answer.text);
			messages.push(assistant(answer), ...answer.calls.map((call) => result(call.id, `ran ${JSON.parse(call.args).command}`)));
		}
		expect(answers.map(({ text, stop, calls: made }) => ({ text, stop, args: made.map(({ args }) => args) }))).toEqual([
			{ text: "I'll look — ", stop: "calls", args: ['{"command":"a"}', '{"command":"b 🙂"}'] },
			{ text: "", stop: "calls", args: ['{"command":"c"}'] },
			{ text: "The end: ran c", stop: "done", args: [] },
		]);
		expect(answers.map(({ reasoning }) => reasoning.map(({ text }) => text))).toEqual([["Both, then. 🙂"], ["One more."], []]);
		expect(answers[2]?.usage).toEqual({ input: 120, output: 7, cached: 100 });
		expect(JSON.stringify(server.requests[2]?.body)).toContain("Both, then.");
		expect(server.requests.length).toBe(3);
	});
});
