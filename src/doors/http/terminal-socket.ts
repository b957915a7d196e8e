/** A viewer at a process: output to the viewer, and keys to the process while the viewer has the keyboard. docs/http.md has the messages. */
import fs from "node:fs";
import path from "node:path";
import type { RawData, WebSocket } from "ws";
import { counted, HoldfastError, REMOTE_MS } from "../../base/index.js";
import { starred } from "../../base/secrets/index.js";
import { handBack } from "../../notices/index.js";
import { isOver, KEYBOARD_FILE, KEYBOARD_RENEW_MS, Keyboard, type Process, sizeOf } from "../../process/index.js";
import { corrected, type FirstScreen, firstScreen } from "../../screen/index.js";
import type { AgentRuntime } from "../../tools/index.js";
import { CLOSE, type ClientMessage, clientMessageSchema, type ServerMessage } from "./messages.js";
import { Outflow } from "./outflow.js";
import { problemOf } from "./refusal.js";
import { keyboardView, type Views } from "./views.js";

const ALIVE_MS = 15_000;
const GOODBYE_MS = 500;
const RESIZED_MS = 30; // with most output comes a change of that file, and it is no new size
const UNSENT_CHARS = 256 * 1024; // typed and not yet read by the program
const UNREAD_BYTES = 8 * 1024 * 1024; // every `open` may bring a screen and a window: a client that keeps asking and does not read is disconnected

export interface SocketOptions {
	readonly runtime: AgentRuntime;
	readonly views: Views;
	readonly process: Process;
	/** Secrets are shown as stars. */
	readonly masked: boolean;
	/** Only look. */
	readonly readOnly: boolean;
	/** The keyboard link of the visitor: it allows typing until the keyboard is handed back, and takes it from no other holder. */
	readonly link?: { mayType(): boolean; handedBack(): void };
	/** Asked now and then. */
	readonly stillValid: () => boolean;
}

export class TerminalSocket {
	readonly #socket: WebSocket;
	readonly #options: SocketOptions;
	readonly #closed = new AbortController();
	#shown = new AbortController(); // what the last `open` started
	#outflow: Outflow | undefined;
	#keyboard: Keyboard | undefined;
	#told = "";
	#holding = new AbortController(); // what was typed while it had the keyboard
	#turn: Promise<unknown> = Promise.resolve();
	#typed: Promise<unknown> = Promise.resolve();
	#wanted: { readonly offset: number | null } | undefined;
	#unsent = 0;
	#resized: NodeJS.Timeout | undefined;
	#heard = true;

	constructor(socket: WebSocket, options: SocketOptions) {
		this.#socket = socket;
		this.#options = options;
		const unwatch = options.process.watch((name) => this.#changed(name));
		const alive = setInterval(() => this.#sign(), ALIVE_MS);
		const renew = setInterval(() => this.#renew(), KEYBOARD_RENEW_MS);
		options.runtime.answerFor(options.process);
		socket.on("message", (data, binary) => this.#message(data, binary));
		socket.on("pong", () => {
			this.#heard = true;
		});
		socket.on("error", () => {}); // it is closed then, with a reason for the other side
		socket.once("close", () => {
			clearInterval(alive);
			clearInterval(renew);
			unwatch();
			clearTimeout(this.#resized);
			this.#closed.abort();
			this.#shown.abort();
			this.#giveBack();
		});
	}

	/** The server stops, or the link was withdrawn. */
	close(code: number, reason: string): void {
		this.#giveBack();
		this.#socket.close(code, reason);
		setTimeout(() => this.#socket.terminate(), GOODBYE_MS).unref(); // one that does not answer must not keep the server
	}

	#message(data: RawData, binary: boolean): void {
		this.#heard = true;
		const message = binary ? this.#reject(CLOSE.unsupported, "binary frames go only to the client; send JSON") : this.#parse(data);
		if (!message) return;
		if (message.type === "ack") this.#outflow?.ack(message.offset);
		else if (this.#options.readOnly && message.type !== "open") this.#reject(CLOSE.policy, "this link is for looking only");
		else if (message.type === "input") this.#typeLater(message);
		else if (message.type === "open") this.#openLater(message.offset);
		else this.#turn = this.#turn.then(() => this.#act(message)).catch((error) => this.#fail(error));
	}

	/** Only the last of several that wait is run. */
	#openLater(offset: number | null): void {
		const waits = this.#wanted !== undefined;
		this.#wanted = { offset };
		if (waits) return;
		this.#turn = this.#turn
			.then(() => {
				const wanted = this.#wanted;
				this.#wanted = undefined;
				return wanted && !this.#closed.signal.aborted ? this.#open(wanted.offset) : undefined;
			})
			.catch((error) => this.#fail(error));
	}

	#parse(data: RawData): ClientMessage | undefined {
		try {
			return clientMessageSchema.parse(JSON.parse(data.toString()));
		} catch {
			return this.#reject(CLOSE.malformed, "not a message that is known here; see docs/http.md");
		}
	}

	#reject(code: number, reason: string): undefined {
		this.#socket.close(code, reason);
	}

	/** In a row of its own: what the program does not read must not hold up the rest. But after what was asked for before it. */
	#typeLater(message: Extract<ClientMessage, { type: "input" }>): void {
		if (this.#unsent + message.data.length > UNSENT_CHARS) {
			this.#fail(new HoldfastError("LIMIT", "the program does not read what is typed, so this was dropped; try again when it does"));
			return;
		}
		this.#unsent += message.data.length;
		this.#typed = Promise.all([this.#typed, this.#turn])
			.then(() => this.#type(message))
			.catch((error) => this.#fail(error));
	}

	async #act(message: Exclude<ClientMessage, { type: "input" | "ack" | "open" }>): Promise<void> {
		if (this.#closed.signal.aborted) return;
		if (message.type === "resize") {
			this.#mustHold();
			await this.#options.process.resize(message.cols, message.rows);
		} else if (message.action === "take") await this.#take(message.force ?? false);
		else {
			if (this.#keyboard) this.#options.link?.handedBack();
			this.#giveBack();
		}
	}

	/** The line goes into the pipe of the program and nowhere else: it may be a password. */
	async #type({ data, bytes }: Extract<ClientMessage, { type: "input" }>): Promise<void> {
		try {
			this.#mustHold();
			await this.#options.process.write(Buffer.from(data, bytes ? "latin1" : "utf8"), { signal: this.#holding.signal });
		} finally {
			this.#unsent -= data.length;
		}
	}

	async #open(offset: number | null): Promise<void> {
		this.#shown.abort();
		this.#shown = new AbortController();
		const { signal } = this.#shown;
		const { process, views, readOnly } = this.#options;
		await process.sync(signal, REMOTE_MS.page); // what its replica lacks comes with the rest
		const screen = offset === null && process.spec.terminal ? await firstScreen(process) : undefined;
		const { first, end } = process.log.bounds();
		if (offset !== null && offset > end) throw new HoldfastError("INVALID", `the log has ${counted(end, "byte")}; there is nothing at ${offset} yet`);
		const from = offset ?? (screen ? ("state" in screen ? screen.offset : screen.from) : Math.max(first, end - 256 * 1024));
		const size = sizeOf(process);
		this.#say({ type: "opened", process: await views.item(process), read_only: readOnly, offset: from, cols: size?.cols ?? null, rows: size?.rows ?? null });
		this.#told = "";
		this.#tellKeyboard();
		if (screen && "state" in screen) this.#screen(screen);
		this.#flow(from, signal);
		if (screen && "state" in screen && screen.approximate) void this.#correct(screen, signal);
	}

	#screen({ offset, cols, rows, title, state, approximate }: FirstScreen): void {
		const shown = (text: string) => (this.#options.masked ? starred(this.#options.process.secrets.hide(text)) : text);
		this.#say({ type: "screen", offset, cols, rows, data: shown(state), title: shown(title), approximate: approximate !== undefined });
	}

	#flow(from: number, signal: AbortSignal): void {
		const { process } = this.#options;
		const flow = new Outflow({
			process,
			from,
			mask: this.#options.masked,
			signal,
			say: (message) => this.#say(message),
			frame: (bytes) => this.#send(bytes),
		});
		this.#outflow = flow;
		void flow
			.run()
			.then(async (ended) => {
				if (!ended) return;
				this.#giveBack();
				this.#say({ type: "ended", process: await this.#options.views.item(process) });
			})
			.catch((error) => this.#fail(error));
	}

	/** The rest of a long log says that the first screen was wrong: show the right one, and go on behind it. */
	async #correct(shown: FirstScreen, signal: AbortSignal): Promise<void> {
		const right = await corrected(this.#options.process, shown, signal).catch(() => undefined); // then it stays as it is
		if (!right || signal.aborted) return;
		this.#shown.abort();
		this.#shown = new AbortController();
		this.#screen(right);
		this.#flow(right.offset, this.#shown.signal);
	}

	async #take(force: boolean): Promise<void> {
		if (this.#keyboard?.held()) return;
		const { process, link } = this.#options;
		if (link && !link.mayType()) throw new HoldfastError("FORBIDDEN", "this link may take the keyboard once, and it was handed back; ask for a new one");
		if (link && force && keyboardView(process))
			throw new HoldfastError("KEYBOARD", `${keyboardView(process)?.who} has the keyboard, and a link cannot take it over; try again when it is free`);
		if (isOver(process.status())) throw new HoldfastError("ENDED", `${process.id} has ended: nothing reads what is typed`);
		const size = sizeOf(process);
		const keyboard = Keyboard.take(process, {
			who: link ? "a person with a link" : "a person in the browser",
			force: force && !link,
			...(size ? { size } : {}),
		});
		if (!keyboard)
			throw new HoldfastError("KEYBOARD", `${keyboardView(process)?.who ?? "another person"} has the keyboard; take it over with \`force\`, or wait`);
		if (this.#closed.signal.aborted) keyboard.release();
		else this.#keyboard = keyboard;
		this.#holding = new AbortController();
		this.#tellKeyboard();
	}

	#mustHold(): void {
		if (!this.#keyboard?.held()) throw new HoldfastError("KEYBOARD", "take the keyboard first; nothing was sent");
	}

	#giveBack(): void {
		const keyboard = this.#keyboard;
		this.#keyboard = undefined;
		this.#holding.abort();
		if (!keyboard) return;
		try {
			handBack(this.#options.runtime.home, this.#options.process, keyboard);
		} catch {
			// a full disk: it is given back, and the agent finds out by trying
		}
		this.#tellKeyboard();
	}

	#renew(): void {
		try {
			if (this.#keyboard?.renew() === false) this.#tellKeyboard();
		} catch (error) {
			this.#fail(error);
		}
	}

	#changed(name: string | null): void {
		if (name === "times" || name === null)
			this.#resized ??= setTimeout(() => {
				this.#resized = undefined;
				this.#outflow?.sizes();
			}, RESIZED_MS);
		const { dir } = this.#options.process;
		if ((name === null || name === path.basename(dir)) && !fs.existsSync(dir))
			this.close(CLOSE.gone, "the process was removed"); // its own name: the kernel tells of the directory itself
		else if (name === null || name.startsWith(KEYBOARD_FILE)) this.#tellKeyboard();
	}

	#tellKeyboard(): void {
		const mine = this.#keyboard?.held() === true;
		if (!mine) this.#keyboard = undefined;
		const message: ServerMessage = { type: "keyboard", keyboard: keyboardView(this.#options.process), mine };
		const text = JSON.stringify(message);
		if (text === this.#told) return;
		this.#told = text;
		this.#say(message);
	}

	/** Something now and then, so that nothing between us takes the connection for dead; and to find out whether it is. */
	#sign(): void {
		if (!this.#options.stillValid()) this.close(CLOSE.expired, "this link has expired or was withdrawn");
		else if (!this.#heard) this.#socket.terminate();
		else {
			this.#heard = false;
			this.#socket.ping();
			this.#say({ type: "alive" });
		}
	}

	#fail(error: unknown): void {
		const { error: problem } = problemOf(error).body;
		this.#say({ type: "error", ...problem });
	}

	#say(message: ServerMessage): void {
		this.#send(JSON.stringify(message));
	}

	#send(data: string | Buffer): void {
		if (this.#socket.readyState !== this.#socket.OPEN) return;
		if (this.#socket.bufferedAmount > UNREAD_BYTES) this.#socket.terminate();
		else this.#socket.send(data);
	}
}
