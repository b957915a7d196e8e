/** A person at a process: keys in, output out. */
import { once } from "node:events";
import { setTimeout as sleep } from "node:timers/promises";
import { HoldfastError, type Home } from "../../base/index.js";
import { handBack } from "../../notices/index.js";
import { isOver, KEYBOARD_RENEW_MS, Keyboard, type Process } from "../../process/index.js";
import { handleOf, tellOfReach } from "./look.js";
import type { Output } from "./output.js";
import { writeOut } from "./stream.js";

export const DETACH_KEY = "\x1d"; // Ctrl-]
const REPLAY_BYTES = 32 * 1024;
const REDRAW_MS = 50;
const UNSENT_MS = 2_000;

/** Our stdin to the process's, end of file included; `say` is told when something may not have arrived. Returns what stops it. */
export function feed(process_: Process, say: (text: string) => void): () => void {
	const { stdin } = process;
	let queue = Promise.resolve();
	const later = (act: () => Promise<unknown>) => {
		stdin.pause();
		queue = queue.then(act).then(
			() => void stdin.resume(),
			(error: unknown) => {
				if (isUnreachable(error)) say(error.message);
				stop(); // it no longer reads: neither do we
			},
		);
	};
	const onData = (chunk: Buffer) => later(() => process_.write(chunk));
	const onEnd = () => {
		queue = queue.then(() => process_.closeStdin()).catch(() => {}); // it may have ended before us
	};
	const stop = () => {
		stdin.off("data", onData);
		stdin.off("end", onEnd);
		stdin.pause();
		stdin.unref?.();
	};
	stdin.on("data", onData);
	stdin.on("end", onEnd);
	return stop;
}

/** Attach this terminal: raw keys, resizes, until it ends, the detach key is typed, or `signal` aborts. `keyboardIn`: an agent may use it too, so the first key takes the keyboard. */
export async function session(
	process_: Process,
	options: { signal?: AbortSignal; from?: number; out: Output; keyboardIn?: Home; readOnly?: boolean },
): Promise<"ended" | "detached" | "aborted"> {
	const { stdin, stdout } = process;
	const leave = new AbortController();
	const unsent = new AbortController();
	let detached = false;
	let queue = Promise.resolve();
	const keyboard = options.keyboardIn && new HeldKeyboard(process_, options.keyboardIn);
	const onKeys = (chunk: Buffer) => {
		const key = chunk.indexOf(DETACH_KEY);
		const typed = key < 0 ? chunk : chunk.subarray(0, key);
		const keys = options.readOnly ? typed.subarray(0, 0) : typed;
		if (keys.length > 0)
			queue = queue
				.then(() => (isReply(keys) ? undefined : keyboard?.hold()))
				.then(() => process_.write(keys, { signal: unsent.signal }))
				.then(
					() => {},
					(error: unknown) => {
						if (isUnreachable(error)) options.out.note(`\r\nholdfast: ${error.message} (Ctrl-] leaves it; it goes on)\r`);
					}, // else ended: the end is on its way
				);
		if (key >= 0) {
			detached = true;
			leave.abort();
		}
	};
	const hasSize = () => stdout.columns > 0 && stdout.rows > 0; // else the program keeps its own
	const resize = async (rows: number) => (options.readOnly || !hasSize() ? undefined : unlessLeft(process_.resize(stdout.columns, rows), leave.signal));
	const onResize = () => void resize(stdout.rows).catch(() => {}); // ended, as above
	const onAbort = () => leave.abort();
	// This terminal answers what the program asks of it, so no other viewer may.
	const unattend = process_.spec.terminal && !options.readOnly ? (await import("../../screen/index.js")).attend(process_) : undefined;
	options.signal?.addEventListener("abort", onAbort, { once: true });
	stdin.setRawMode?.(true);
	stdin.on("data", onKeys);
	stdin.resume();
	stdout.on("resize", onResize);
	const untell = tellOfReach(options, process_);
	try {
		if (!isOver(process_.status())) {
			if (options.from === undefined && stdout.rows > 1) {
				// A full-screen program draws itself anew when its size changes, so make sure that it does, and has time to see it.
				await resize(stdout.rows - 1);
				await sleep(REDRAW_MS);
			}
			await resize(stdout.rows);
		}
		const from = options.from ?? Math.max(0, process_.log.bounds().end - REPLAY_BYTES);
		for await (const slice of process_.follow({ from, signal: leave.signal })) await writeOut(slice.bytes);
		return detached ? "detached" : leave.signal.aborted ? "aborted" : "ended";
	} finally {
		untell();
		const patience = setTimeout(() => unsent.abort(), UNSENT_MS); // if the program does not read what was typed
		await queue;
		clearTimeout(patience);
		keyboard?.release();
		unattend?.();
		options.signal?.removeEventListener("abort", onAbort);
		stdin.off("data", onKeys);
		stdout.off("resize", onResize);
		stdin.setRawMode?.(false);
		stdin.pause();
		stdin.unref?.();
		if (detached) {
			await writeOut(Buffer.from("\x1b[?1049l\x1b[?25h\x1b[0m\x1b[?2004l\x1b[?1000l\x1b[?1006l\r\n")); // leave no mode of the program behind
			options.out.note(`detached; ${process_.id} goes on (holdfast attach ${handleOf(process_.spec)})`);
		}
	}
}

/**
 * Whether a terminal has sent this by itself: answers to what the program asked it (CSI … R, c, n, t, u, y; DCS and OSC strings) and reports of focus.
 * They are passed on, but no person has typed them.
 */
export const isReply = (bytes: Buffer): boolean =>
	/^(?:\x1b\[[0-?]*[ -/]*[Rcntuy]|\x1b\[[IO]|\x1b[P\]_][^\x07\x1b]*(?:\x07|\x1b\\))+$/.test(bytes.toString("latin1"));

const isUnreachable = (error: unknown): error is HoldfastError => error instanceof HoldfastError && error.code === "UNREACHABLE";

/** A person who leaves does not wait: what was sent may still be carried out. */
async function unlessLeft(done: Promise<void>, signal: AbortSignal): Promise<void> {
	const stop = new AbortController();
	const left = once(signal, "abort", { signal: stop.signal }).catch(() => {});
	await Promise.race(signal.aborted ? [done.catch(() => {}), undefined] : [done, left]).finally(() => stop.abort());
}

/** Takes the keyboard with the first key, from any holder: an agent's writes are refused until we leave. */
class HeldKeyboard {
	readonly #process: Process;
	readonly #home: Home;
	#keyboard: Keyboard | undefined;
	#timer: NodeJS.Timeout | undefined;

	constructor(process_: Process, home: Home) {
		this.#process = process_;
		this.#home = home;
	}

	async hold(): Promise<void> {
		if (this.#keyboard?.held()) return;
		this.#keyboard = await Keyboard.take(this.#process, { who: "a person at `holdfast attach`", force: true });
		this.#timer ??= setInterval(() => this.#keyboard?.renew(), KEYBOARD_RENEW_MS).unref();
	}

	release(): void {
		clearInterval(this.#timer);
		if (this.#keyboard) handBack(this.#home, this.#process, this.#keyboard);
	}
}
