/** Long pastes. In the draft each is one character of a private range, shown as `[pasted 120 lines]`; the text itself is put in when the message is sent. */

const FIRST = 0xe000;
const LAST = 0xf8ff;
const PRIVATE = /[\ue000-\uf8ff]/g;

/** Limits of a paste that is shown as it is. */
const SHOWN = { lines: 5, chars: 800 };

export class Pastes {
	readonly #texts = new Map<string, string>();

	/** Returns what to insert into the draft. */
	take(text: string): string {
		const clean = text.replace(PRIVATE, "");
		if (clean.length <= SHOWN.chars && clean.split("\n", SHOWN.lines + 1).length <= SHOWN.lines) return clean;
		const mark = String.fromCharCode(FIRST + (this.#texts.size % (LAST - FIRST)));
		this.#texts.set(mark, clean);
		return mark;
	}

	/** The message as it was meant. */
	expand(draft: string): string {
		return draft.replace(PRIVATE, (mark) => this.#texts.get(mark) ?? "");
	}

	/** The draft as it is shown. */
	label(mark: string): string | undefined {
		const text = this.#texts.get(mark);
		if (text === undefined) return undefined;
		const lines = text.split("\n").length;
		return lines > 1 ? `[pasted ${lines.toLocaleString("en")} lines]` : `[pasted ${text.length.toLocaleString("en")} characters]`;
	}

	/** Text of others that goes into a draft must not have marks in it. */
	static clean(text: string): string {
		return text.replace(PRIVATE, "");
	}
}
