/** Output as text to read: a terminal would act on escape sequences and control characters, a model trips over them. */

// CSI; OSC, DCS and the other strings, which stop at a line end here, so that an unterminated one cannot swallow the rest; the short ones.
export const SEQUENCE = /\x1b(?:\[[0-?]*[ -/]*[@-~]|[\]PX^_][^\x07\x1b\n]*(?:\x07|\x1b\\)?|[ -/]*[0-~])|\x9b[0-?]*[ -/]*[@-~]/g;
const CONTROL = /[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]/g;

/** Without escape sequences, and of the control characters only tabs and line ends. */
export const plainText = (text: string): string => text.replace(SEQUENCE, "").replace(CONTROL, "");

const COLOUR = /^\x1b\[[\d;:]*m$/;
const UNFINISHED = /(?:\x1b(?:\[[0-?]*[ -/]*|[\]PX^_][^\x07\x1b\n]*\x1b?|[ -/]*)|\x9b[0-?]*[ -/]*)$/;
const LONGEST_SEQUENCE = 4096;

/**
 * Output for a person's terminal, on which it may not act: text, line ends, tabs, returns, backspaces and colours pass, everything else is left out.
 * A sequence that is cut by the end of a piece is held back until the next piece.
 */
export class HarmlessText {
	#held = "";
	#coloured = false;

	push(piece: string): string {
		const text = this.#held + piece;
		const open = UNFINISHED.exec(text)?.index ?? text.length;
		this.#held = text.length - open > LONGEST_SEQUENCE ? "" : text.slice(open);
		return text
			.slice(0, text.length - this.#held.length)
			.replace(SEQUENCE, (sequence) => (COLOUR.test(sequence) ? sequence : ""))
			.replace(/\x1b(?!\[[\d;:]*m)|[\x00-\x07\x0b\x0c\x0e-\x1a\x1c-\x1f\x7f-\x9f]/g, "")
			.replace(/\x1b\[/g, (start) => {
				this.#coloured = true;
				return start;
			});
	}

	/** Returns the sequence that ends colours, if the text had any. */
	end(): string {
		return this.#coloured ? "\x1b[0m" : "";
	}
}
