/**
 * Tells the server how far the terminal is, a step each time the browser paints. So a program that prints without end is shown
 * at the pace of a screen, some megabytes a second, and leaves the machine to others; a short burst fits into the server's window and does not wait.
 */
const STEP_BYTES = 64 * 1024;
const UNSEEN_MS = 1_000; // nothing is painted in a hidden tab

export class Acks {
	#shown = 0;
	#acked = 0;
	#frame = 0;
	#timer = 0;

	constructor(readonly send: (offset: number) => void) {}

	/** The server begins anew at this offset. */
	begin(offset: number): void {
		this.stop();
		this.#shown = offset;
		this.#acked = offset;
	}

	/** All before `offset` is on the terminal. */
	shown(offset: number): void {
		this.#shown = Math.max(this.#shown, offset);
		if (this.#timer === 0 && this.#shown - this.#acked >= STEP_BYTES) this.#soon();
	}

	stop(): void {
		cancelAnimationFrame(this.#frame);
		clearTimeout(this.#timer);
		this.#timer = 0;
	}

	#soon(): void {
		this.#frame = requestAnimationFrame(this.#tell);
		this.#timer = setTimeout(this.#tell, UNSEEN_MS);
	}

	readonly #tell = (): void => {
		this.stop();
		this.#acked = Math.min(this.#shown, this.#acked + STEP_BYTES);
		this.send(this.#acked);
		if (this.#shown - this.#acked >= STEP_BYTES) this.#soon();
	};
}
