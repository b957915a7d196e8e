/** Text messages and binary frames of a terminal's WebSocket. Uses nothing of Node, since the page imports this file too. */
import * as z from "zod";
import { keyboardSchema, processSchema } from "./schemas.js";

const count = z.number().int().min(0);
const side = z.number().int().min(1).max(10_000);

/** The largest message that either side sends. */
export const MESSAGE_BYTES = 1024 * 1024;
/** So much output may be on its way and not acknowledged. */
export const WINDOW_BYTES = 512 * 1024;

/** A binary frame is output: 8 bytes offset, 8 bytes end of the log at that moment, both unsigned and big-endian; then the bytes. */
export const FRAME_HEAD = 16;

export const clientMessageSchema = z.discriminatedUnion("type", [
	/** The first message. Sent again at any time it starts over from its offset: so a viewer that is far behind comes to the present. */
	z.strictObject({
		type: z.literal("open"),
		/** null: a screen, then what comes after it. */
		offset: count.nullable(),
	}),
	/** All output before this offset has been dealt with. */
	z.strictObject({ type: z.literal("ack"), offset: count }),
	/** Needs the keyboard. `bytes`: each character is one byte, as xterm.js gives them in onBinary. */
	z.strictObject({ type: z.literal("input"), data: z.string().min(1).max(100_000), bytes: z.boolean().optional() }),
	/** Needs the keyboard. */
	z.strictObject({ type: z.literal("resize"), cols: side, rows: side }),
	z.strictObject({ type: z.literal("keyboard"), action: z.enum(["take", "release"]), force: z.boolean().optional() }),
]);

export const serverMessageSchema = z.discriminatedUnion("type", [
	/** The answer to `open`. Frames begin at `offset`; of a screen, after it. */
	z.object({ type: z.literal("opened"), process: processSchema, read_only: z.boolean(), offset: count, cols: side.nullable(), rows: side.nullable() }),
	/** Reset the terminal, give it this size and write `data`: then it is as at `offset`. `approximate`: another one may follow. */
	z.object({ type: z.literal("screen"), offset: count, cols: side, rows: side, data: z.string(), title: z.string(), approximate: z.boolean() }),
	/** The terminal's size from this offset on. In order with the frames. */
	z.object({ type: z.literal("size"), offset: count, cols: side, rows: side }),
	/** The log no longer has the bytes between. Frames go on at `to`. */
	z.object({ type: z.literal("gap"), from: count, to: count }),
	/** The current holder of the keyboard. `mine`: this connection. */
	z.object({ type: z.literal("keyboard"), keyboard: keyboardSchema, mine: z.boolean() }),
	/** The process has ended and all its output has been sent. */
	z.object({ type: z.literal("ended"), process: processSchema }),
	/** Something asked for could not be done; the connection goes on. */
	z.object({ type: z.literal("error"), code: z.string(), message: z.string() }),
	/** Every 15 seconds: silence for longer means that the connection is dead. */
	z.object({ type: z.literal("alive") }),
]);

/** How the server closes. */
export const CLOSE = {
	leaving: 1001, // the server stops: connect again
	unsupported: 1003, // a binary frame
	policy: 1008, // a message that this connection may not send, or too many of them unread
	tooBig: 1009,
	malformed: 4400,
	expired: 4401, // the viewer's link has expired or was withdrawn
	gone: 4404, // the process was removed
} as const;

export type ClientMessage = z.infer<typeof clientMessageSchema>;
export type ServerMessage = z.infer<typeof serverMessageSchema>;
