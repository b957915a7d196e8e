/** The server's events for what is on show: connects again by itself, and goes on with the line behind the last one that came. */
import type { PartHost } from "holdfast/http";
import type { StreamEvents } from "../../../src/page/messages.js";

const SILENCE_MS = 40_000; // the server says something every 15 seconds
const RETRY_MS = [200, 500, 1_000, 2_000, 4_000];

export type Heard = { [K in keyof StreamEvents]: (data: StreamEvents[K]) => void };

export interface EventsOptions {
	readonly host: PartHost<HTMLElement>;
	/** Asked before every connection. */
	readonly path: () => string;
	readonly heard: Heard;
	readonly connected: (is: boolean) => void;
	readonly signal: AbortSignal;
}

/** While the page is not to be seen it has no connection: a browser has few of them for all its tabs. */
export async function listen({ host, path, heard, connected, signal }: EventsOptions): Promise<void> {
	for (let failures = 0; !signal.aborted; failures++) {
		await untilVisible(signal);
		if (signal.aborted) return;
		const over = new AbortController();
		const watchdog = silenceWatch(() => over.abort());
		const hidden = () => document.hidden && over.abort();
		document.addEventListener("visibilitychange", hidden);
		try {
			const response = await host.request("GET", path(), { signal: AbortSignal.any([signal, over.signal]), headers: { Accept: "text/event-stream" } });
			connected(true);
			failures = 0;
			for await (const { event, data } of parse(response.body as ReadableStream<Uint8Array>, watchdog.heard))
				if (Object.hasOwn(heard, event)) heard[event as "list"](JSON.parse(data));
		} catch (error) {
			if ((error as { status?: number }).status === 401) return; // the page asks who we are
		} finally {
			watchdog.stop();
			document.removeEventListener("visibilitychange", hidden);
			over.abort();
		}
		if (signal.aborted) return;
		if (!document.hidden) connected(false);
		await pause(RETRY_MS[Math.min(failures, RETRY_MS.length - 1)] as number, signal);
	}
}

function silenceWatch(silent: () => void): { heard: () => void; stop: () => void } {
	let timer = setTimeout(silent, SILENCE_MS);
	return {
		heard: () => {
			clearTimeout(timer);
			timer = setTimeout(silent, SILENCE_MS);
		},
		stop: () => clearTimeout(timer),
	};
}

async function* parse(body: ReadableStream<Uint8Array>, heard: () => void): AsyncGenerator<{ event: string; data: string }> {
	const reader = body.pipeThrough(new TextDecoderStream() as ReadableWritablePair<string, Uint8Array>).getReader();
	let rest = "";
	for (;;) {
		const { done, value } = await reader.read();
		if (done) return;
		heard();
		const blocks = (rest + value).split("\n\n");
		rest = blocks.pop() ?? "";
		for (const block of blocks) {
			const event = /^event: (.*)$/m.exec(block)?.[1];
			const data = /^data: (.*)$/m.exec(block)?.[1];
			if (event !== undefined && data !== undefined) yield { event, data };
		}
	}
}

function untilVisible(signal: AbortSignal): Promise<void> {
	if (!document.hidden) return Promise.resolve();
	return new Promise((resolve) => {
		const look = () => {
			if (document.hidden && !signal.aborted) return;
			document.removeEventListener("visibilitychange", look);
			signal.removeEventListener("abort", look);
			resolve();
		};
		document.addEventListener("visibilitychange", look);
		signal.addEventListener("abort", look);
	});
}

/** Sooner when the network comes back. */
function pause(ms: number, signal: AbortSignal): Promise<void> {
	return new Promise((resolve) => {
		const done = () => {
			clearTimeout(timer);
			removeEventListener("online", done);
			signal.removeEventListener("abort", done);
			resolve();
		};
		const timer = setTimeout(done, ms);
		addEventListener("online", done);
		signal.addEventListener("abort", done);
	});
}
