/**
 * Keeps program output from stopping or ending Holdfast. xterm.js 6 has two weak points: it loops over a count of two thousand million (`CSI
 * 2147483647 L`), and `CSI 1 J` at the bottom right throws inside a timer, where no caller can catch it. So the handlers of sequences get bounded
 * counts, and their exceptions are caught. A letter with a million accents is one cell, which a browser draws for minutes or until it crashes, so the
 * length of a cell is bounded.
 */
import type { Terminal } from "@xterm/headless";

interface Handler {
	readonly _bufferService: { readonly cols: number; readonly rows: number };
	readonly _activeBuffer: { readonly x: number; readonly y: number; readonly lines: { readonly length: number; get(at: number): Line } };
}
interface Line {
	readonly _combined: Readonly<Record<number, string>>;
	isCombined(column: number): number;
	addCodepointToCell(column: number, codePoint: number, width: number): void;
}
interface Params {
	readonly params: Int32Array;
}
// At most three arguments, without a rest parameter, because this runs for every line of output.
type Method = (this: Handler, a: unknown, b: unknown, c: unknown) => unknown;

/** Counts beyond the size of the screen have no further effect. */
const COUNTED = new Set(["cursorForwardTab", "cursorBackwardTab", "insertLines", "deleteLines", "scrollUp", "scrollDown"]);
/** In UTF-16 units. The longest emoji has 15; stacked accents in any language have fewer. */
const CELL_LENGTH = 64;
const NOT_A_SEQUENCE = /^(_|constructor$|parse$|dispose$|reset$|register|getAttrData$|markRangeDirty$)/;

let guarded: object | undefined;

/** Inserts a prototype with guards between the terminal's handler and its class. Guards as own properties would make it slow. */
export function harden(terminal: Terminal): void {
	const handler = (terminal as unknown as { _core: { _inputHandler: Handler } })._core._inputHandler;
	if (guarded === undefined) boundCells(Object.getPrototypeOf(handler._activeBuffer.lines.get(0)) as Line);
	guarded ??= guardedLike(Object.getPrototypeOf(handler));
	Object.setPrototypeOf(handler, guarded);
}

/** Bounds the cells in all lines of all terminals. Called only for combining characters. */
function boundCells(prototype: Line): void {
	const add = prototype.addCodepointToCell;
	prototype.addCodepointToCell = function (this: Line, column, codePoint, width) {
		if (!this.isCombined(column) || (this._combined[column] as string).length < CELL_LENGTH) add.call(this, column, codePoint, width);
	};
}

function guardedLike(prototype: object): object {
	const made = Object.create(prototype) as Record<string, Method>;
	for (const [name, { value }] of Object.entries(Object.getOwnPropertyDescriptors(prototype))) {
		if (typeof value === "function" && !NOT_A_SEQUENCE.test(name)) made[name] = guard(name, value as Method);
	}
	return made;
}

function guard(name: string, method: Method): Method {
	const before = beforehand(name);
	return function (this: Handler, a, b, c) {
		try {
			before?.(this, a as Params);
			return method.call(this, a, b, c);
		} catch {
			return true; // "handled": the sequence is lost, the terminal continues
		}
	};
}

function beforehand(name: string): ((handler: Handler, params: Params) => void) | undefined {
	if (COUNTED.has(name)) return ({ _bufferService: { cols, rows } }, { params }) => bound(params, Math.max(cols, rows));
	if (name === "repeatPrecedingCharacter") return ({ _bufferService: { cols, rows } }, { params }) => bound(params, cols * rows);
	if (name === "eraseInDisplay")
		return ({ _activeBuffer: { x, y, lines }, _bufferService: { cols } }, { params }) => {
			// Erasing up to the last cell erases everything; with 2, xterm.js does not access the line below.
			if (params[0] === 1 && x + 1 >= cols && y + 1 >= lines.length) params[0] = 2;
		};
	return undefined;
}

function bound(params: Int32Array, most: number): void {
	if ((params[0] as number) > most) params[0] = most;
}
