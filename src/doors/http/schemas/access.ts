/** Getting in: login, sessions, tickets. */
import * as z from "zod";
import { time } from "./shared.js";

/** Every answer with a status of 400 or more. */
export const problemSchema = z.object({
	error: z.object({
		code: z.string().describe("For programs: UNAUTHORIZED, FORBIDDEN, INVALID, NOT_FOUND, KEYBOARD, ENDED, …"),
		message: z.string().describe("One sentence that says what to do next."),
	}),
});

export const okSchema = z.object({ ok: z.literal(true) });

export const loginSchema = z.strictObject({ token: z.string().min(1).max(1_000).describe("What is behind #token= in the link; or the token itself.") });
export const loggedInSchema = z.object({
	key: z.string().describe("Send it as X-Holdfast-Key with every request of this browser, beside the cookie."),
	expires_at: time,
});
export const sessionSchema = z.object({
	scope: z.enum(["owner", "viewer"]),
	session_id: z.string().nullable().describe("viewer: the one terminal that may be seen."),
	expires_at: time.nullable().describe("null: a token, which does not expire."),
	version: z.string(),
	mcp: z.string().nullable().describe("The MCP endpoint, for the owner."),
	home: z.string().nullable(),
	place: z.string().nullable().describe("Where what is started runs, unless said otherwise."),
	cwd: z.string().nullable().describe("Where what is started by hand starts, unless said otherwise."),
	parts: z
		.array(z.object({ name: z.string(), label: z.string(), icon: z.string().nullable(), script: z.string(), style: z.string().nullable() }))
		.describe("Views that other packages bring, for the owner: their paths in this server."),
});

export const ticketRequestSchema = z.discriminatedUnion("for", [
	z.strictObject({ for: z.literal("terminal"), session_id: z.string() }),
	z.strictObject({
		for: z.literal("download"),
		path: z.string().startsWith("/api/", "must begin with /api/").max(8_000).describe("The path and query that is to be downloaded."),
	}),
]);
export const ticketSchema = z.object({
	ticket: z.string(),
	url: z.string().describe("Where to use it, once: a path with the ticket in it."),
	expires_in: z.number().describe("Seconds."),
});

export type Problem = z.infer<typeof problemSchema>;
export type LoggedIn = z.infer<typeof loggedInSchema>;
export type Session = z.infer<typeof sessionSchema>;
export type TicketRequest = z.infer<typeof ticketRequestSchema>;
export type Ticket = z.infer<typeof ticketSchema>;
