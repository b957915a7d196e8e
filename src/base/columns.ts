/** How wide text is on a terminal. */

/** East Asian characters that take two columns; pictures are asked for by their property. */
const WIDE =
	/^[\u1100-\u115f\u2329\u232a\u2e80-\u303e\u3041-\u33ff\u3400-\u4dbf\u4e00-\ua4cf\ua960-\ua97f\uac00-\ud7a3\uf900-\ufaff\ufe10-\ufe19\ufe30-\ufe6f\uff01-\uff60\uffe0-\uffe6\u{16fe0}-\u{18cff}\u{1aff0}-\u{1b2ff}\u{20000}-\u{3fffd}]|^\p{Emoji_Presentation}/u;
const NONE = /^[\p{Mn}\p{Me}\p{Cf}]$/u;
const PLAIN = /^[\u0020-\u007e]*$/;

/** How many columns text of one line takes. */
export function columnsOf(text: string): number {
	if (PLAIN.test(text)) return text.length;
	let columns = 0;
	for (const character of text) columns += columnsOfOne(character);
	return columns;
}

/** The beginning of a text that has room in so many columns; one that is cut ends in `…`. No character is cut in two. */
export function fitted(text: string, columns: number): string {
	if (columnsOf(text) <= columns) return text;
	let kept = "";
	let used = 1; // the mark
	for (const character of text) {
		used += columnsOfOne(character);
		if (used > columns) break;
		kept += character;
	}
	return `${kept}…`;
}

const columnsOfOne = (character: string): number => (NONE.test(character) ? 0 : WIDE.test(character) ? 2 : 1);
