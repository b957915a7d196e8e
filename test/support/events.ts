import { atEnd } from "./home.js";
import type { Api } from "./http.js";

export interface Event {
	readonly id: string;
	readonly type: string;
	readonly data: unknown;
}

export interface Events {
	/** The next one, which must be of this type. */
	next(type: string): Promise<Event>;
	/** The first of this type for which it holds. */
	until(type: string, holds: (event: Event) => boolean): Promise<Event>;
	close(): void;
}

/** Listen to server-sent events. */
export async function eventsOf(api: Api, after?: string): Promise<Events> {
	const stop = new AbortController();
	atEnd(() => stop.abort());
	const headers = { Authorization: `Bearer ${api.token}`, ...(after === undefined ? {} : { "Last-Event-ID": after }) };
	const response = await fetch(`${api.origin}/api/events`, { headers, signal: stop.signal });
	const events = read(response.body as ReadableStream<Uint8Array>);
	const next = async (): Promise<Event> => {
		const { value, done } = await Promise.race([
			events.next(),
			new Promise<never>((_, reject) => setTimeout(() => reject(new Error("no event within 30 s")), 30_000).unref()),
		]);
		if (done) throw new Error("the stream has ended");
		return value;
	};
	return {
		next: async (type) => {
			const event = await next();
			if (event.type !== type) throw new Error(`${event.type} came instead of ${type}`);
			return event;
		},
		until: async (type, holds) => {
			for (;;) {
				const event = await next();
				if (event.type === type && holds(event)) return event;
			}
		},
		close: () => stop.abort(),
	};
}

async function* read(body: ReadableStream<Uint8Array>): AsyncGenerator<Event> {
	let text = "";
	const decoder = new TextDecoder();
	for await (const bytes of body) {
		text += decoder.decode(bytes, { stream: true });
		for (let end = text.indexOf("\n\n"); end >= 0; end = text.indexOf("\n\n")) {
			const fields = Object.fromEntries(
				text
					.slice(0, end)
					.split("\n")
					.map((line) => [line.slice(0, line.indexOf(":")), line.slice(line.indexOf(":") + 2)]),
			);
			text = text.slice(end + 2);
			if (fields.event !== undefined) yield { id: fields.id ?? "", type: fields.event, data: JSON.parse(fields.data ?? "null") };
		}
	}
}
