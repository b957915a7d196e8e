/** A terminal with one line at its bottom that can always be typed into, while what is printed scrolls above it. */
import type { ReadStream, WriteStream } from "node:tty";
import { type Look, lookOf, paint } from "../render/look.js";
import { oneLine } from "../render/visible.js";
import { clip, width } from "../render/width.js";
import { wrapText } from "../render/wrap.js";
import { LiveArea } from "./area.js";
import { LineEditor, type Pressed } from "./editor.js";
import { InputHistory } from "./history.js";
import { type Key, KeyDecoder } from "./keys.js";
import { type Laid, layout } from "./layout.js";
import type { AskedLine, ChatInput, ChatTerminal } from "./terminal.js";

const PROMPT = "› ";
/** How long after Escape a key belongs to it, as Alt: a terminal sends both at once. */
const ESCAPE_MS = 40;
const MOST_INPUT_ROWS = 10;
const MOST_WAITING = 3;
const PASTE_ON = "\u001b[?2004h";
const PASTE_OFF = "\u001b[?2004l";
const CLEAR = "\u001b[2J\u001b[H";

interface Asking extends AskedLine {
	readonly editor: LineEditor;
	done(answer: string | undefined): void;
}

export class LiveTerminal implements ChatTerminal {
	readonly person = true;
	readonly #input: ReadStream;
	readonly #output: WriteStream;
	readonly #on: ChatInput;
	readonly #area: LiveArea;
	readonly #keys = new KeyDecoder();
	readonly #editor: LineEditor;
	#asking: Asking | undefined;
	#asked: Promise<unknown> = Promise.resolve();
	#status: string | undefined;
	#waiting: readonly string[] = [];
	#timer: NodeJS.Timeout | undefined;
	#closed = false;

	constructor(input: ReadStream, output: WriteStream, history: InputHistory, on: ChatInput) {
		this.#input = input;
		this.#output = output;
		this.#on = on;
		this.#area = new LiveArea(output);
		this.#editor = new LineEditor(history, on);
		input.setEncoding("utf8");
		input.on("data", this.#data).on("end", this.#gone).on("error", this.#gone);
		output.on("resize", this.#redraw).on("error", this.#gone);
		process.on("SIGCONT", this.#begin).once("exit", this.#restore);
		input.resume();
		this.#begin();
	}

	get look(): Look {
		return lookOf(this.#output);
	}

	print(lines: readonly string[]): void {
		if (lines.length === 0) return;
		if (this.#closed) this.#output.write(lines.map((line) => `${line}\n`).join(""));
		else this.#draw(lines);
	}

	status(text: string | undefined, waiting: readonly string[] = this.#waiting): void {
		this.#status = text;
		this.#waiting = waiting;
		this.#draw();
	}

	putBack(text: string): void {
		this.#editor.prepend(text);
		this.#draw();
	}

	ask(question: AskedLine, signal: AbortSignal): Promise<string | undefined> {
		const mine = this.#asked.then(() => this.#askNow(question, signal));
		this.#asked = mine;
		return mine;
	}

	close(): void {
		if (this.#closed) return;
		this.#editor.drop(); // into the history: nothing that was typed is lost
		this.#asking?.done(undefined);
		clearTimeout(this.#timer);
		this.#input.off("data", this.#data).off("end", this.#gone).off("error", this.#gone);
		this.#output.off("resize", this.#redraw).off("error", this.#gone);
		process.off("SIGCONT", this.#begin).off("exit", this.#restore);
		this.#output.on("error", () => {}); // a terminal that is gone cannot be restored
		this.#restore();
		this.#input.pause();
		this.#closed = true;
	}

	readonly #data = (bytes: string): void => this.#take(this.#keys.push(bytes));
	readonly #gone = (): void => this.#on.leave();
	readonly #redraw = (): void => this.#draw();

	readonly #begin = (): void => {
		this.#input.setRawMode(true);
		this.#output.write(PASTE_ON);
		this.#area.forget();
		this.#draw();
	};

	/** The terminal as it was before. */
	readonly #restore = (): void => {
		this.#area.erase();
		this.#output.write(PASTE_OFF);
		this.#input.setRawMode(false);
	};

	#askNow(question: AskedLine, signal: AbortSignal): Promise<string | undefined> {
		if (signal.aborted || this.#closed) return Promise.resolve(undefined);
		return new Promise((resolve) => {
			const abort = () => asking.done(undefined);
			const asking: Asking = {
				...question,
				editor: new LineEditor(new InputHistory(), { takeBack: () => false, complete: () => undefined }, { single: true }),
				done: (answer) => {
					signal.removeEventListener("abort", abort);
					this.#asking = undefined;
					this.#draw();
					resolve(answer);
				},
			};
			this.#asking = asking;
			signal.addEventListener("abort", abort, { once: true });
			this.#draw(question.lines);
		});
	}

	#take(keys: readonly Key[]): void {
		clearTimeout(this.#timer);
		for (const key of keys) {
			if (this.#closed) return;
			const pressed = (this.#asking?.editor ?? this.#editor).press(key);
			if (pressed) this.#do(pressed);
		}
		if (this.#keys.waits) this.#timer = setTimeout(() => this.#take(this.#keys.flush()), ESCAPE_MS);
		this.#draw();
	}

	#do(pressed: Pressed): void {
		switch (pressed.type) {
			case "enter":
				if (this.#asking) this.#answer(this.#asking, pressed.text);
				else if (pressed.text.trim() !== "") this.#on.line(pressed.text, { queue: pressed.queue });
				break;
			case "interrupt":
				this.#interrupt(pressed.key);
				break;
			case "leave":
				if (this.#asking) this.#asking.done(undefined);
				else this.#on.leave();
				break;
			case "clear":
				this.#area.forget();
				this.#output.write(CLEAR);
				break;
			case "suspend":
				this.#restore();
				process.kill(process.pid, "SIGTSTP"); // #begin goes on from there
				break;
			case "options":
				this.#draw(inColumns(pressed.words, this.look.columns));
		}
	}

	/** Takes an answer. Other text was perhaps meant as a message: it is kept in the line. */
	#answer(asking: Asking, text: string): void {
		const wrong = asking.check?.(text);
		if (wrong === undefined) asking.done(text);
		else {
			if (!asking.hidden && text.trim() !== "") this.#editor.append(text);
			this.#draw([wrong]);
		}
	}

	/** Ctrl-C takes away what is typed, unless something goes on that it can interrupt. */
	#interrupt(key: "escape" | "ctrl+c"): void {
		const idle = this.#status === undefined && !this.#asking;
		if (key === "ctrl+c" && idle && !this.#editor.isEmpty) this.#editor.drop();
		else {
			this.#asking?.done(undefined);
			this.#on.interrupt(key);
		}
	}

	#draw(above: readonly string[] = []): void {
		if (!this.#closed) this.#area.draw(above, this.#statusRows(), this.#laid());
	}

	#statusRows(): string[] {
		const { look } = this;
		const room = look.columns - 1;
		const rows = this.#waiting.slice(0, MOST_WAITING).map((text) => clip(`  waits: ${oneLine(text, room)}`, room));
		if (this.#waiting.length > MOST_WAITING) rows.push(clip(`  and ${this.#waiting.length - MOST_WAITING} more`, room));
		if (this.#status !== undefined && !this.#asking) rows.push(clip(oneLine(this.#status, room * 2), room));
		const prompt = this.#asking && isLong(this.#asking.prompt, look) ? wrapText(this.#asking.prompt, { ...look, columns: room }) : [];
		return [...rows.map((row) => paint(look, "dim", row)), ...prompt];
	}

	#laid(): Laid {
		const { look } = this;
		const size = { columns: look.columns, most: Math.max(1, Math.min(MOST_INPUT_ROWS, (this.#output.rows || 24) - 3)) };
		const asked = this.#asking && !isLong(this.#asking.prompt, look) ? this.#asking.prompt : undefined;
		const prompt = asked ?? paint(look, "bold", PROMPT);
		if (this.#asking?.hidden) return layout("", 0, { ...size, prompt });
		return (this.#asking?.editor ?? this.#editor).laid(prompt, size);
	}
}

/** It gets rows of its own, so that there is room for the answer. */
const isLong = (prompt: string, { columns }: Look): boolean => width(prompt) > columns / 2;

function inColumns(words: readonly string[], columns: number): string[] {
	const size = Math.max(...words.map(({ length }) => length)) + 2;
	const across = Math.max(1, Math.floor(columns / size));
	const rows = Array.from({ length: Math.ceil(words.length / across) }, (_, row) => words.slice(row * across, (row + 1) * across));
	return rows.map((row) =>
		row
			.map((word) => word.padEnd(size))
			.join("")
			.trimEnd(),
	);
}
