/** The form of a rule and of a file of rules. docs/policy.md explains it. */
import * as z from "zod";
import { CHECKS, type CheckName } from "./checks.js";

const texts = z.array(z.string().min(1).max(1000)).min(1).max(1000);

const Decision = z.enum(["allow", "ask", "deny"]);
export type Decision = z.infer<typeof Decision>;

/** Longer commands cannot be named by their whole text. */
export const LONGEST_TEXT = 10_000;

/** Everything that is given must hold. */
const Match = z.strictObject({
	program: texts.optional(),
	subcommand: texts.optional(),
	flags: texts.optional(),
	args: texts.optional(),
	paths: texts.optional(),
	writes: texts.optional(),
	is: z.enum(Object.keys(CHECKS) as [CheckName, ...CheckName[]]).optional(),
	place: texts.optional(),
	task: texts.optional(),
	/** In which directory, as it is named without links. */
	cwd: texts.optional(),
	/** All of what is run, letter for letter. */
	text: z.array(z.string().min(1).max(LONGEST_TEXT)).min(1).max(1000).optional(),
});

const examples = z
	.array(
		z
			.string()
			.min(1)
			.max(2 * LONGEST_TEXT),
	)
	.min(1)
	.max(1000);

const Rule = z.strictObject({
	id: z.string().regex(/^[a-z0-9][a-z0-9-]{0,63}$/, "an id is small letters, digits and dashes"),
	decision: Decision,
	reason: z.string().min(1).max(500),
	match: Match.refine((match) => Object.keys(match).length > 0, "a rule has to match on something"),
	examples: z.strictObject({ match: examples, not: examples }),
});
export type Rule = z.infer<typeof Rule>;

export const RuleFile = z.strictObject({
	rules: z.array(Rule).max(1000).default([]),
	/** Another decision for a rule of the default set. */
	defaults: z.record(z.string(), Decision).default({}),
	/** Directories of projects whose own files may allow, not only ask and deny. */
	trust: texts.optional(),
});
export type RuleFile = z.infer<typeof RuleFile>;
