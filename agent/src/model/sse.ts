/** Bytes of a response to server-sent events. Whatever ends a stream too early is a `cut`. */
import { createParser, type EventSourceMessage } from "eventsource-parser";
import { ModelError } from "./model.js";

export interface StreamEvent {
	readonly event?: string;
	readonly data: string;
	/** The body ended without the empty line that closes an event: it may be half of one. */
	readonly tail?: boolean;
}

export interface StreamLimits {
	/** Without a byte for so long the stream counts as cut. Asked again before every wait. */
	readonly stallMs: () => number;
	/** Characters of one event, bytes of all. */
	readonly eventChars?: number;
	readonly totalBytes?: number;
}

const EVENT_CHARS = 32 * 1024 * 1024;
const TOTAL_BYTES = 256 * 1024 * 1024;

/** Throws `ModelError`. The body is cancelled when the reader of the events stops. */
export async function* streamEvents(body: ReadableStream<Uint8Array>, limits: StreamLimits): AsyncGenerator<StreamEvent, void> {
	const { eventChars = EVENT_CHARS, totalBytes = TOTAL_BYTES } = limits;
	const ready: EventSourceMessage[] = [];
	let tooLong = false;
	const parser = createParser({
		onEvent: (event) => void ready.push(event),
		// Unknown fields are ignored, as the specification says.
		onError: (error) => {
			if (error.type === "max-buffer-size-exceeded") tooLong = true;
		},
		maxBufferSize: eventChars,
	});
	const decoder = new TextDecoder();
	const reader = body.getReader();
	let bytes = 0;
	try {
		for (;;) {
			const { done, value } = await nextChunk(reader, limits.stallMs());
			if (done) break;
			bytes += value.byteLength;
			parser.feed(decoder.decode(value, { stream: true }));
			if (tooLong) throw new ModelError("wrong", `the endpoint sent an event of more than ${eventChars} characters; this is no answer of a model`);
			if (bytes > totalBytes) throw new ModelError("wrong", `the endpoint sent more than ${totalBytes} bytes in one answer; this is no answer of a model`);
			yield* take(ready);
		}
		parser.feed(`${decoder.decode()}\n\n`);
		for (const { event, data } of take(ready)) yield { event, data, tail: true };
	} finally {
		// A reader that stops early has what it wants: the connection is not kept for the rest.
		reader.cancel().catch(() => {});
	}
}

function* take(ready: EventSourceMessage[]): Generator<EventSourceMessage> {
	for (let event = ready.shift(); event; event = ready.shift()) yield event;
}

async function nextChunk(reader: ReadableStreamDefaultReader<Uint8Array>, stallMs: number): Promise<Awaited<ReturnType<typeof reader.read>>> {
	let timer: NodeJS.Timeout | undefined;
	const stall = new Promise<never>((_, reject) => {
		timer = setTimeout(() => reject(new ModelError("cut", `the stream stood still for ${Math.round(stallMs / 1000)} s`)), stallMs);
	});
	try {
		return await Promise.race([reader.read(), stall]);
	} catch (error) {
		if (error instanceof ModelError) throw error;
		throw new ModelError("cut", `the connection broke in the middle of the answer${reason(error)}`);
	} finally {
		clearTimeout(timer);
	}
}

/** The code of a network error. Its text is not taken: an endpoint may have a hand in it. */
function reason(error: unknown): string {
	const code = (error as { cause?: { code?: unknown }; code?: unknown } | undefined)?.cause?.code ?? (error as { code?: unknown } | undefined)?.code;
	return typeof code === "string" ? ` (${code})` : "";
}
