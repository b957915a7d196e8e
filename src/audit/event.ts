/** The lines of a task's audit. docs/audit.md explains them. */
import * as z from "zod";

const part = z.lazy(() => z.object({ text: z.string(), rule: z.string().nullable(), reason: z.string().nullable() }));

/** The fields of every line; unknown ones are missing. */
export const eventSchema = z.lazy(() =>
	z.object({
		at: z.string(),
		task: z.string(),
		event: z.enum(["asked", "decided", "run", "ended", "killed", "signalled", "wrote", "file", "read", "tool", "notice", "keyboard"]),
		/** `run_` and hex: joins the lines of one command. */
		run: z.string().optional(),
		session_id: z.string().optional(),
		/** The id that the caller gave the call. */
		call: z.string().optional(),
		approval_id: z.string().optional(),
		command: z.string().optional(),
		cwd: z.string().optional(),
		place: z.string().optional(),
		/** run, file: as which user of the place, if the call named one. */
		user: z.string().optional(),
		parts: z.array(part).optional(),
		/** decided: `allow`, or how it was refused. keyboard: `taken`, `returned`, or `lost` when its holder was cut off. */
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
		/** notice: what kind of news, and the id by which repeats are told. */
		notice: z.string().optional(),
		notice_id: z.string().optional(),
		/** file, read: which tool. `command` is what would do the same. tool: the name of a tool of another program; `command` has its arguments. */
		tool: z.string().optional(),
		/** wrote, file: how much, but not what. keyboard: how much was printed meanwhile. ended: 0 if a foreground command printed nothing. */
		bytes: z.number().optional(),
		/** ended: not written down when it happened, but worked out from the record of the process when this was read. */
		worked_out: z.boolean().optional(),
		note: z.string().optional(),
	}),
);

export type AuditEvent = z.infer<typeof eventSchema>;
export type AuditNews = Omit<AuditEvent, "at" | "task">;
