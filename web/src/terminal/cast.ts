/** A recording in memory: asciicast v2, one line of JSON an event. What is not an event of ours is skipped, as the format asks. */
export interface Cast {
	readonly cols: number;
	readonly rows: number;
	readonly title: string;
	readonly events: readonly CastEvent[];
	readonly seconds: number;
	/** Too long to be held in a page: only the beginning is here. */
	readonly cut: boolean;
}

export interface CastEvent {
	readonly at: number;
	/** Output, or a new size. */
	readonly kind: "o" | "r";
	readonly data: string;
}

const MOST_CHARS = 48 * 1024 * 1024;

/** Reads line by line as it arrives. */
export async function readCast(body: ReadableStream<Uint8Array>): Promise<Cast> {
	const events: CastEvent[] = [];
	let header: { width?: number; height?: number; title?: string } | undefined;
	let chars = 0;
	for await (const line of lines(body)) {
		chars += line.length;
		if (header === undefined) header = JSON.parse(line) as typeof header;
		else {
			const event = eventOf(line);
			if (event) events.push(event);
		}
		if (chars > MOST_CHARS) return made(header, events, true);
	}
	if (header === undefined) throw new Error("the recording is empty");
	return made(header, events, false);
}

function made(header: { width?: number; height?: number; title?: string } | undefined, events: CastEvent[], cut: boolean): Cast {
	const { width = 80, height = 24, title = "" } = header ?? {};
	return { cols: width, rows: height, title, events, seconds: events.at(-1)?.at ?? 0, cut };
}

function eventOf(line: string): CastEvent | undefined {
	try {
		const [at, kind, data] = JSON.parse(line) as [unknown, unknown, unknown];
		if (typeof at === "number" && (kind === "o" || kind === "r") && typeof data === "string") return { at, kind, data };
	} catch {
		// a line cut off by a crash
	}
	return undefined;
}

async function* lines(body: ReadableStream<Uint8Array>): AsyncGenerator<string> {
	const reader = body.pipeThrough(new TextDecoderStream() as ReadableWritablePair<string, Uint8Array>).getReader();
	let rest = "";
	try {
		for (;;) {
			const { done, value } = await reader.read();
			if (done) break;
			const parts = (rest + value).split("\n");
			rest = parts.pop() ?? "";
			for (const part of parts) if (part.trim()) yield part;
		}
		if (rest.trim()) yield rest;
	} finally {
		await reader.cancel();
	}
}

/** Long silences shortened to `most` seconds each. */
export function hurried(cast: Cast, most: number): Cast {
	let at = 0;
	let before = 0;
	const events = cast.events.map((event) => {
		at += Math.min(event.at - before, most);
		before = event.at;
		return { ...event, at };
	});
	return { ...cast, events, seconds: at };
}
