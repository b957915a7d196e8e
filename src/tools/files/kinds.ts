/** Recognizes a binary file by its first bytes. */

export interface FileLooks {
	readonly kind: "image" | "binary";
	readonly type: string;
	readonly width?: number;
	readonly height?: number;
}

const MAGIC: readonly (readonly [string, string])[] = [
	["%PDF-", "PDF document"],
	["PK\x03\x04", "zip archive (also docx, xlsx, jar, …)"],
	["\x1f\x8b", "gzip data"],
	["BZh", "bzip2 data"],
	["\xfd7zXZ\0", "xz data"],
	["\x28\xb5\x2f\xfd", "zstd data"],
	["\x7fELF", "ELF program or library"],
	["SQLite format 3\0", "SQLite database"],
	["\0asm", "WebAssembly"],
	["\xca\xfe\xba\xbe", "Java class"],
	["7z\xbc\xaf", "7z archive"],
	["OggS", "Ogg media"],
	["ID3", "MP3 audio"],
	["fLaC", "FLAC audio"],
];

/** Returns undefined for an unknown kind. */
export function looksLike(start: Buffer): FileLooks | undefined {
	const text = start.toString("latin1", 0, 64);
	if (text.startsWith("\x89PNG\r\n\x1a\n") && start.length >= 24)
		return { kind: "image", type: "png", width: start.readUInt32BE(16), height: start.readUInt32BE(20) };
	if (/^GIF8[79]a/.test(text) && start.length >= 10) return { kind: "image", type: "gif", width: start.readUInt16LE(6), height: start.readUInt16LE(8) };
	if (text.startsWith("\xff\xd8\xff")) return { kind: "image", type: "jpeg", ...jpegSize(start) };
	if (/^RIFF....WEBP/s.test(text)) return { kind: "image", type: "webp" };
	if (text.startsWith("BM") && start.length >= 26 && start.includes(0))
		return { kind: "image", type: "bmp", width: start.readInt32LE(18), height: Math.abs(start.readInt32LE(22)) };
	const found = MAGIC.find(([magic]) => text.startsWith(magic));
	return found && { kind: "binary", type: found[1] };
}

/** Returns the size from the first frame header, if the bytes include it. */
function jpegSize(bytes: Buffer): { width?: number; height?: number } {
	for (let at = 2; at + 9 < bytes.length && bytes[at] === 0xff; ) {
		const marker = bytes[at + 1] as number;
		const isFrame = marker >= 0xc0 && marker <= 0xcf && marker !== 0xc4 && marker !== 0xc8 && marker !== 0xcc;
		if (isFrame) return { height: bytes.readUInt16BE(at + 5), width: bytes.readUInt16BE(at + 7) };
		at += 2 + bytes.readUInt16BE(at + 2);
	}
	return {};
}
