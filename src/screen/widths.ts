/**
 * Widths of characters in columns. xterm.js follows Unicode 6, where most emoji are narrow; current programs take them as wide, and a screen that
 * disagrees puts everything after them in the wrong column.
 */
import type { IUnicodeVersionProvider, Terminal } from "@xterm/headless";

const VERSION = "6 with emoji";
const WIDE = 2 << 1; // how xterm.js packs "two columns, joined to nothing"

/** Returns true for characters shown as a picture by default, except the letters that form flags: those take one column each. */
const isWide = (code: number): boolean => code >= FIRST && emoji.has(code);
const FIRST = 0x231a;
const emoji = new Set<number>();
for (const [first, last] of [
	[FIRST, 0x2b55],
	[0x1f004, 0x1f1e5],
	[0x1f200, 0x1faff],
] as const) {
	for (let code = first; code <= last; code++) if (/\p{Emoji_Presentation}/u.test(String.fromCodePoint(code))) emoji.add(code);
}

export function widenEmoji(terminal: Terminal): void {
	const { _core } = terminal as unknown as { _core: { unicodeService: { _providers: Record<string, IUnicodeVersionProvider> } } };
	const plain = _core.unicodeService._providers["6"] as IUnicodeVersionProvider;
	terminal.unicode.register({
		version: VERSION,
		wcwidth: (code) => (isWide(code) ? 2 : plain.wcwidth(code)),
		charProperties: (code, preceding) => (isWide(code) ? WIDE : plain.charProperties(code, preceding)),
	});
	terminal.unicode.activeVersion = VERSION;
}
