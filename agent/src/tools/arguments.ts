/** Arguments of our own tools, checked: what is wrong with them is said to the model in words, and nothing is done. */
import * as z from "zod";
import type { ToolOutcome } from "./tool.js";

export function checkedArgs<T>(schema: z.ZodType<T>, args: unknown): { readonly args: T } | { readonly refused: ToolOutcome } {
	const result = schema.safeParse(args);
	if (result.success) return { args: result.data };
	const problems = result.error.issues.slice(0, 5).map(({ path, message }) => (path.length > 0 ? `${path.join(".")}: ${message}` : message));
	return { refused: failedWith(`${problems.join("; ")}; nothing was done, correct the call and send it again`) };
}

export const failedWith = (error: string): ToolOutcome => ({ text: `Error: ${error}`, failed: true });

/** JSON Schema as a model is shown it. */
export function shownSchema(schema: z.ZodObject): Record<string, unknown> {
	const { $schema: _, ...shown } = z.toJSONSchema(schema, { io: "input" }) as Record<string, unknown>;
	return shown;
}
