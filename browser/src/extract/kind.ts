/** Tells the kind of an answer: by its type, and by its first bytes where the type says nothing. */
export type Kind = "html" | "pdf" | "text" | "image" | "binary";

const TEXT =
	/^(text\/|application\/(json|.*\+json|xml|.*\+xml|javascript|ecmascript|x-javascript|typescript|x-sh|x-yaml|yaml|toml|sql|graphql|x-ndjson|rtf|x-python|csv)\b)/;

export function kindOf(contentType: string | undefined, bytes: Uint8Array): Kind {
	const type = (contentType ?? "").split(";", 1)[0]?.trim().toLowerCase() ?? "";
	const head = Buffer.from(bytes.subarray(0, 1024)).toString("latin1");
	if (head.startsWith("%PDF-") || type === "application/pdf") return "pdf";
	const looksHtml = /^\s*(<!doctype html|<html\b|<head\b|<body\b|<!--[\s\S]{0,400}-->\s*<(!doctype html|html\b))/i.test(head.replace(/^ï»¿/, ""));
	if (type === "text/html" || type === "application/xhtml+xml") return isBinary(bytes) ? (imageType(bytes) ? "image" : "binary") : "html";
	if (imageType(bytes) !== undefined) return "image";
	if (type === "image/svg+xml") return "text";
	if (type.startsWith("image/")) return "image";
	if (/^(audio|video|font)\//.test(type)) return "binary";
	if (TEXT.test(type)) return looksHtml && type === "text/plain" ? "text" : isBinary(bytes) ? "binary" : "text";
	if (isBinary(bytes)) return "binary";
	return looksHtml ? "html" : "text";
}

/** Text has no NUL (but for UTF-16) and few control characters. */
function isBinary(bytes: Uint8Array): boolean {
	if ((bytes[0] === 0xfe && bytes[1] === 0xff) || (bytes[0] === 0xff && bytes[1] === 0xfe)) return false;
	const head = bytes.subarray(0, 4096);
	let strange = 0;
	for (const byte of head) {
		if (byte === 0) return true;
		if (byte < 32 && ![9, 10, 12, 13, 27].includes(byte)) strange++;
	}
	return strange > head.length / 20;
}

export function imageType(bytes: Uint8Array): string | undefined {
	const at = (offset: number, text: string) => Buffer.from(bytes.subarray(offset, offset + text.length)).toString("latin1") === text;
	if (at(0, "\x89PNG\r\n")) return "PNG";
	if (at(0, "\xff\xd8\xff")) return "JPEG";
	if (at(0, "GIF8")) return "GIF";
	if (at(0, "RIFF") && at(8, "WEBP")) return "WebP";
	if (at(0, "BM") && bytes.length > 26 && at(6, "\0\0\0\0")) return "BMP";
	if (at(4, "ftypavif")) return "AVIF";
	return undefined;
}

/** Width and height, where the first bytes have them. */
export function imageSize(bytes: Uint8Array): { width: number; height: number } | undefined {
	const view = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
	const type = imageType(bytes);
	if (type === "PNG" && view.length >= 24) return { width: view.readUInt32BE(16), height: view.readUInt32BE(20) };
	if (type === "GIF" && view.length >= 10) return { width: view.readUInt16LE(6), height: view.readUInt16LE(8) };
	if (type === "JPEG") return jpegSize(view);
	return undefined;
}

function jpegSize(view: Buffer): { width: number; height: number } | undefined {
	for (let at = 2; at + 9 < view.length && view[at] === 0xff; ) {
		const marker = view[at + 1] ?? 0;
		if (marker >= 0xc0 && marker <= 0xcf && ![0xc4, 0xc8, 0xcc].includes(marker))
			return { height: view.readUInt16BE(at + 5), width: view.readUInt16BE(at + 7) };
		at += 2 + view.readUInt16BE(at + 2);
	}
	return undefined;
}
