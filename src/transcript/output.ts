/** The output of a command as text for a person: masked, without escape sequences, its two ends if it is long. */
import { counted, plainText, wholeCharacters } from "../base/index.js";
import { reveal } from "../base/secrets/index.js";
import { hiddenText, isOver, type Process } from "../process/index.js";
import type { EntryOutput } from "./entry.js";

/** Limit for one command: of longer output, the first and the last half of this are shown. */
const OUTPUT_BYTES = 1024 * 1024;

export function outputOf(process: Process, most = OUTPUT_BYTES): EntryOutput {
	const { first, end } = process.log.bounds();
	const live = !isOver(process.status());
	if (first === end && end > 0)
		return { output: `[… ${counted(end, "byte is gone: its log was", "bytes are gone: their log was")} removed …]\n`, omitted_bytes: end };
	if (end - first <= most) {
		const text = readable(part(process, { from: first, to: end, end, live }));
		return { output: first > 0 ? `${gone(first)}${text}` : text, omitted_bytes: first };
	}
	const half = Math.floor(most / 2);
	const head = part(process, { from: first, to: first + half, end, live: false });
	const tail = part(process, { from: end - half, to: end, end, live });
	const omitted = end - first - 2 * half;
	const marker = `\n[… ${counted(omitted, "byte")} left out; \`holdfast logs ${process.id}\` has all of it …]\n`;
	return { output: `${first > 0 ? gone(first) : ""}${readable(head)}${marker}${readable(tail)}`, omitted_bytes: first + omitted };
}

const gone = (bytes: number): string => `[… the first ${counted(bytes, "byte is", "bytes are")} gone …]\n`;

interface Part {
	readonly from: number;
	readonly to: number;
	readonly end: number;
	readonly live: boolean;
}

function part(process: Process, { from, to, end, live }: Part): string {
	const { bytes, offset } = process.read(from, to - from);
	const skipped = from === 0 ? 0 : restOfCharacter(bytes);
	const whole = bytes.subarray(skipped, to < end ? wholeCharacters(bytes) : bytes.length);
	return reveal(hiddenText(process, { bytes: whole, offset: offset + skipped }, { end, live }).text);
}

/** How many bytes at the beginning belong to a character that has begun before. */
function restOfCharacter(bytes: Buffer): number {
	let count = 0;
	while (count < 3 && ((bytes[count] ?? 0) & 0xc0) === 0x80) count++;
	return count;
}

/** Returns each line as a terminal would show it: text behind a carriage return overwrites the text before it. Nothing in it acts on a terminal. */
function readable(text: string): string {
	const plain = plainText(text);
	if (!plain.includes("\r")) return plain;
	return plain
		.split("\n")
		.map((line) => {
			const kept = line.replace(/\r+$/, "");
			return kept.slice(kept.lastIndexOf("\r") + 1);
		})
		.join("\n");
}

const CHUNK = 256 * 1024;
const LONGEST_LINE = 64 * 1024;

/** Yields its output line by line, however long it is; a very long line comes in pieces. */
export function* linesOf(process: Process): Generator<string, void> {
	const { first, end } = process.log.bounds();
	const live = !isOver(process.status());
	let rest = "";
	for (let from = first; from < end; ) {
		const { bytes, offset, next } = process.read(from, Math.min(CHUNK, end - from));
		if (bytes.length === 0) break;
		const size = next < end ? wholeCharacters(bytes) || bytes.length : bytes.length;
		const lines = (rest + reveal(hiddenText(process, { bytes: bytes.subarray(0, size), offset }, { end, live: live && next >= end }).text)).split("\n");
		rest = lines.pop() ?? "";
		for (const line of lines) yield readable(line);
		if (rest.length > LONGEST_LINE) {
			yield readable(rest);
			rest = "";
		}
		from = offset + size;
	}
	if (rest !== "") yield readable(rest);
}
