/**
 * The rendered screen of a process with a terminal. The log is the source: a screen is what a terminal shows after the log up to an offset, with each
 * change of size where it happened. This module sends nothing to the process.
 */
import { HoldfastError } from "../base/index.js";
import { isDrained } from "../places/index.js";
import { type LogCursor, type Process, type Size, Sizes } from "../process/index.js";
import { Emulator, type Rendered } from "./emulator.js";
import { loadSnapshot, saveSnapshot } from "./snapshot.js";

/** A screen, and the log offset that it belongs to. */
export interface ScreenView extends Rendered {
	readonly offset: number;
}

/** Bytes of output between two snapshots: replaying them takes less than 100 ms. */
const SNAPSHOT_EVERY = 1024 * 1024;
/** CAN: ends any unfinished sequence. */
const CANCEL = "\x18";

/** Returns the current screen. Callers that look often keep a `LiveScreen` instead. */
export async function readScreen(process: Process): Promise<ScreenView> {
	const live = new LiveScreen(process);
	try {
		return await live.read();
	} finally {
		live.dispose();
	}
}

export interface Frozen {
	readonly offset: number;
	readonly cols: number;
	readonly rows: number;
	readonly title: string;
	readonly state: string;
}

export interface LiveScreenOptions {
	/** Receives the terminal's answers to all output, old and new. Default: dropped. */
	readonly onAnswer?: (bytes: string) => void;
	/** Replays at most this many bytes at first. If there are more, the screen may be wrong, and no snapshots are saved. */
	readonly replay?: number;
}

/** A screen kept in memory: each read feeds it only new output. Takes less than a megabyte until `dispose`. */
export class LiveScreen implements Disposable {
	readonly #process: Process;
	readonly #cursor: LogCursor;
	readonly #sizes: Sizes;
	readonly #emulator: Emulator;
	readonly #restored: Promise<void> | undefined;
	/** Sizes that are recorded but not yet reached; `#resized` counts those that were. */
	readonly #pending: Size[];
	#resized: number;
	#frozenAt: number;
	#turn: Promise<unknown> = Promise.resolve();
	#disposed = false;

	constructor(process: Process, options: LiveScreenOptions = {}) {
		const { terminal } = process.spec;
		if (!terminal) throw new HoldfastError("NO_TERMINAL", `${process.id} has no terminal, so it has no screen; read its log instead`);
		this.#process = process;
		this.#sizes = new Sizes(process.dir);
		const { first, end } = process.log.bounds();
		const found = loadSnapshot(process.dir);
		const snapshot = found && found.offset >= first && found.offset <= end ? found : undefined;
		const start = snapshot?.offset ?? first;
		const late = end - start > (options.replay ?? Number.POSITIVE_INFINITY);
		this.#frozenAt = late ? Number.POSITIVE_INFINITY : start;
		this.#cursor = process.log.cursor(late ? end - (options.replay as number) : start);
		this.#emulator = new Emulator(snapshot ?? terminal, { title: snapshot?.title, onAnswer: options.onAnswer });
		this.#restored = late ? undefined : snapshot && this.#emulator.write(snapshot.state);
		this.#resized = snapshot?.resized ?? 0;
		this.#pending = this.#sizes.next().slice(this.#resized);
	}

	/** The offset up to which it has been fed. */
	get offset(): number {
		return this.#cursor.offset;
	}

	/** Feeds it the new output, or only up to an offset, and returns the screen. */
	read(options: { upTo?: number } = {}): Promise<ScreenView> {
		const view = this.#turn.then(async () => {
			await this.#restored;
			await this.#feed(options.upTo ?? Number.POSITIVE_INFINITY);
			return { ...this.#emulator.render(), offset: this.#cursor.offset };
		});
		this.#turn = view.catch(() => {}); // a failed read does not fail the next
		return view;
	}

	/** Returns text that brings a fresh terminal to the state of the last read; undefined if there is none at this moment. */
	freeze(): Promise<Frozen | undefined> {
		const frozen = this.#turn.then(async () => {
			const { offset } = this.#cursor;
			const state = this.#disposed ? undefined : await this.#emulator.freeze();
			const { cols, rows, title } = this.#emulator.render();
			return state === undefined ? undefined : { offset, cols, rows, title, state };
		});
		this.#turn = frozen.catch(() => {});
		return frozen;
	}

	dispose(): void {
		if (this.#disposed) return;
		this.#disposed = true;
		this.#cursor.close();
		void this.#turn.then(() => this.#emulator.dispose()); // a read in progress ends first
	}

	[Symbol.dispose](): void {
		this.dispose();
	}

	async #feed(upTo: number): Promise<void> {
		const end = Math.min(upTo, this.#process.log.bounds().end); // the end as of now: a process that prints forever would never let this return
		for (;;) {
			if (this.#disposed) throw new HoldfastError("ABORTED", `the screen of ${this.#process.id} was closed`);
			this.#pending.push(...this.#sizes.next());
			this.#resize();
			const before = this.#cursor.offset;
			if (before >= end) break;
			// A new size ends the piece: earlier output belongs to the old size.
			const slice = this.#cursor.read(Math.min(end, this.#pending[0]?.offset ?? end) - before);
			if (slice.bytes.length === 0) break;
			if (slice.offset > before) await this.#emulator.write(CANCEL); // the ring has dropped the part in between
			await this.#emulator.write(slice.bytes);
			await this.#freezeNowAndThen();
		}
		// A size is recorded at a count of bytes. Bytes that were lost when dd was killed never arrive.
		if (this.#pending.length > 0 && upTo > end && isDrained(this.#process.dir)) this.#resize(Number.POSITIVE_INFINITY);
	}

	/** Applies the sizes that were set at or before the offset. */
	#resize(upTo = this.#cursor.offset): void {
		for (let size = this.#pending[0]; size && size.offset <= upTo; size = this.#pending[0]) {
			this.#emulator.resize(size.cols, size.rows);
			this.#pending.shift();
			this.#resized++;
		}
	}

	async #freezeNowAndThen(): Promise<void> {
		const { offset } = this.#cursor;
		if (offset - this.#frozenAt < SNAPSHOT_EVERY) return;
		const state = await this.#emulator.freeze();
		if (state === undefined) return; // in the middle of a sequence: after the next piece
		const { cols, rows, modes, title } = this.#emulator.render();
		saveSnapshot(this.#process.dir, { v: 1, offset, resized: this.#resized, cols, rows, state, modes: { ...modes }, title });
		this.#frozenAt = offset;
	}
}
