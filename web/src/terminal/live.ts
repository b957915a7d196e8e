/**
 * A process in a terminal of the page, live. A new connection gets the screen and then every byte after it, once; after a break
 * it goes on at the byte where it was. Offsets are those of the log.
 */
import { signal } from "@preact/signals";
import type { Terminal } from "@xterm/xterm";
import type { ServerMessage } from "../../../src/doors/http/messages.js";
import type { KeyboardState, ProcessDetail, ProcessItem } from "../../../src/doors/http/schemas.js";
import { Acks } from "./acks.js";
import { TerminalSocket } from "./socket.js";

/** Further behind than this, the rest is left out, but for the last part: no person reads that fast, and it stays in the log. */
const BEHIND_BYTES = 2 * 1024 * 1024;
const TAIL_BYTES = 32 * 1024;
const LEAP_MS = 300;
const ANEW_MS = 1_000;
const TITLE_CHARS = 120;

export interface Hands {
	readonly keyboard: KeyboardState;
	readonly mine: boolean;
}

export class Live {
	readonly process = signal<ProcessItem | undefined>(undefined);
	readonly readOnly = signal(true);
	readonly size = signal<{ cols: number; rows: number } | undefined>(undefined);
	readonly hands = signal<Hands>({ keyboard: null, mine: false });
	readonly title = signal("");
	/** The newest thing that could not be done. */
	readonly refused = signal("");
	readonly ended = signal(false);
	/** The first screen is there. */
	readonly ready = signal(false);
	readonly socket: TerminalSocket;
	/** All before it was given to the terminal; undefined: nothing yet. */
	#offset: number | undefined;
	readonly #acks = new Acks((offset) => this.socket.send({ type: "ack", offset }));
	#wanted = false;
	/** Asked to go on where we were, and no answer yet. */
	#opening = false;
	#midLine = false;
	/** Asked to begin somewhere else, and not there yet. */
	#jumping = false;
	#leapt = 0;
	#settling = 0;

	constructor(
		readonly detail: ProcessDetail,
		readonly terminal: Terminal,
	) {
		const { session_id, pty, first_offset, total_bytes } = detail;
		if (!pty) this.#offset = Math.max(first_offset, total_bytes - TAIL_BYTES); // without a screen, the last part of the log stands for it
		this.socket = new TerminalSocket(session_id, {
			connected: () => this.#open(),
			message: (message) => this.#message(message),
			frame: (offset, end, bytes) => this.#frame(offset, end, bytes),
		});
		terminal.onTitleChange((title) => {
			this.title.value = title.slice(0, TITLE_CHARS);
		});
	}

	dispose(): void {
		this.socket.close();
		this.#acks.stop();
		clearTimeout(this.#settling);
	}

	/** false: it was not delivered. */
	type(data: string, bytes = false): boolean {
		return this.socket.send({ type: "input", data, ...(bytes ? { bytes } : {}) });
	}

	resize(cols: number, rows: number): void {
		this.socket.send({ type: "resize", cols, rows });
	}

	take(force = false): void {
		this.#wanted = true;
		this.refused.value = "";
		this.socket.send({ type: "keyboard", action: "take", ...(force ? { force } : {}) });
	}

	release(): void {
		this.#wanted = false;
		this.socket.send({ type: "keyboard", action: "release" });
	}

	#open(): void {
		this.#opening = true;
		this.#jumping = false;
		this.socket.send({ type: "open", offset: this.#offset ?? null });
	}

	#message(message: ServerMessage): void {
		switch (message.type) {
			case "opened":
				this.#opening = false;
				this.process.value = message.process;
				this.readOnly.value = message.read_only;
				if (this.#offset === undefined || this.#jumping || !this.ready.value) {
					this.#begin(message.offset);
					this.#midLine = message.offset > message.process.first_offset;
				}
				if (message.cols !== null && message.rows !== null) this.#resized(message.cols, message.rows);
				if (this.#wanted) this.socket.send({ type: "keyboard", action: "take" }); // it was ours before the connection broke
				break;
			case "screen":
				this.#begin(message.offset);
				this.#midLine = false;
				this.#resized(message.cols, message.rows);
				this.title.value = message.title.slice(0, TITLE_CHARS);
				this.#put(message.data, message.offset);
				break;
			case "size":
				this.#resized(message.cols, message.rows);
				break;
			case "gap":
				this.#put("", message.to);
				break;
			case "keyboard":
				if (this.#wanted && this.hands.value.mine && !message.mine && message.keyboard) this.#wanted = false; // another one has taken it
				this.hands.value = message;
				break;
			case "ended":
				this.process.value = message.process;
				this.ended.value = true;
				break;
			case "error":
				if ((this.#opening || this.#jumping) && message.code !== "KEYBOARD") this.#anew();
				if (message.code === "KEYBOARD") this.#wanted = this.hands.value.mine;
				this.refused.value = message.message;
				break;
			case "alive":
				break;
		}
	}

	#frame(offset: number, end: number, bytes: Uint8Array): void {
		if (this.#jumping) return; // of before the jump
		if (this.#offset === undefined || offset > this.#offset) {
			this.#jump(null); // something is missing: begin anew
			return;
		}
		const next = offset + bytes.length;
		if (next <= this.#offset) return; // had it
		this.#put(this.#wholeLines(bytes.subarray(this.#offset - offset)), next);
		if (end - next > BEHIND_BYTES) this.#leap(end);
		else if (this.#leapt > 0 && this.detail.pty) this.#settle();
	}

	/** Where we wanted to begin there is nothing: perhaps not the log that we knew. */
	#anew(): void {
		this.#offset = undefined;
		clearTimeout(this.#settling);
		this.#settling = setTimeout(() => this.#open(), ANEW_MS);
	}

	/** Without a screen it begins somewhere in the log: the rest of a line is nothing to show. */
	#wholeLines(bytes: Uint8Array): Uint8Array {
		if (!this.#midLine) return bytes;
		this.#midLine = false;
		return bytes.subarray(bytes.indexOf(10) + 1);
	}

	/** Leave out what is too much. To ask for the screen each time would have the server draw all of it. */
	#leap(end: number): void {
		clearTimeout(this.#settling);
		const now = performance.now();
		if (now - this.#leapt < LEAP_MS) return;
		this.#leapt = now;
		this.#jump(end - TAIL_BYTES);
	}

	/** When it is quiet again: what was left out may have changed how the rest looks. */
	#settle(): void {
		clearTimeout(this.#settling);
		this.#settling = setTimeout(() => {
			this.#leapt = 0;
			this.#jump(null);
		}, LEAP_MS);
	}

	#jump(offset: number | null): void {
		if (this.#jumping) return;
		this.#jumping = true;
		this.socket.send({ type: "open", offset });
	}

	/** An empty terminal, with what is at `offset` to come next. */
	#begin(offset: number): void {
		this.#jumping = false;
		this.#offset = offset;
		this.#acks.begin(offset);
		this.terminal.write("", () => {
			this.terminal.reset();
			this.ready.value = true; // even if nothing is ever printed
		});
	}

	/** In order with what is written before and after. */
	#resized(cols: number, rows: number): void {
		this.terminal.write("", () => {
			if (cols !== this.terminal.cols || rows !== this.terminal.rows) this.terminal.resize(cols, rows);
			this.size.value = { cols, rows };
		});
	}

	/** Give it to the terminal; then it has everything before `next`. */
	#put(data: string | Uint8Array, next: number): void {
		this.#offset = next;
		this.terminal.write(data, () => this.#acks.shown(next));
	}
}
