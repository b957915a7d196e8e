/** Events for any number of listeners. None waits for another: each has a queue of its own. */
import type { TurnEvent } from "./events.js";

const LONG_QUEUE = 1_000;

export class EventHub implements AsyncIterable<TurnEvent> {
	readonly #listeners = new Set<Listener>();
	#closed = false;

	emit(event: TurnEvent): void {
		for (const listener of this.#listeners) listener.push(event);
	}

	close(): void {
		this.#closed = true;
		for (const listener of this.#listeners) listener.end();
		this.#listeners.clear();
	}

	/** Listens from now on, until the conversation is closed or the loop is left. */
	[Symbol.asyncIterator](): AsyncIterator<TurnEvent> {
		const listener = new Listener(() => this.#listeners.delete(listener));
		if (this.#closed) listener.end();
		else this.#listeners.add(listener);
		return listener;
	}
}

class Listener implements AsyncIterator<TurnEvent> {
	readonly #queue: TurnEvent[] = [];
	readonly #leave: () => void;
	#wake: (() => void) | undefined;
	#ended = false;

	constructor(leave: () => void) {
		this.#leave = leave;
	}

	push(event: TurnEvent): void {
		const last = this.#queue.at(-1);
		// One that is far behind gets the text in larger pieces.
		if (this.#queue.length > LONG_QUEUE && last && (event.type === "text" || event.type === "reasoning") && last.type === event.type)
			this.#queue[this.#queue.length - 1] = { type: event.type, text: last.text + event.text };
		else this.#queue.push(event);
		this.#wake?.();
	}

	end(): void {
		this.#ended = true;
		this.#wake?.();
	}

	async next(): Promise<IteratorResult<TurnEvent>> {
		for (;;) {
			const event = this.#queue.shift();
			if (event) return { done: false, value: event };
			if (this.#ended) return { done: true, value: undefined };
			await new Promise<void>((resolve) => {
				this.#wake = resolve;
			});
			this.#wake = undefined;
		}
	}

	async return(): Promise<IteratorResult<TurnEvent>> {
		this.#leave();
		this.end();
		this.#queue.length = 0;
		return { done: true, value: undefined };
	}
}
