/** Parts of logs as text with the secrets in them hidden, also those that go over the border of a part. What is hidden stays so until `reveal`. */

import { utf8 } from "../base/index.js";
import { CONTEXT_BYTES, type Redactor, reveal, starred } from "../base/secrets/index.js";
import { COMMAND_SHOWN, type Spec } from "../keeper/index.js";
import type { Log, Slice } from "./log.js";
import type { Process } from "./process.js";

export interface HiddenOptions {
	/** Where reading ends: nothing behind it is read. */
	readonly end: number;
	/** More may come behind the end: what may be the beginning of a secret is left to the next reader. */
	readonly live?: boolean;
	readonly context?: number;
}

export interface HiddenText {
	/** Character for character what the bytes say. */
	readonly text: string;
	/** How many of the bytes it is. */
	readonly bytes: number;
}

/** A log, and what is masked in it. */
export interface MaskedLog {
	readonly log: Log;
	readonly secrets: Redactor;
}

export function hiddenText({ log, secrets }: MaskedLog, slice: Pick<Slice, "bytes" | "offset">, options: HiddenOptions): HiddenText {
	const { end, live = false, context = CONTEXT_BYTES } = options;
	const raw = utf8(slice.bytes);
	if (raw === "") return { text: "", bytes: 0 };
	const next = slice.offset + slice.bytes.length;
	const { text, open } = secrets.hideLive(raw, {
		before: textBefore(log, slice.offset, context),
		after: next < end ? utf8(log.read(next, context).bytes) : "",
	});
	if (!live || open === 0) return { text, bytes: slice.bytes.length };
	const held = Math.min(open, raw.length); // it may have begun before
	return { text: text.slice(0, raw.length - held), bytes: slice.bytes.length - Buffer.byteLength(raw.slice(raw.length - held)) };
}

function textBefore(log: Log, offset: number, context: number): string {
	const from = Math.max(0, offset - context);
	if (from === offset) return "";
	const { bytes, next } = log.read(from, offset - from);
	return next === offset ? utf8(bytes) : ""; // else a ring has just dropped it
}

/** The text of a command for lists and the like; a long one is cut, and ends in a mark of that. */
export function maskedCommand({ spec: { command }, secrets }: { readonly spec: Spec; readonly secrets: Redactor }): string {
	const cut = command.length >= COMMAND_SHOWN;
	return `${secrets.redact(command, { cut })}${cut ? "…" : ""}`;
}

/** A text that was found in its output, and where that ends: a pattern may find a part of a secret. */
export function maskedMatch(process: Process, match: string, end: number): string {
	const length = Buffer.byteLength(match);
	const slice = process.log.read(Math.max(0, end - length), length);
	if (utf8(slice.bytes) !== match) return process.secrets.redact(match); // there were bytes that are no text
	return reveal(hiddenText(process, slice, { end: process.log.bounds().end }).text);
}

/** A slice of a log with a star for each byte of a secret, so that nothing changes its offset. `live`: more may come, so what may be the beginning of a secret is left to the next reader. */
export function starredSlice({ log, secrets }: MaskedLog, { bytes, offset, next }: Slice, live: boolean): Slice {
	const from = Math.max(0, offset - CONTEXT_BYTES);
	const before = log.read(from, offset - from);
	const around = { before: before.next === offset ? before.bytes.toString("latin1") : "", after: log.read(next, CONTEXT_BYTES).bytes.toString("latin1") };
	const { text, open } = secrets.hideLive(bytes.toString("latin1"), around); // a character a byte
	const shown = bytes.length - (live ? Math.min(open, bytes.length) : 0);
	return { bytes: Buffer.from(starred(text.slice(0, shown)), "latin1"), offset, next: next - bytes.length + shown };
}

/** The same for a log that is followed. What may be the beginning of a secret comes with the next slice. */
export async function* starredSlices(from: MaskedLog, slices: AsyncIterable<Slice>): AsyncGenerator<Slice> {
	let stream: RedactedStream | undefined;
	let [sent, read] = [0, -1];
	for await (const slice of slices) {
		if (!stream || slice.offset !== read) {
			stream = new RedactedStream(from, slice.offset, starred); // the first, or the ring has dropped what is between
			sent = slice.offset;
		}
		read = slice.next;
		const bytes = stream.push(slice.bytes);
		yield { bytes, offset: sent, next: sent + bytes.length };
		sent += bytes.length;
	}
	const bytes = stream?.end() ?? Buffer.alloc(0);
	if (bytes.length > 0) yield { bytes, offset: sent, next: sent + bytes.length };
}

/** A log to print as it comes: byte for byte, but for what is secret. What may be the beginning of a secret is held back until more comes. */
export class RedactedStream {
	#before: string;
	#rest = "";
	readonly #show: (hidden: string) => string;
	readonly #secrets: Redactor;

	/** For what is printed from an offset on. `show`: what is printed in place of what is hidden. */
	constructor({ log, secrets }: MaskedLog, from: number, show: (hidden: string) => string = reveal) {
		this.#show = show;
		this.#secrets = secrets;
		const start = Math.max(0, from - CONTEXT_BYTES);
		const { bytes, next } = log.read(start, from - start);
		this.#before = from > start && next === from ? bytes.toString("latin1") : "";
	}

	push(bytes: Buffer): Buffer {
		const raw = this.#rest + bytes.toString("latin1"); // a character a byte
		const { text, open } = this.#secrets.hideLive(raw, { before: this.#before });
		const shown = raw.length - Math.min(open, raw.length);
		this.#before = (this.#before + raw.slice(0, shown)).slice(-CONTEXT_BYTES);
		this.#rest = raw.slice(shown);
		return toBytes(this.#show(text.slice(0, shown)));
	}

	/** What is left when nothing more comes. */
	end(): Buffer {
		return toBytes(this.#show(this.#secrets.hideLive(this.#rest, { before: this.#before }).text));
	}
}

/** All of it is bytes but for the mark. */
const toBytes = (text: string): Buffer => Buffer.concat(text.split("…").flatMap((part, at) => [Buffer.from(at === 0 ? "" : "…"), Buffer.from(part, "latin1")]));
