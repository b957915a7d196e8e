/** A model for tests of doors: it runs what it is told to, and then says what came of it. */
import { calls, type SeenRequest, type Step, say } from "../model-server/index.js";

export const HELLO =
	"# Hello\n\nSome **bold** words, `code` and [a link](https://example.org).\n\n- one\n- two\n\n| name | what |\n|---|---|\n| a | first |\n\n```ts\nconst x = 1;\n```";

export function obeys({ said, results }: SeenRequest): Step {
	if (results.length > 0) return say(`Done: ${results.at(-1)?.text.split("\n").slice(0, 3).join(" / ")}`);
	const [word, ...rest] = said.split(" ");
	const command = rest.join(" ");
	switch (word) {
		case "run":
			return { text: "I will run it.", ...calls(["terminal", { command }]) };
		case "twice":
			return calls(["terminal", { command }], ["terminal", { command: "echo second" }]);
		case "start":
			return calls(["terminal", { command, background: true, notify_on_complete: true }]);
		case "ask":
			return calls(["ask_user", { question: "Which database is live?", choices: ["db1", "db2"] }]);
		case "plan":
			return calls([
				"todo",
				{
					items: [
						{ text: "look", state: "done" },
						{ text: "mend", state: "doing" },
					],
				},
			]);
		case "slow":
			return say("A slow answer with many words. ".repeat(400), { wire: { dripMs: 20, chunk: 12 } });
		case "hello":
			return say(HELLO);
		default:
			return say(`You said: ${said}`);
	}
}
