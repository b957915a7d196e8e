/** The server's events, for as long as the page is open: connects again by itself and goes on where it was. */
import { signal } from "@preact/signals";
import { ApiError, send } from "./client.js";

export type EventsState = "connecting" | "live" | "lost";
export const link = signal<EventsState>("connecting");

type Listener = (event: string, data: unknown) => void;

const SILENCE_MS = 40_000; // the server says something every 15 seconds
const RETRY_MS = [200, 500, 1_000, 2_000, 4_000];

/** Ends when the server does not know us any more. */
export async function listen(heard: Listener): Promise<void> {
	let last = "";
	for (let failures = 0; ; failures++) {
		const quiet = new Watchdog(SILENCE_MS);
		try {
			const response = await send("GET", "/api/events", {
				signal: quiet.signal,
				more: { Accept: "text/event-stream", ...(last ? { "Last-Event-ID": last } : {}) },
			});
			link.value = "live";
			failures = 0;
			for await (const { id, event, data } of parse(response.body as ReadableStream<Uint8Array>, () => quiet.heard())) {
				heard(event, JSON.parse(data));
				if (id) last = id;
			}
		} catch (error) {
			if (error instanceof ApiError && error.status === 401) return;
		} finally {
			quiet.stop();
		}
		link.value = "lost";
		await pause(RETRY_MS[Math.min(failures, RETRY_MS.length - 1)] as number);
	}
}

class Watchdog {
	readonly #controller = new AbortController();
	readonly signal = this.#controller.signal;
	#timer = 0;

	constructor(readonly ms: number) {
		this.heard();
	}

	heard(): void {
		clearTimeout(this.#timer);
		this.#timer = setTimeout(() => this.#controller.abort(), this.ms);
	}

	stop(): void {
		clearTimeout(this.#timer);
		this.#controller.abort();
	}
}

interface Heard {
	readonly id: string;
	readonly event: string;
	readonly data: string;
}

async function* parse(body: ReadableStream<Uint8Array>, heard: () => void): AsyncGenerator<Heard> {
	const reader = body.pipeThrough(new TextDecoderStream() as ReadableWritablePair<string, Uint8Array>).getReader();
	let rest = "";
	for (;;) {
		const { done, value } = await reader.read();
		if (done) return;
		heard();
		const blocks = (rest + value.replace(/\r\n?/g, "\n")).split("\n\n");
		rest = blocks.pop() ?? "";
		for (const block of blocks) {
			const message = { id: "", event: "message", data: "" };
			for (const line of block.split("\n")) {
				const [, field, text] = /^(id|event|data): ?(.*)$/.exec(line) ?? [];
				if (field === "data") message.data += message.data ? `\n${text}` : text;
				else if (field === "id" || field === "event") message[field] = text ?? "";
			}
			if (message.data) yield message;
		}
	}
}

/** Sooner when the network or the person comes back. */
function pause(ms: number): Promise<void> {
	return new Promise((resolve) => {
		const done = () => {
			clearTimeout(timer);
			removeEventListener("online", done);
			document.removeEventListener("visibilitychange", done);
			resolve();
		};
		const timer = setTimeout(done, ms);
		addEventListener("online", done);
		document.addEventListener("visibilitychange", done);
	});
}
