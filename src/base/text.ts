/** Bytes to text across chunk borders: a character cut in two is held back, bad bytes become U+FFFD. */
export class Utf8Stream {
	readonly #decoder = new TextDecoder("utf-8", { fatal: false, ignoreBOM: true });

	push(bytes: Uint8Array): string {
		return this.#decoder.decode(bytes, { stream: true });
	}

	/** Returns the replacement of an unfinished character at the very end. */
	end(): string {
		return this.#decoder.decode();
	}
}

export const utf8 = (bytes: Uint8Array): string => new TextDecoder("utf-8", { ignoreBOM: true }).decode(bytes);

/**
 * How many bytes of `bytes` are whole characters: a reader that stops there can go on from its byte offset without
 * ever splitting one. At most three bytes are held back, and only if they can still become a character.
 */
export function wholeCharacters(bytes: Uint8Array): number {
	const end = bytes.length;
	for (let back = 1; back <= 3 && back <= end; back++) {
		const byte = bytes[end - back] as number;
		if (byte < 0x80) return end;
		if (byte >= 0xc0) {
			const need = byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : 2;
			return byte < 0xf8 && need > back ? end - back : end;
		}
	}
	return end;
}

/** Control characters and invisible ones as what they are: a command must not look like another. */
export const visible = (text: string): string =>
	text.replace(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u115f\u1160\u2028\u2029\u2060-\u2069\u3164\uffa0]|\p{Cf}/gu, (char) => {
		const hex = (char.codePointAt(0) as number).toString(16).padStart(4, "0");
		return hex.length > 4 ? `\\u{${hex}}` : `\\u${hex}`;
	});

/** Whether a task can be called that. Half of a character would be another name once it is written to a file. */
export const isTaskName = (name: unknown): name is string =>
	typeof name === "string" && name !== "" && name.length <= 1_000 && !/\0|[\ud800-\udfff]/u.test(name);

export const TASK_NAME = "the name of a task has 1 to 1000 characters, whole ones and no NUL";
