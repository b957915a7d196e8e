/** The result of a caller-defined tool: one flat object, like ours. */
import * as z from "zod";
import { noticeSchema } from "../notices/index.js";

export const ownOutput = z.lazy(() =>
	z.object({
		status: z.enum(["ok", "error", "not_found", "timeout", "interrupted", "blocked", "pending_approval"]),
		error: z.string().nullable().describe("null, or what went wrong and what to do next."),
		data: z.record(z.string(), z.unknown()).optional(),
		truncated: z.object({ total_chars: z.number().int(), omitted_chars: z.number().int() }).optional(),
		duration_ms: z.number().int().optional(),
		outcome: z.enum(["denied", "expired", "refused_by_rule", "unattended"]).optional().describe("blocked: how."),
		approval_id: z.string().optional().describe("The question to a person about this."),
		rule: z.string().optional().describe("The rule that decided about it."),
		reason: z.string().optional(),
		note: z.string().optional(),
		notices: z.array(noticeSchema).optional().describe("News of background processes."),
		images: z
			.array(z.object({ type: z.string(), data: z.string().describe("Base64.") }))
			.optional()
			.describe("Pictures. Over MCP they are content of their own, and not here."),
		output: z.string(),
	}),
);

export type OwnResult = z.infer<typeof ownOutput>;
