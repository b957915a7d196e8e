/** Plays a recording on a terminal: forwards by writing what is due, backwards by starting again from the beginning. */
import { signal } from "@preact/signals";
import type { Terminal } from "@xterm/xterm";
import type { Cast } from "./cast.js";

export class Player {
	readonly playing = signal(false);
	readonly position = signal(0);
	readonly speed = signal(1);
	#next = 0;
	#frame = 0;
	#last = 0;

	constructor(
		readonly terminal: Terminal,
		readonly cast: Cast,
	) {
		this.#rewind();
	}

	play(): void {
		if (this.playing.value) return;
		if (this.position.value >= this.cast.seconds) this.seek(0);
		this.playing.value = true;
		this.#last = performance.now();
		this.#frame = requestAnimationFrame(this.#step);
	}

	pause(): void {
		this.playing.value = false;
		cancelAnimationFrame(this.#frame);
	}

	/** Resolves when the terminal shows that moment. */
	seek(seconds: number): Promise<void> {
		const to = Math.min(Math.max(0, seconds), this.cast.seconds);
		if (to < this.position.value) this.#rewind();
		this.position.value = to;
		return this.#catchUp();
	}

	dispose(): void {
		this.pause();
	}

	readonly #step = (): void => {
		const now = performance.now();
		const to = this.position.value + ((now - this.#last) / 1_000) * this.speed.value;
		this.#last = now;
		void this.seek(to);
		if (this.position.value >= this.cast.seconds) this.pause();
		else if (this.playing.value) this.#frame = requestAnimationFrame(this.#step);
	};

	#rewind(): void {
		this.#next = 0;
		this.terminal.reset();
		this.terminal.resize(this.cast.cols, this.cast.rows);
	}

	async #catchUp(): Promise<void> {
		const { events } = this.cast;
		let text = "";
		for (let event = events[this.#next]; event && event.at <= this.position.value; event = events[++this.#next]) {
			if (event.kind === "o") text += event.data;
			else {
				const size = /^(\d{1,4})x(\d{1,4})$/.exec(event.data);
				// A size is for what comes after it, so what came before must be taken in first: the terminal keeps the order of writes.
				const before = text;
				text = "";
				this.terminal.write(before, () => size && this.terminal.resize(Math.max(1, Number(size[1])), Math.max(1, Number(size[2]))));
			}
		}
		await new Promise<void>((resolve) => this.terminal.write(text, resolve));
	}
}
