/** Links to one terminal, and its ports. */
import * as z from "zod";
import { time } from "./shared.js";

export const viewerRequestSchema = z.strictObject({
	session_id: z.string(),
	seconds: z.number().int().min(60).max(2_592_000).optional().describe("How long it works; default 86,400, a day; of a keyboard link 600, at most 86,400."),
	keyboard: z.boolean().optional().describe("It may take the keyboard: one browser, once."),
});
export const viewerSchema = z.object({ id: z.string(), session_id: z.string(), created_at: time, expires_at: time, keyboard: z.boolean() });
export const openLinkSchema = z.strictObject({ secret: z.string().max(200) });
export const openedLinkSchema = z.object({
	secret: z.string().describe("For this browser: `Authorization: Bearer SECRET`."),
	session_id: z.string(),
	expires_at: time,
});
export const viewerLinkSchema = viewerSchema.extend({ url: z.string().describe("Shown this once.") });
export const portsSchema = z.object({
	session_id: z.string(),
	ports: z.array(
		z.object({
			port: z.number().int().min(1).max(65_535),
			url: z.string().nullable().describe("Opens the preview in a browser; null: it has no name that leads here."),
		}),
	),
	note: z.string().nullable().describe("What to do for a url."),
});
export const viewersSchema = z.object({ viewers: z.array(viewerSchema) });

export type Ports = z.infer<typeof portsSchema>;
export type OpenedLink = z.infer<typeof openedLinkSchema>;
export type ViewerLink = z.infer<typeof viewerLinkSchema>;
