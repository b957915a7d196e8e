/** A person's choices in this browser, which are kept. */
import { kept } from "./kept.js";

/** The largest font of terminals, in pixels: output is shrunk until it fits. */
export const FONT = { least: 9, most: 24, usual: 13 };
const fontSize = kept("font-size", String(FONT.usual));
export const fontPixels = (): number => Math.min(FONT.most, Math.max(FONT.least, Number(fontSize.value) || FONT.usual));
export const chooseFontPixels = (pixels: number): void => {
	fontSize.value = String(pixels);
};

/** The reaction to a terminal bell: nothing, a mark at the edge of its terminal, or that and a sound. */
export const BELLS = { off: "nothing", show: "a mark on its terminal", sound: "a mark and a sound" } as const;
export const bell = kept("bell", "show");

/** Give the program the size of the window while a person has the keyboard. */
export const fitting = kept("fit", innerWidth >= 720 ? "yes" : "no");
/** Whether xterm.js keeps every line as text for screen readers. It costs time, so it is off by default. */
export const readable = kept("screen-reader", "no");
