/**
 * Converts a terminal's state to text that brings a fresh terminal to the same state. The serialize addon writes the cells; this module adds the rest
 * (scroll region, saved cursor, modes in an order that keeps the cursor in place). xterm.js does not expose all of it, so this module reads private
 * fields; the version is pinned, and if the fields are not as expected there is no snapshot.
 */
import type { SerializeAddon } from "@xterm/addon-serialize";
import type { IModes, Terminal } from "@xterm/headless";

interface Inside {
	readonly _inputHandler: { readonly _parser: { readonly currentState: number }; readonly _utf8Decoder: { readonly interim: Uint8Array } };
	readonly _charsetService: { readonly glevel: number; readonly _charsets: readonly unknown[] };
	readonly coreService: { readonly isCursorHidden: boolean };
	readonly coreMouseService: { readonly activeEncoding: string };
	readonly buffer: {
		readonly x: number;
		readonly y: number;
		readonly ybase: number;
		readonly savedX: number;
		readonly savedY: number;
		readonly scrollTop: number;
		readonly scrollBottom: number;
		readonly tabs: Readonly<Record<number, boolean>>;
	};
}

const GROUND = 0;

/** Returns undefined in the middle of a sequence or character, and for a state that no text can restore: the next call tries again. */
export function freeze(terminal: Terminal, serializer: SerializeAddon): string | undefined {
	const inside = (terminal as unknown as { _core: Inside })._core;
	try {
		if (!expressible(inside, terminal.cols)) return undefined;
		return cells(serializer) + rest(inside, terminal);
	} catch {
		return undefined; // a different xterm.js: no snapshot, only slower
	}
}

/**
 * Serializes the cells, with two repairs of the addon's output: moves by 0, which terminals take as 1, are removed; the cells of the alternate buffer
 * are written as if no colour were set yet, while that of the cursor is.
 */
function cells(serializer: SerializeAddon): string {
	return serializer
		.serialize({ excludeModes: true })
		.replaceAll(/\x1b\[0[CD]/g, "")
		.replace("\x1b[?1049h\x1b[H", "\x1b[?1049h\x1b[H\x1b[m");
}

function expressible({ _inputHandler, _charsetService, buffer }: Inside, cols: number): boolean {
	if (_inputHandler._parser.currentState !== GROUND || _inputHandler._utf8Decoder.interim[0] !== 0) return false;
	if (_charsetService.glevel !== 0 || _charsetService._charsets.some((set) => set !== undefined)) return false;
	if (buffer.x >= cols) return false; // about to wrap, a state that only printing causes
	for (let col = 0; col < cols; col++) if (Boolean(buffer.tabs[col]) !== (col % 8 === 0)) return false;
	return true;
}

function rest({ coreService, coreMouseService, buffer }: Inside, { rows, modes }: Terminal): string {
	const to = (row: number, col: number) => `\x1b[${Math.max(0, row) + 1};${col + 1}H`;
	const region = buffer.scrollTop !== 0 || buffer.scrollBottom !== rows - 1;
	return [
		`${to(buffer.savedY - buffer.ybase, buffer.savedX)}\x1b7`,
		region ? `\x1b[${buffer.scrollTop + 1};${buffer.scrollBottom + 1}r` : "",
		modes.originMode ? "\x1b[?6h" : "", // this mode and the region move the cursor, so its position follows them
		to(buffer.y - (modes.originMode ? buffer.scrollTop : 0), buffer.x),
		...switches(modes),
		coreService.isCursorHidden ? "\x1b[?25l" : "",
		coreMouseService.activeEncoding === "SGR" ? "\x1b[?1006h" : "",
	].join("");
}

function switches(modes: IModes): string[] {
	const mouse = { none: "", x10: "\x1b[?9h", vt200: "\x1b[?1000h", drag: "\x1b[?1002h", any: "\x1b[?1003h" };
	return [
		modes.applicationCursorKeysMode ? "\x1b[?1h" : "",
		modes.applicationKeypadMode ? "\x1b[?66h" : "",
		modes.bracketedPasteMode ? "\x1b[?2004h" : "",
		modes.insertMode ? "\x1b[4h" : "",
		modes.reverseWraparoundMode ? "\x1b[?45h" : "",
		modes.sendFocusMode ? "\x1b[?1004h" : "",
		modes.wraparoundMode ? "" : "\x1b[?7l",
		mouse[modes.mouseTrackingMode],
	];
}
