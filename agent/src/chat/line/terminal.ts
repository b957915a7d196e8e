/** The terminal of a chat. `live.ts` has a line at the bottom that is always there; `plain.ts` is for terminals that can only add lines, and pipes. */
import type { Look } from "../render/look.js";
import type { Completion } from "./complete.js";

/** The person's input at the terminal. */
export interface ChatInput {
	/** A message or a command. `queue`: sent with Alt+Enter. */
	line(text: string, how: { readonly queue: boolean }): void;
	/** Escape or Ctrl-C. */
	interrupt(key: "escape" | "ctrl+c"): void;
	/** Ctrl-D on an empty line, the end of the input, or the terminal is gone. */
	leave(): void;
	/** Up-arrow: a message that waits comes back into the line by `putBack`, unless it was heard meanwhile. False: none waits. */
	takeBack(): boolean;
	complete(before: string): Completion | undefined;
}

/** A question that is asked where messages are typed. What was being typed comes back afterwards. */
export interface AskedLine {
	/** Printed above, once. */
	readonly lines: readonly string[];
	readonly prompt: string;
	/** Nothing of the answer is shown, and it is in no history. */
	readonly hidden?: boolean;
	/** Returns what is wrong with an answer; it is asked again then. */
	readonly check?: (answer: string) => string | undefined;
}

export interface ChatTerminal {
	readonly look: Look;
	/** A person can see and type. False for a pipe. */
	readonly person: boolean;
	/** Finished lines; nothing of them is drawn again. */
	print(lines: readonly string[]): void;
	/** Shows the current activity above the line; undefined: none. Messages that wait are shown with it. */
	status(text: string | undefined, waiting?: readonly string[]): void;
	/** Asks one question after the other. Undefined: there is no answer (Escape, Ctrl-C, the end of the input, or `signal`). */
	ask(question: AskedLine, signal: AbortSignal): Promise<string | undefined>;
	/** Puts text into the line, before what is typed there. */
	putBack(text: string): void;
	/** Lets other programs use the terminal meanwhile. */
	close(): void;
}
