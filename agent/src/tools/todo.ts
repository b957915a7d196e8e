/** A list of steps that the model keeps and the person sees. It is one file of the conversation, replaced whole. */
import fs from "node:fs";
import * as z from "zod";
import { checkedArgs, failedWith, shownSchema } from "./arguments.js";
import type { AgentTool } from "./tool.js";

const MOST = 100;
const STATES = ["pending", "doing", "done", "dropped"] as const;
const MARKS = { pending: "[ ]", doing: "[>]", done: "[x]", dropped: "[-]" } as const;

const itemSchema = z.strictObject({
	text: z.string().trim().min(1).max(500).describe("The step, in a few words."),
	state: z.enum(STATES).default("pending").describe("One item at most is doing."),
});

const argsSchema = z.strictObject({
	items: z.array(itemSchema).max(MOST).optional().describe("The whole list, in order: it replaces the one before. Without it the list is shown."),
});

export type TodoItem = z.infer<typeof itemSchema>;

const DESCRIPTION = `Keep a list of the steps of a task that has three or more; your user sees it.
Send the whole list each time: todo(items=[{"text": "run the tests", "state": "done"}, {"text": "fix the failing one", "state": "doing"}]).
Set an item to done as soon as it is done, and to dropped if it is not needed. Without items: shows the list.`;

/** `where` is its file, which need not be there yet. */
export function todoTool(where: () => string): AgentTool {
	return {
		name: "todo",
		description: DESCRIPTION,
		schema: shownSchema(argsSchema),
		changes: true,
		onlyReads: (args) => typeof args !== "object" || args === null || !("items" in args),
		async run(given) {
			const checked = checkedArgs(argsSchema, given);
			if ("refused" in checked) return checked.refused;
			const { items } = checked.args;
			const file = where();
			if (!items) return { text: describeTodo(readTodo(file)), failed: false };
			if (items.filter(({ state }) => state === "doing").length > 1)
				return failedWith("more than one item is doing; nothing was changed, send the list with one");
			try {
				const fresh = `${file}.${process.pid}.new`;
				fs.writeFileSync(fresh, `${JSON.stringify(items)}\n`, { mode: 0o600 });
				fs.renameSync(fresh, file);
			} catch (error) {
				return failedWith(`the list could not be saved (${error instanceof Error ? error.message : error}); go on without it`);
			}
			return { text: describeTodo(items), failed: false };
		},
		became: async () => ({ state: "never" }), // the same list again is the same list
	};
}

/** Returns the list of a conversation; none if the file is not there or is no list. */
export function readTodo(file: string): TodoItem[] {
	try {
		return z.array(itemSchema).parse(JSON.parse(fs.readFileSync(file, "utf8")));
	} catch {
		return []; // it is the model's own note: a broken one is written anew
	}
}

export function describeTodo(items: readonly TodoItem[]): string {
	if (items.length === 0) return "The list is empty.";
	return items.map(({ text, state }, index) => `${index + 1}. ${MARKS[state]} ${text}`).join("\n");
}
