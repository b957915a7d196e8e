/** Columns that text takes on a terminal: an ideograph or an emoji takes two, what combines with the letter before it none. */
const STYLE = /\u001b\[[0-9;]*m/g;
/** Each character is one letter of one column: nearly all text, and told without the tables of Unicode. */
const SIMPLE = /^[ -~\u00a1-\u02ff\u2010-\u2027\u2030-\u205e\u2190-\u21ff\u2500-\u25fc]*$/;
const ZERO = /^[\p{Mn}\p{Me}\p{Cf}]/u;
const WIDE =
	/^(?:\p{Emoji_Presentation}|\p{Extended_Pictographic}\uFE0F|[\u1100-\u115f\u2e80-\u303e\u3041-\u33ff\u3400-\u4dbf\u4e00-\ua4cf\ua960-\ua97f\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6\u{20000}-\u{3fffd}])/u;

let segmenter: Intl.Segmenter | undefined;

/** Splits a text into what a reader takes for one letter each. */
export function letters(text: string): string[] {
	if (SIMPLE.test(text)) return [...text];
	segmenter ??= new Intl.Segmenter(undefined, { granularity: "grapheme" });
	return Array.from(segmenter.segment(text), ({ segment }) => segment);
}

export function width(text: string): number {
	const bare = text.includes("\u001b") ? text.replace(STYLE, "") : text;
	if (SIMPLE.test(bare)) return bare.length;
	return letters(bare).reduce((sum, letter) => sum + letterWidth(letter), 0);
}

export function letterWidth(letter: string): number {
	if (SIMPLE.test(letter)) return 1;
	if (ZERO.test(letter)) return 0;
	return WIDE.test(letter) ? 2 : 1;
}

/** As much of it from its start as has room, `…` at the end if something is missing. The text must have no style. */
export function clip(text: string, room: number): string {
	if (width(text) <= room) return text;
	let used = 0;
	let kept = "";
	for (const letter of letters(text)) {
		used += letterWidth(letter);
		if (used > room - 1) break;
		kept += letter;
	}
	return room > 0 ? `${kept}…` : "";
}

export const pad = (text: string, columns: number): string => text + " ".repeat(Math.max(0, columns - width(text)));
