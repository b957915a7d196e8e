import * as z from "zod";
import { isId } from "../base/index.js";

export const noticeSchema = z.lazy(() =>
	z.object({
		/** Two notices with the same id are the same: after a crash one may come again. */
		id: z.string().regex(/^[\w-]{1,100}$/),
		kind: z.enum(["completed", "progress", "match", "watch_disabled", "flood", "flood_over", "keyboard"]),
		/** The task that it is for. */
		task: z.string(),
		/** The process; null when it is about all of the task's. */
		session_id: z.string().refine(isId).nullable(),
		at: z.string(),
		/** All of it in words, for a model. */
		text: z.string(),
		/** completed: how. */
		status: z.enum(["exited", "killed", "lost"]).optional(),
		exit_code: z.number().int().nullable().optional(),
		signal: z.string().nullable().optional(),
		/** completed: the limit that it met. */
		limit: z.string().optional(),
		/** The offset in the log of the output in `text`. */
		byte_offset: z.number().int().optional(),
		/** Matching lines that came since the last notice and are not shown. */
		suppressed: z.number().int().optional(),
		/** Older notices that this one has pushed out of a full queue. */
		dropped: z.number().int().optional(),
	}),
);

/** A piece of news about background processes. */
export type Notice = Readonly<z.infer<typeof noticeSchema>>;
/** Before the queue has given it its time. */
export type News = Omit<Notice, "at" | "task" | "dropped">;
