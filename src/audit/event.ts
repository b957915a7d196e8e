/** What the audit of a task has in each line. docs/audit.md explains them. */
import * as z from "zod";

const part = z.object({ text: z.string(), rule: z.string().nullable(), reason: z.string().nullable() });

/** The fields of every line; what is not known is not there. */
export const eventSchema = z.object({
	at: z.string(),
	task: z.string(),
	event: z.enum(["asked", "decided", "run", "ended", "killed", "signalled", "wrote", "file"]),
	/** `run_` and hex: joins the lines of one command. */
	run: z.string().optional(),
	session_id: z.string().optional(),
	approval_id: z.string().optional(),
	command: z.string().optional(),
	cwd: z.string().optional(),
	place: z.string().optional(),
	parts: z.array(part).optional(),
	/** decided: `allow`, or how it was refused. */
	outcome: z.string().optional(),
	rule: z.string().nullable().optional(),
	reason: z.string().nullable().optional(),
	/** Which door the answer, or the act, came through. */
	by: z.string().optional(),
	message: z.string().optional(),
	status: z.string().optional(),
	exit_code: z.number().nullable().optional(),
	signal: z.string().optional(),
	duration_ms: z.number().optional(),
	ended_at: z.string().optional(),
	/** file: which tool. `command` is what would do the same. */
	tool: z.string().optional(),
	/** wrote, file: how much; what it was is nobody's business. */
	bytes: z.number().optional(),
	/** ended: not written down when it happened, but worked out from the record of the process when this was read. */
	worked_out: z.boolean().optional(),
	note: z.string().optional(),
});

export type AuditEvent = z.infer<typeof eventSchema>;
export type AuditNews = Omit<AuditEvent, "at" | "task">;
