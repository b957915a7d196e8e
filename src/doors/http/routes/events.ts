/** Server-sent events: lists and notices as they change. */
import * as z from "zod";
import type { Event } from "../events.js";
import { type Route, route } from "../router.js";
import { isStillValid } from "../visitor.js";
import type { ApiContext } from "./context.js";

const ALIVE_MS = 15_000;
/** A client that does not read is disconnected; it comes back and gets what it missed. */
const UNREAD_BYTES = 4 * 1024 * 1024;

const querySchema = z.strictObject({ last_event_id: z.string().max(100).optional() });

export const eventRoutes = (api: ApiContext): Route[] => [
	route(
		{ method: "get", path: "/api/events", who: "owner", summary: "What happens, as server-sent events", query: querySchema, answer: "text/event-stream" },
		({ context, query, visitor }) => {
			const after = context.req.header("last-event-id") ?? query.last_event_id;
			return context.body(
				stream(api, after, () => visitor !== undefined && isStillValid(visitor, api)),
				200,
				{ "Content-Type": "text/event-stream", "Cache-Control": "no-store", "X-Accel-Buffering": "no" },
			);
		},
	),
];

function stream(api: ApiContext, after: string | undefined, stillValid: () => boolean): ReadableStream<Uint8Array> {
	const encoder = new TextEncoder();
	let end = () => {};
	return new ReadableStream<Uint8Array>(
		{
			start: async (controller) => {
				let open = true;
				const send = (text: string) => {
					if (!open) return;
					// Asked before: a snapshot that is larger than this by itself must get through, or the client would reconnect for it for ever.
					if ((controller.desiredSize ?? 0) > 0 && stillValid()) {
						controller.enqueue(encoder.encode(text));
						return;
					}
					end();
					controller.close();
				};
				const alive = setInterval(() => send(": alive\n\n"), ALIVE_MS);
				let unlisten = () => {};
				end = () => {
					open = false;
					clearInterval(alive);
					unlisten();
				};
				send("retry: 1000\n\n");
				unlisten = await api.events.listen(after, ({ id, type, data }: Event) => send(`id: ${id}\nevent: ${type}\ndata: ${JSON.stringify(data)}\n\n`));
				if (!open) unlisten();
			},
			cancel: () => end(),
		},
		new ByteLengthQueuingStrategy({ highWaterMark: UNREAD_BYTES }),
	);
}
