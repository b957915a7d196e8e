/**
 * Output from before what the live terminal holds: a window of the log, written into a terminal of its own, that moves when
 * one scrolls over its edge. So a log of any size costs the same.
 */
import { signal } from "@preact/signals";
import type { Terminal } from "@xterm/xterm";

export interface LogPart {
	/** The offset of `bytes`; later than requested if the older part is gone. */
	readonly offset: number;
	readonly bytes: Uint8Array;
	/** What the log has: from here … */
	readonly first: number;
	/** … to here. */
	readonly end: number;
}

export type ReadLog = (from: number, limit: number) => Promise<LogPart>;

const STEP = 64 * 1024;
const NEWLINE = 10;

export class History {
	/** The part of the log on show, and what there is. */
	readonly shown = signal({ start: 0, end: 0, first: 0, total: 0 });
	readonly busy = signal(false);
	#last: Promise<number> = Promise.resolve(0);

	constructor(
		readonly terminal: Terminal,
		readonly read: ReadLog,
	) {}

	/** The last part of the log, at the same distance from the end as the live terminal was. */
	async fromEnd(linesAbove: number): Promise<void> {
		const { end } = await this.read(0, 1);
		await this.#show(end - 2 * STEP, end);
		this.terminal.scrollToLine(Math.max(0, this.terminal.buffer.active.baseY - linesAbove));
	}

	/** Another part, with that offset at the top of the screen. */
	async at(offset: number): Promise<void> {
		const line = await this.#show(offset - STEP, offset + STEP, offset);
		if (this.shown.value.end <= this.shown.value.start && this.shown.value.total > 0)
			await this.fromEnd(0); // there is nothing that far
		else this.terminal.scrollToLine(line);
	}

	/** One step up; what was at the top stays where it is on the screen. */
	async older(): Promise<void> {
		const { start, first } = this.shown.value;
		if (start <= first || this.busy.value) return;
		const line = await this.#show(start - STEP, start + STEP, start);
		this.terminal.scrollToLine(Math.max(0, line - 1));
	}

	/** One step down; false at the end of the log. */
	async newer(): Promise<boolean> {
		const { end, total } = this.shown.value;
		if (this.busy.value) return true;
		if (end >= total) return false;
		const line = await this.#show(end - STEP, end + STEP, end);
		this.terminal.scrollToLine(Math.max(0, line - this.terminal.rows + 1));
		return true;
	}

	/** Writes that part; the line on which `mark` came to be. */
	#show(from: number, to: number, mark = to): Promise<number> {
		this.#last = this.#last.catch(() => 0).then(() => this.#write(from, to, mark)); // one after the other
		return this.#last;
	}

	async #write(from: number, to: number, mark: number): Promise<number> {
		this.busy.value = true;
		try {
			const wanted = Math.max(0, from);
			const part = await this.read(wanted, to - wanted);
			const skip = part.offset > part.first ? pastFirstLine(part.bytes) : 0;
			const bytes = part.bytes.subarray(skip);
			const start = part.offset + skip;
			const split = Math.min(Math.max(0, mark - start), bytes.length);
			this.terminal.reset();
			await written(this.terminal, bytes.subarray(0, split));
			const { baseY, cursorY } = this.terminal.buffer.active;
			await written(this.terminal, bytes.subarray(split));
			this.shown.value = { start, end: start + bytes.length, first: part.first, total: part.end };
			return baseY + cursorY;
		} finally {
			this.busy.value = false;
		}
	}
}

const written = (terminal: Terminal, bytes: Uint8Array): Promise<void> => new Promise((resolve) => terminal.write(bytes, resolve));

/** A window rarely begins where a line does. A line as long as the window is shown from the middle. */
function pastFirstLine(bytes: Uint8Array): number {
	const at = bytes.indexOf(NEWLINE);
	return at < 0 || at > bytes.length / 2 ? 0 : at + 1;
}
