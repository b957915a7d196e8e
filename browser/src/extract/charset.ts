/** Bytes to text: by what the server says, what the page says, and what the bytes are. */
const BOMS: readonly (readonly [readonly number[], string])[] = [
	[[0xef, 0xbb, 0xbf], "utf-8"],
	[[0xfe, 0xff], "utf-16be"],
	[[0xff, 0xfe], "utf-16le"],
];

export interface Decoded {
	readonly text: string;
	readonly charset: string;
	/** The charset that the server or the page declares, where that is wrong. */
	readonly declared?: string;
}

/** `cut`: the last character may be in pieces. */
export function decodeText(bytes: Uint8Array, contentType: string | undefined, cut = false): Decoded {
	const bom = BOMS.find(([mark]) => mark.every((byte, at) => bytes[at] === byte))?.[1];
	if (bom) return { text: decode(bytes, bom), charset: bom };
	const named = known(charsetIn(contentType)) ?? known(declaredIn(bytes));
	const isUtf8 = validUtf8(bytes, cut);
	const hasMore = bytes.some((byte) => byte > 127);
	// Text that is not meant as UTF-8 is almost never valid UTF-8, so the bytes are believed before the label.
	if (isUtf8 && hasMore && named !== undefined && isOneByte(named)) return { text: decode(bytes, "utf-8"), charset: "utf-8", declared: named };
	if ((named === undefined || named === "utf-8") && !isUtf8) {
		const other = known(declaredIn(bytes));
		const charset = other !== undefined && other !== "utf-8" ? other : "windows-1252";
		return { text: decode(bytes, charset), charset, ...(named ? { declared: named } : {}) };
	}
	const charset = named ?? "utf-8";
	return { text: decode(bytes, charset), charset };
}

const decode = (bytes: Uint8Array, charset: string): string => new TextDecoder(charset).decode(bytes);

const isOneByte = (charset: string): boolean => /^(windows-125|iso-8859-|koi8|macintosh|ibm866|x-mac)/.test(charset);

const charsetIn = (contentType: string | undefined): string | undefined => /;\s*charset\s*=\s*"?([\w:.-]+)/i.exec(contentType ?? "")?.[1];

/** In `<meta charset>`, `<meta http-equiv>` or the declaration of XML, within the first 2 KB. */
function declaredIn(bytes: Uint8Array): string | undefined {
	const head = Buffer.from(bytes.subarray(0, 2048)).toString("latin1");
	return /<meta[^>]+charset\s*=\s*["']?\s*([\w:.-]+)/i.exec(head)?.[1] ?? /^<\?xml[^>]+encoding\s*=\s*["']([\w:.-]+)/i.exec(head)?.[1];
}

/** Returns the standard name; undefined for one that there is not. */
function known(label: string | undefined): string | undefined {
	if (label === undefined) return undefined;
	try {
		return new TextDecoder(label).encoding;
	} catch {
		return undefined;
	}
}

function validUtf8(bytes: Uint8Array, cut: boolean): boolean {
	try {
		new TextDecoder("utf-8", { fatal: true }).decode(bytes, { stream: cut });
		return true;
	} catch {
		return false;
	}
}
