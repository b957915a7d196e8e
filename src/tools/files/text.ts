/** Converts the bytes of a file to text and back: encodings and line endings. */
import { HoldfastError } from "../../base/index.js";

export type Encoding = "utf-8" | "utf-8 with BOM" | "utf-16le" | "utf-16be";

const BOMS: readonly (readonly [Encoding, readonly number[]])[] = [
	["utf-8 with BOM", [0xef, 0xbb, 0xbf]],
	["utf-16le", [0xff, 0xfe]],
	["utf-16be", [0xfe, 0xff]],
];
const LOOKED_AT = 8_192;

export function encodingOf(start: Uint8Array): { encoding: Encoding; bom: number } {
	const found = BOMS.find(([, bom]) => bom.every((byte, at) => start[at] === byte));
	return found ? { encoding: found[0], bom: found[1].length } : { encoding: "utf-8", bom: 0 };
}

/** Returns true if a file without a UTF-16 BOM contains a zero byte. */
export const isBinary = (start: Uint8Array): boolean => encodingOf(start).encoding.startsWith("utf-8") && start.subarray(0, LOOKED_AT).includes(0);

/** Decodes without the BOM. Invalid bytes become U+FFFD. */
export function decode(bytes: Buffer): string {
	const { encoding, bom } = encodingOf(bytes);
	if (encoding.startsWith("utf-8")) return new TextDecoder("utf-8", { ignoreBOM: true }).decode(bytes.subarray(bom));
	return new TextDecoder(encoding, { ignoreBOM: true }).decode(bytes.subarray(bom));
}

export const isValid = (bytes: Uint8Array): boolean => {
	try {
		new TextDecoder("utf-8", { fatal: true }).decode(bytes);
		return true;
	} catch {
		return false;
	}
};

export function encode(text: string, encoding: Encoding): Buffer {
	if (encoding === "utf-8") return Buffer.from(text);
	const bytes = encoding === "utf-8 with BOM" ? Buffer.from(text) : Buffer.from(text, "utf16le");
	const bom = BOMS.find(([name]) => name === encoding)?.[1] ?? [];
	return Buffer.concat([Buffer.from(bom), encoding === "utf-16be" ? bytes.swap16() : bytes]);
}

/**
 * Returns text with one character per byte, so that a file with invalid bytes can be changed in one place and stay the same in all others. UTF-16
 * content is converted to UTF-8 first.
 */
export function toBytesText(bytes: Buffer): { text: string; back: (text: string) => Buffer } {
	const { encoding, bom } = encodingOf(bytes);
	if (encoding.startsWith("utf-8")) {
		const head = bytes.subarray(0, bom);
		return { text: bytes.toString("latin1", bom), back: (text) => Buffer.concat([head, Buffer.from(text, "latin1")]) };
	}
	const text = decode(bytes);
	if (!encode(text, encoding).equals(bytes))
		throw new HoldfastError("INVALID", `the file says that it is ${encoding} but has bytes in it that are not; it was not changed`);
	return { text: asBytesText(text), back: (changed) => encode(shownText(changed), encoding) };
}

/** Returns a model's text in the same form: one character per byte. */
export const asBytesText = (text: string): string => Buffer.from(text).toString("latin1");
export const shownText = (text: string): string => new TextDecoder("utf-8", { ignoreBOM: true }).decode(Buffer.from(text, "latin1"));

export type LineEndings = "lf" | "crlf" | "mixed";

export function lineEndingsOf(text: string): LineEndings | undefined {
	const all = text.match(/\r?\n/g);
	if (!all) return undefined;
	const crlf = all.filter((end) => end.length === 2).length;
	return crlf === 0 ? "lf" : crlf === all.length ? "crlf" : "mixed";
}

/** Returns the line ending of most lines. */
export function usualEnding(text: string): "\n" | "\r\n" {
	const all = text.match(/\r?\n/g) ?? [];
	return all.filter((end) => end.length === 2).length * 2 > all.length ? "\r\n" : "\n";
}
