/** Answers terminal queries that xterm.js leaves to a program with a window: colours, and sizes in pixels. */
import type { Terminal } from "@xterm/headless";

/** Colours of a dark terminal, the common case: programs ask in order to choose readable colours. */
const COLOURS = ["rgb:d0d0/d0d0/d0d0", "rgb:0000/0000/0000", "rgb:d0d0/d0d0/d0d0"]; // OSC 10 text, 11 background, 12 cursor
const CELL = { width: 8, height: 16 };

export function answerMore(terminal: Terminal, answer: (bytes: string) => void): void {
	for (const first of [10, 11, 12]) {
		terminal.parser.registerOscHandler(first, (data) => {
			// One sequence may ask for several colours: `10;?;?` is that of the text and that of the background.
			for (const [index, wanted] of data.split(";").entries()) {
				const colour = COLOURS[first - 10 + index];
				if (wanted === "?" && colour) answer(`\x1b]${first + index};${colour}\x1b\\`);
			}
			return false;
		});
	}
	terminal.parser.registerCsiHandler({ final: "t" }, ([what]) => {
		const { cols, rows } = terminal;
		if (what === 14) answer(`\x1b[4;${rows * CELL.height};${cols * CELL.width}t`);
		else if (what === 16) answer(`\x1b[6;${CELL.height};${CELL.width}t`);
		else return false;
		return true;
	});
}
