/** A question to a person about a command, and its answer, as they are kept and as they are shown. */
import * as z from "zod";

export const CHOICES = ["once", "task", "always", "no"] as const;
export type Choice = (typeof CHOICES)[number];

export const isApprovalId = (text: string): boolean => /^appr_[0-9a-f]{12}$/.test(text);

const part = z.lazy(() =>
	z.object({
		/** Bytes of the command. */
		start: z.number().int(),
		end: z.number().int(),
		text: z.string(),
		rule: z.string(),
		reason: z.string(),
	}),
);

/** Never changes once it is written. */
export const questionSchema = z.lazy(() =>
	z.object({
		v: z.literal(1),
		id: z.string().refine(isApprovalId),
		task: z.string(),
		command: z.string(),
		cwd: z.string(),
		place: z.string(),
		parts: z.array(part).min(1),
		choices: z.array(z.enum(CHOICES)),
		created: z.number(),
		expires: z.number(),
	}),
);
export type Question = Readonly<z.infer<typeof questionSchema>>;

/** How it was settled; the first to be written counts. Two of them are no person's answer: it expired, or the call that asked withdrew it. */
export const answerSchema = z.lazy(() =>
	z.object({
		answer: z.enum([...CHOICES, "expired", "withdrawn"]),
		/** The door it came through, and the person if known. */
		by: z.string(),
		message: z.string().optional(),
		at: z.number(),
	}),
);
export type Answer = Readonly<z.infer<typeof answerSchema>>;

/** A question with how it stands, as every door shows it. */
export interface Approval {
	readonly id: string;
	readonly task: string;
	readonly command: string;
	readonly cwd: string;
	readonly place: string;
	/** The parts of it to decide about, with the reasons: `start` and `end` are bytes of the command. */
	readonly parts: readonly z.infer<typeof part>[];
	/** The possible answers. */
	readonly choices: readonly Choice[];
	readonly state: "pending" | "answered" | "expired" | "withdrawn";
	readonly created_at: string;
	readonly expires_at: string;
	/** Whether a call waits for the answer now, or did when it came. If none does, it counts for the next identical one. */
	readonly waiting: boolean;
	readonly answer?: Choice;
	readonly by?: string;
	readonly message?: string;
	readonly answered_at?: string;
}
