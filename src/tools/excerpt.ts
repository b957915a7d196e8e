/** Keeps the beginning and the end of a long text that arrives in pieces, in bounded memory, and counts the characters. */
export class Excerpt {
	readonly #headMost: number;
	readonly #tailMost: number;
	#full = false;
	head = "";
	tail = "";
	/** All characters so far. */
	total = 0;

	constructor(most: { head: number; tail: number }) {
		this.#headMost = most.head;
		this.#tailMost = most.tail;
		this.#full = most.head === 0;
	}

	/** Returns how many characters of `text` went into the head if this piece filled it; else undefined. */
	push(text: string): number | undefined {
		this.total += text.length;
		if (this.#full) {
			this.#toTail(text);
			return undefined;
		}
		const room = this.#headMost - this.head.length;
		if (text.length <= room) {
			this.head += text;
			return undefined;
		}
		this.#full = true;
		const cut = isHighSurrogate(text.charCodeAt(room - 1)) ? room - 1 : room;
		this.head += text.slice(0, cut);
		this.#toTail(text.slice(cut));
		return cut;
	}

	#toTail(text: string): void {
		const all = text.length >= this.#tailMost ? text : this.tail + text;
		this.tail = lastOf(all, this.#tailMost);
	}
}

/** Returns the last characters of a text, without splitting a surrogate pair. */
export function lastOf(text: string, most: number): string {
	if (text.length <= most) return text;
	const from = text.length - most;
	return text.slice(isLowSurrogate(text.charCodeAt(from)) ? from + 1 : from);
}

const isHighSurrogate = (code: number): boolean => code >= 0xd800 && code < 0xdc00;
const isLowSurrogate = (code: number): boolean => code >= 0xdc00 && code < 0xe000;
