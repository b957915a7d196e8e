/**
 * Nothing that a program prints may stop or end ours. xterm.js 6 has two ways to let it: a count of two thousand million
 * (`CSI 2147483647 L`) is counted out one by one, and `CSI 1 J` at the bottom right throws inside a timer, where nobody
 * can catch it. So what handles a sequence gets bounded counts here, and what it throws ends with it.
 */
import type { Terminal } from "@xterm/headless";

interface Handler {
	readonly _activeBuffer: { readonly x: number; readonly y: number; readonly lines: { readonly length: number } };
	[method: string]: unknown;
}
type Method = (...args: unknown[]) => unknown;

/** Beyond the size of the screen, more of these changes nothing. */
const COUNTED = new Set(["cursorForwardTab", "cursorBackwardTab", "insertLines", "deleteLines", "scrollUp", "scrollDown"]);
const NOT_A_SEQUENCE = /^(_|constructor$|parse$|dispose$|reset$|register|getAttrData$|markRangeDirty$)/;

export function harden(terminal: Terminal): void {
	const handler = (terminal as unknown as { _core: { _inputHandler: Handler } })._core._inputHandler;
	const { prototype } = handler.constructor as { prototype: object };
	for (const [name, { value }] of Object.entries(Object.getOwnPropertyDescriptors(prototype))) {
		if (typeof value === "function" && !NOT_A_SEQUENCE.test(name)) handler[name] = guarded(terminal, handler, name, value as Method);
	}
}

function guarded(terminal: Terminal, handler: Handler, name: string, method: Method): Method {
	const bound = (args: unknown[], most: number): void => {
		const { params } = args[0] as { params: Int32Array };
		if ((params[0] as number) > most) params[0] = most;
	};
	const run: Method = (...args) => {
		try {
			return method.apply(handler, args);
		} catch {
			return true; // "handled": the sequence is lost, the terminal goes on
		}
	};
	if (COUNTED.has(name)) {
		return (...args) => {
			bound(args, Math.max(terminal.cols, terminal.rows));
			return run(...args);
		};
	}
	if (name === "repeatPrecedingCharacter") {
		return (...args) => {
			bound(args, terminal.cols * terminal.rows);
			return run(...args);
		};
	}
	if (name === "eraseInDisplay") {
		return (...args) => {
			const { params } = args[0] as { params: Int32Array };
			const { x, y, lines } = handler._activeBuffer;
			// Everything up to the last cell is everything; put like this it does not look for the line below.
			if (params[0] === 1 && x + 1 >= terminal.cols && y + 1 >= lines.length) params[0] = 2;
			return run(...args);
		};
	}
	return run;
}
