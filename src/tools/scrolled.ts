/** What a terminal has printed and does not show any more: with its screen that is all there is to read. */
import { plainText } from "../base/index.js";

const ENTER = "\\x1b\\[\\?(?:1049|1047|47)h";
const LEAVE = "\\x1b\\[\\?(?:1049|1047|47)l";
/** Another screen, which leaves nothing behind; also one that was entered before. */
const FULL_SCREEN = new RegExp(`^(?:(?!${ENTER})[\\s\\S])*?${LEAVE}|${ENTER}[\\s\\S]*?(?:${LEAVE}|$)`, "g");
/** The cursor goes up, or to some place: what was printed before is drawn over, or not where it was. */
const DRAWS = /[\s\S]*\x1b\[[0-9;]*[AFHJfd]/;

/** The lines above the screen, as plain text; empty when all of it is on the screen, or the program has drawn over it. */
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
