/**
 * The effects of a message, a key or the end of the program on a turn that is under way:
 *
 * | wish | the model streams | a call runs | later calls |
 * |---|---|---|---|
 * | steer | the stream ends, its text is kept | the command goes on in the background | skipped |
 * | stop | the same, and the turn is over | the command is killed, 130 | skipped |
 * | leave | the stream ends, nothing is kept: it is asked again | the command goes on in the background | open: they are made when the turn goes on |
 */
export type Wish = "steer" | "stop" | "leave";

const RANK: Readonly<Record<Wish, number>> = { steer: 1, leave: 2, stop: 3 };

/** The wishes for one turn. A stronger one takes the place of a weaker one. */
export class Steering {
	readonly #stop = new AbortController();
	#move = new AbortController();
	#wish: Wish | undefined;

	get wish(): Wish | undefined {
		return this.#wish;
	}

	/** Ends commands. */
	get stop(): AbortSignal {
		return this.#stop.signal;
	}

	/** Moves commands to the background. */
	get yield(): AbortSignal {
		return this.#move.signal;
	}

	/** Ends a request to the model. */
	get request(): AbortSignal {
		return AbortSignal.any([this.#stop.signal, this.#move.signal]);
	}

	want(wish: Wish): void {
		if (this.#wish && RANK[this.#wish] >= RANK[wish]) return;
		this.#wish = wish;
		(wish === "stop" ? this.#stop : this.#move).abort(wish);
	}

	/** The messages that it was about are in the log. */
	steered(): void {
		if (this.#wish !== "steer") return;
		this.#wish = undefined;
		this.#move = new AbortController();
	}
}
