/** Three small tasks that are built in, to try a model and a place: each asks for a file, and its content is the score. */
import { digestOf, type LoadedTasks, type PromptRow } from "./item.js";

export const TERMINAL_TEST = "terminal-test";

const ROWS: Readonly<Record<string, PromptRow>> = {
	greeting: {
		prompt: "Create the file greeting.txt in the current directory. Its only line is: Hello from Holdfast",
		expect: { file: "greeting.txt", content: "Hello from Holdfast\n" },
	},
	count: {
		prompt: "Write the numbers from 1 to 20 to the file numbers.txt in the current directory, one on each line.",
		expect: { file: "numbers.txt", content: `${Array.from({ length: 20 }, (_, index) => index + 1).join("\n")}\n` },
	},
	sum: {
		prompt: "Add all numbers from 1 to 1000 with a command, and write only the result as a line to answer.txt in the current directory.",
		expect: { file: "answer.txt", content: "500500\n" },
	},
};

export const terminalTest = (): LoadedTasks => ({
	items: Object.entries(ROWS).map(([key, row]) => ({ kind: "prompt", key, digest: digestOf(row), row })),
	problems: [],
	warnings: [],
});
