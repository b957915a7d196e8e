/** Returns terminal output that has scrolled off the screen: together with the screen it is all readable output. */
import { plainText } from "../base/index.js";

const ENTER = "\\x1b\\[\\?(?:1049|1047|47)h";
const LEAVE = "\\x1b\\[\\?(?:1049|1047|47)l";
/** The alternate screen, which leaves nothing behind; also one entered before this output. */
const FULL_SCREEN = new RegExp(`^(?:(?!${ENTER})[\\s\\S])*?${LEAVE}|${ENTER}[\\s\\S]*?(?:${LEAVE}|$)`, "g");
/** Cursor movement up or to a position: earlier output is overwritten, or no longer in place. */
const DRAWS = /[\s\S]*\x1b\[[0-9;]*[AFHJfd]/;

/** Returns the lines above the screen as plain text; empty if everything is on the screen, or the program has drawn over it. */
export function scrolledOff(raw: string, { cols, rows }: { cols: number; rows: number }): string {
	const printed = raw.replaceAll(FULL_SCREEN, "").replace(DRAWS, "");
	const lines = plainText(printed.replaceAll(/\r+\n/g, "\n"))
		.split("\n")
		.map((line) => line.slice(line.lastIndexOf("\r") + 1));
	let shown = 0;
	let first = lines.length;
	while (first > 0) {
		shown += Math.max(1, Math.ceil((lines[first - 1] as string).length / cols));
		if (shown > rows) break;
		first--;
	}
	return first === 0 ? "" : `${lines.slice(0, first).join("\n")}\n`;
}
