/** A terminal without a window: headless xterm.js, reduced to what this room needs. */
import serializer from "@xterm/addon-serialize";
import headless, { type IBuffer, type Terminal as XTerminal } from "@xterm/headless";
import { answerMore } from "./answers.js";
import { freeze } from "./freeze.js";
import { harden } from "./harden.js";
import { widenEmoji } from "./widths.js";

/** Lines kept above the screen: they return when the screen grows. Few, so that a terminal needs less than a megabyte. */
const SCROLLBACK = 100;
/** Each cell takes 12 bytes, even an empty one: a terminal of 10,000 by 10,000 is shown smaller than it is. */
const MOST_CELLS = 2_000_000;
const TITLE = 1_000; // characters of a title; no viewer shows more

export interface ScreenModes {
	readonly applicationCursor: boolean;
	readonly applicationKeypad: boolean;
	readonly bracketedPaste: boolean;
	readonly focusEvents: boolean;
	readonly mouse: "none" | "x10" | "vt200" | "drag" | "any";
}

export interface Rendered {
	/** The rows from top to bottom, without trailing spaces and without blank rows at the bottom. */
	readonly screen: string;
	/** Counted from 0. */
	readonly cursor: { readonly row: number; readonly col: number };
	readonly alt_screen: boolean;
	readonly title: string;
	readonly cols: number;
	readonly rows: number;
	readonly modes: ScreenModes;
}

export class Emulator {
	readonly #terminal: XTerminal;
	readonly #serializer = new serializer.SerializeAddon();
	#title: string;

	/** `onAnswer` receives the terminal's answers to queries of the program; by default they are dropped. */
	constructor(size: { cols: number; rows: number }, options: { title?: string; onAnswer?: (bytes: string) => void } = {}) {
		this.#terminal = new headless.Terminal({
			...bounded(size.cols, size.rows),
			scrollback: SCROLLBACK,
			allowProposedApi: true, // headless counts `buffer` and `parser` as proposed
			logLevel: "off",
			windowOptions: { getWinSizeChars: true, getWinSizePixels: true, getCellSizePixels: true }, // queries that are allowed
		});
		harden(this.#terminal);
		widenEmoji(this.#terminal);
		this.#terminal.loadAddon(this.#serializer);
		this.#title = options.title ?? "";
		this.#terminal.onTitleChange((title) => {
			this.#title = title.slice(0, TITLE);
		});
		const { onAnswer } = options;
		if (onAnswer) {
			this.#terminal.onData(onAnswer);
			answerMore(this.#terminal, onAnswer);
		}
	}

	/** Feeds data. Resolves when it is processed. Large pieces are best: each costs a turn of the event loop. */
	write(data: string | Uint8Array): Promise<void> {
		return new Promise((resolve) => this.#terminal.write(data, resolve));
	}

	resize(cols: number, rows: number): void {
		const size = bounded(cols, rows);
		this.#terminal.resize(size.cols, size.rows);
	}

	render(): Rendered {
		const { cols, rows, modes, buffer } = this.#terminal;
		return {
			screen: rowsOf(buffer.active, rows).join("\n"),
			// After the last column the cursor waits to wrap; it is still shown in that column.
			cursor: { row: buffer.active.cursorY, col: Math.min(buffer.active.cursorX, cols - 1) },
			alt_screen: buffer.active.type === "alternate",
			title: this.#title,
			cols,
			rows,
			modes: {
				applicationCursor: modes.applicationCursorKeysMode,
				applicationKeypad: modes.applicationKeypadMode,
				bracketedPaste: modes.bracketedPasteMode,
				focusEvents: modes.sendFocusMode,
				mouse: modes.mouseTrackingMode,
			},
		};
	}

	/** Returns text that brings a fresh terminal of the same size to this state, verified unless `untried`; undefined if there is none at this moment. */
	async freeze(options: { untried?: boolean } = {}): Promise<string | undefined> {
		const state = freeze(this.#terminal, this.#serializer);
		if (state === undefined || options.untried) return state;
		const seen = this.render();
		const copy = new Emulator(seen, { title: seen.title });
		try {
			await copy.write(state);
			return JSON.stringify(copy.render()) === JSON.stringify(seen) ? state : undefined;
		} finally {
			copy.dispose();
		}
	}

	dispose(): void {
		this.#terminal.dispose();
	}
}

const bounded = (cols: number, rows: number): { cols: number; rows: number } => ({ cols, rows: Math.min(rows, Math.floor(MOST_CELLS / cols)) });

function rowsOf(buffer: IBuffer, rows: number): string[] {
	const lines: string[] = [];
	for (let row = 0; row < rows; row++)
		lines.push(
			buffer
				.getLine(buffer.baseY + row)
				?.translateToString(true)
				.replace(/ +$/, "") ?? "",
		);
	while (lines.at(-1) === "") lines.pop();
	return lines;
}
