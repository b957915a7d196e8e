/** Parts of logs as text with their secrets hidden, including secrets that cross the edge of a part. Hidden text stays so until `reveal`. */

import { utf8 } from "../base/index.js";
import { CONTEXT_BYTES, type Redactor, reveal, starred } from "../base/secrets/index.js";
import { COMMAND_SHOWN, type Spec } from "../keeper/index.js";
import type { Log, Slice } from "./log.js";
import type { Process } from "./process.js";

export interface HiddenOptions {
	/** End of the log for this read: nothing beyond it is read. */
	readonly end: number;
	/** More output may follow the end: a possible beginning of a secret is left to the next read. */
	readonly live?: boolean;
	readonly context?: number;
}

export interface HiddenText {
	/** The text of the bytes, character for character. */
	readonly text: string;
	/** Number of the bytes that `text` covers. */
	readonly bytes: number;
}

/** A log and the redactor for it. */
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
	const held = Math.min(open, raw.length); // the secret may begin before the slice
	return { text: text.slice(0, raw.length - held), bytes: slice.bytes.length - Buffer.byteLength(raw.slice(raw.length - held)) };
}

function textBefore(log: Log, offset: number, context: number): string {
	const from = Math.max(0, offset - context);
	if (from === offset) return "";
	const { bytes, next } = log.read(from, offset - from);
	return next === offset ? utf8(bytes) : ""; // otherwise the ring has just dropped it
}

/** Returns the masked text of a command for lists. A long command is cut and ends in "…". */
export function maskedCommand({ spec: { command }, secrets }: { readonly spec: Spec; readonly secrets: Redactor }): string {
	const cut = command.length >= COMMAND_SHOWN;
	return `${secrets.redact(command, { cut })}${cut ? "…" : ""}`;
}

/** Masks a match in the output of a process that ends at `end`. Uses the text around it, since a pattern may match a part of a secret. */
export function maskedMatch(process: Process, match: string, end: number): string {
	const length = Buffer.byteLength(match);
	const slice = process.log.read(Math.max(0, end - length), length);
	if (utf8(slice.bytes) !== match) return process.secrets.redact(match); // the output has bytes that are not UTF-8
	return reveal(hiddenText(process, slice, { end: process.log.bounds().end }).text);
}

/**
 * Returns a slice of a log with a star for each byte of a secret, so that offsets do not change. `live`: more may follow, so a possible beginning of a
 * secret is left to the next read.
 */
export function starredSlice({ log, secrets }: MaskedLog, { bytes, offset, next }: Slice, live: boolean): Slice {
	const from = Math.max(0, offset - CONTEXT_BYTES);
	const before = log.read(from, offset - from);
	const around = { before: before.next === offset ? before.bytes.toString("latin1") : "", after: log.read(next, CONTEXT_BYTES).bytes.toString("latin1") };
	const { text, open } = secrets.hideLive(bytes.toString("latin1"), around); // one character per byte
	const shown = bytes.length - (live ? Math.min(open, bytes.length) : 0);
	return { bytes: Buffer.from(starred(text.slice(0, shown)), "latin1"), offset, next: next - bytes.length + shown };
}

/** Does the same for a log that is followed. A possible beginning of a secret comes with the next slice. */
export async function* starredSlices(from: MaskedLog, slices: AsyncIterable<Slice>): AsyncGenerator<Slice> {
	let stream: RedactedStream | undefined;
	let [sent, read] = [0, -1];
	for await (const slice of slices) {
		if (!stream || slice.offset !== read) {
			stream = new RedactedStream(from, slice.offset, starred); // the first slice, or the ring has dropped the part in between
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

/** Prints a log as it arrives: byte for byte, except secrets. Holds back a possible beginning of a secret until more arrives. */
export class RedactedStream {
	#before: string;
	#rest = "";
	readonly #show: (hidden: string) => string;
	readonly #secrets: Redactor;

	/** Prints from the offset `from` on. `show` replaces hidden text. */
	constructor({ log, secrets }: MaskedLog, from: number, show: (hidden: string) => string = reveal) {
		this.#show = show;
		this.#secrets = secrets;
		const start = Math.max(0, from - CONTEXT_BYTES);
		const { bytes, next } = log.read(start, from - start);
		this.#before = from > start && next === from ? bytes.toString("latin1") : "";
	}

	push(bytes: Buffer): Buffer {
		const raw = this.#rest + bytes.toString("latin1"); // one character per byte
		const { text, open } = this.#secrets.hideLive(raw, { before: this.#before });
		const shown = raw.length - Math.min(open, raw.length);
		this.#before = (this.#before + raw.slice(0, shown)).slice(-CONTEXT_BYTES);
		this.#rest = raw.slice(shown);
		return toBytes(this.#show(text.slice(0, shown)));
	}

	/** Returns the rest, when nothing more will come. */
	end(): Buffer {
		return toBytes(this.#show(this.#secrets.hideLive(this.#rest, { before: this.#before }).text));
	}
}

/** Encodes the mark "…" as UTF-8 and all other characters as single bytes. */
const toBytes = (text: string): Buffer => Buffer.concat(text.split("…").flatMap((part, at) => [Buffer.from(at === 0 ? "" : "…"), Buffer.from(part, "latin1")]));
