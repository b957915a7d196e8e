/** Lines in, lines out: a terminal that cannot move its cursor, a pipe, a file. */
import { createInterface } from "node:readline";
import type { Readable, Writable } from "node:stream";
import type { ReadStream } from "node:tty";
import { type Look, lookOf, type Screen } from "../render/look.js";
import { KeyDecoder } from "./keys.js";
import type { AskedLine, ChatInput, ChatTerminal } from "./terminal.js";

const PROMPT = "> ";

export interface PlainStreams {
	readonly input: Readable & { readonly isTTY?: boolean };
	readonly output: Writable & Screen;
}

export class PlainTerminal implements ChatTerminal {
	readonly person: boolean;
	readonly #streams: PlainStreams;
	readonly #on: ChatInput;
	readonly #lines: ReturnType<typeof createInterface>;
	readonly #interrupted: () => void;
	#asked: Promise<unknown> = Promise.resolve();
	#asking: ((answer: string | undefined) => void) | undefined;
	#busy = false;
	#prompted = false;
	#closed = false;

	constructor(streams: PlainStreams, on: ChatInput) {
		this.#streams = streams;
		this.#on = on;
		this.person = streams.input.isTTY === true;
		this.#interrupted = () => {
			this.#asking?.(undefined);
			on.interrupt("ctrl+c");
		};
		this.#lines = createInterface({ input: streams.input, terminal: false, crlfDelay: Number.POSITIVE_INFINITY });
		this.#lines.on("line", (line) => this.#take(line));
		this.#lines.once("close", () => {
			this.#asking?.(undefined);
			if (!this.#closed) on.leave();
		});
		process.on("SIGINT", this.#interrupted);
		this.#prompt();
	}

	get look(): Look {
		return { ...lookOf(this.#streams.output), colour: false };
	}

	print(lines: readonly string[]): void {
		if (lines.length === 0) return;
		this.#streams.output.write(`${this.#prompted ? "\n" : ""}${lines.map((line) => `${line}\n`).join("")}`);
		this.#prompted = false;
		if (!this.#busy) this.#prompt();
	}

	/** Nothing is shown of it: a line a second would be noise. */
	status(text: string | undefined): void {
		const was = this.#busy;
		this.#busy = text !== undefined;
		if (was && !this.#busy) this.#prompt();
	}

	ask(question: AskedLine, signal: AbortSignal): Promise<string | undefined> {
		const mine = this.#asked.then(() => this.#askNow(question, signal));
		this.#asked = mine;
		return mine;
	}

	putBack(text: string): void {
		this.print([`(not sent: ${text})`]);
	}

	close(): void {
		if (this.#closed) return;
		this.#closed = true;
		if (this.#prompted) this.#streams.output.write("\n");
		this.#prompted = false;
		process.off("SIGINT", this.#interrupted);
		this.#asking?.(undefined);
		this.#lines.close();
	}

	async #askNow(question: AskedLine, signal: AbortSignal): Promise<string | undefined> {
		if (!this.person || this.#closed || signal.aborted) return undefined;
		this.print(question.lines);
		for (;;) {
			this.#write(question.prompt);
			const answer = question.hidden ? await this.#hidden(signal) : await this.#line(signal);
			if (answer === undefined) return undefined;
			const wrong = question.check?.(answer);
			if (wrong === undefined) return answer;
			this.print([wrong]);
		}
	}

	#line(signal: AbortSignal): Promise<string | undefined> {
		return new Promise((resolve) => {
			const done = (answer: string | undefined) => {
				signal.removeEventListener("abort", abort);
				this.#asking = undefined;
				this.#prompted = false;
				resolve(answer);
			};
			const abort = () => done(undefined);
			this.#asking = done;
			signal.addEventListener("abort", abort, { once: true });
		});
	}

	/** Such a terminal cannot move its cursor, but it can stop to show what is typed. */
	#hidden(signal: AbortSignal): Promise<string | undefined> {
		const input = this.#streams.input as ReadStream;
		this.#lines.pause();
		return new Promise((resolve) => {
			const keys = new KeyDecoder();
			let typed = "";
			const done = (answer: string | undefined) => {
				input.off("data", take);
				signal.removeEventListener("abort", abort);
				input.setRawMode(false);
				this.#write("\n");
				this.#prompted = false;
				this.#lines.resume();
				resolve(answer);
			};
			const abort = () => done(undefined);
			const take = (bytes: Buffer | string) => {
				for (const { name, text } of [...keys.push(bytes.toString()), ...keys.flush()]) {
					if (name === "enter" || name === "ctrl+j") return done(typed);
					if (name === "ctrl+c" || name === "ctrl+d" || name === "escape") return done(undefined);
					if (name === "backspace") typed = typed.slice(0, -1);
					else if (name === "text" || name === "paste") typed += text;
				}
			};
			input.setRawMode(true); // before anything of the answer can have been typed
			input.on("data", take);
			input.resume();
			signal.addEventListener("abort", abort, { once: true });
		});
	}

	#take(line: string): void {
		this.#prompted = false; // the person's Enter has ended that line
		if (this.#asking) this.#asking(line);
		else if (line.trim() !== "") this.#on.line(line, { queue: !this.person });
		else if (!this.#busy) this.#prompt();
	}

	#prompt(): void {
		if (this.person && !this.#prompted && !this.#closed) this.#write(PROMPT);
	}

	#write(text: string): void {
		this.#streams.output.write(text);
		this.#prompted = !text.endsWith("\n");
	}
}
