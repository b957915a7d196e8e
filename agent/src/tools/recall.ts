/**
 * Reads back what the conversation had and the model is not shown any more: the text of an old result, or the whole of one that was too long. Exact, and
 * never shortened: a note says where to read on.
 */
import * as z from "zod";
import { checkedArgs, failedWith, shownSchema } from "./arguments.js";
import type { AgentTool } from "./tool.js";

const MOST_CHARS = 20_000;
const LINES = 400;

const argsSchema = z.strictObject({
	call: z.string().min(1).max(200).describe("The id of the call, as the note says it."),
	offset: z.number().int().min(0).default(0).describe("First line to show, 0 is the first."),
	limit: z.number().int().min(1).default(LINES).describe(`How many lines, ${LINES} by default.`),
	char: z.number().int().min(0).optional().describe("Show the text from this character on, instead of from a line."),
});

const DESCRIPTION = `Read back the result of an earlier call that is shown shortened. Use it exactly as the note in that result says: recall(call="…", offset=0).`;

/** The call that reads a result back, as a model is told it. */
export const recallCall = (call: string, range: { readonly offset?: number; readonly limit?: number } = {}): string =>
	`recall(${[`call=${JSON.stringify(call)}`, ...Object.entries(range).map(([name, value]) => `${name}=${value}`)].join(", ")})`;

/** `find` returns the text of a result by the id of its call. */
export function recallTool(find: (call: string) => string | undefined): AgentTool {
	return {
		name: "recall",
		description: DESCRIPTION,
		schema: shownSchema(argsSchema),
		changes: false,
		async run(given) {
			const checked = checkedArgs(argsSchema, given);
			if ("refused" in checked) return checked.refused;
			const { call, offset, limit, char } = checked.args;
			const text = find(call);
			if (text === undefined)
				return failedWith(`this conversation has no result of a call ${JSON.stringify(call)}; use the id as the note in the shortened result has it`);
			const from = char ?? startOf(text, offset);
			if (from >= text.length && text !== "")
				return failedWith(`the result has ${linesIn(text)} lines and ${text.length} characters; there is nothing from there on`);
			const to = char === undefined ? startOf(text, offset + limit) : text.length;
			const shown = text.slice(from, Math.min(to, from + MOST_CHARS));
			const next = from + shown.length;
			const more = next < text.length ? `\n[${text.length - next} more characters: recall(call=${JSON.stringify(call)}, char=${next})]` : "";
			return { text: `${shown}${more}`, failed: false };
		},
	};
}

/** Returns the start of a line; the end of the text when there are fewer. */
function startOf(text: string, line: number): number {
	let at = 0;
	for (let count = 0; count < line; count++) {
		const next = text.indexOf("\n", at);
		if (next < 0) return text.length;
		at = next + 1;
	}
	return at;
}

const linesIn = (text: string): number => text.split("\n").length;
