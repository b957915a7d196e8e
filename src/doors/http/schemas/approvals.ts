/** Approvals, and what the rules say. */
import * as z from "zod";
import { count, place, task, time } from "./shared.js";

export const policyCheckSchema = z.strictObject({
	command: z.string().min(1).max(1_000_000),
	cwd: z.string().min(1).max(4_096).optional(),
	place: place.optional(),
	task: task.optional(),
});
export const verdictSchema = z.looseObject({
	decision: z.enum(["allow", "ask", "deny"]),
	rule: z.string().nullable(),
	reason: z.string().nullable(),
	notes: z.array(z.string()),
});
export const choiceSchema = z.enum(["once", "task", "always", "no"]);
export const approvalSchema = z.object({
	id: z.string(),
	task: z.string(),
	command: z.string(),
	cwd: z.string(),
	place: z.string(),
	parts: z
		.array(z.object({ start: count, end: count, text: z.string(), rule: z.string(), reason: z.string() }))
		.describe("What in it is to be decided about, and why; start and end are bytes of the command."),
	choices: z.array(choiceSchema).describe("What can be answered."),
	state: z.enum(["pending", "answered", "expired", "withdrawn"]),
	created_at: time,
	expires_at: time,
	waiting: z.boolean().describe("A call waits for the answer now. If none does, it counts for the next identical one."),
	answer: choiceSchema.optional(),
	by: z.string().optional(),
	message: z.string().optional(),
	answered_at: time.optional(),
});
export const approvalsSchema = z.object({ approvals: z.array(approvalSchema) });
export const answerSchema = z.strictObject({ answer: choiceSchema, message: z.string().max(2_000).optional().describe("For the agent.") });
export const revokeSchema = z.strictObject({ task });
export const revokedSchema = z.object({
	task: z.string(),
	allowed: z
		.array(z.object({ approval_id: z.string(), command: z.string(), cwd: z.string(), place: z.string(), by: z.string() }))
		.describe("Had been allowed for the rest of the task."),
	unused: z.array(z.string()).describe("Answers `once` that no call had made use of."),
	withdrawn: z.array(z.string()).describe("Questions that waited for an answer."),
});

export type VerdictView = z.infer<typeof verdictSchema>;
export type Approval = z.infer<typeof approvalSchema>;
export type Choice = z.infer<typeof choiceSchema>;
