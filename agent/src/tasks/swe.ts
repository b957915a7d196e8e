/** A row of SWE-bench, or of a set in that form. */
import * as z from "zod";

/** Names of tests come as a list, or as text with JSON in it. */
const tests = z.preprocess((value, context) => {
	if (typeof value !== "string") return value;
	try {
		return JSON.parse(value);
	} catch {
		context.issues.push({ code: "custom", message: "is text, but no JSON", input: value });
		return z.NEVER;
	}
}, z.array(z.string()));

export const sweSchema = z.object({
	instance_id: z.string().regex(/^[\w.-]+$/, "must have letters, digits, dots, dashes and underscores only"),
	repo: z.string().min(1),
	base_commit: z.string().min(1),
	problem_statement: z.string().min(1),
	hints_text: z.string().default(""),
	version: z.string().default(""),
	patch: z.string().default(""),
	test_patch: z.string().default(""),
	FAIL_TO_PASS: tests,
	PASS_TO_PASS: tests.default([]),
	image: z.string().min(1).optional(),
	eval_script: z.string().min(1).optional(),
	/** The reward of a new .py file where the tests do not pass. Default: nothing, since it rewards noise. */
	new_file_reward: z.number().min(0).max(1).optional(),
});

export type SweRow = z.infer<typeof sweSchema>;
