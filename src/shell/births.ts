/**
 * Shells are born a few at a time. Each birth keeps a core busy, so more of them at once are not quicker; but each has taken a log for its first command, which
 * no other task can use until it is born. One after another they pass these logs on, and two hundred tasks that begin at once need a few of them.
 */
import { availableParallelism } from "node:os";
import { closed, type Patience, patiently } from "./patience.js";

export const AT_ONCE = Math.max(4, 2 * availableParallelism());
const LONGEST_MS = 1_000; // profile files that wait for something do not hold up other births

export class Births {
	#free = AT_ONCE;
	readonly #waiting: (() => void)[] = [];
	readonly #closing: AbortSignal;

	/** `closing`: a birth that still waits then does not begin. */
	constructor(closing: AbortSignal) {
		this.#closing = closing;
	}

	/** Waits for a turn. Returns what ends it, which may be called more than once. */
	async turn(patience: Patience): Promise<() => void> {
		if (this.#free > 0) this.#free--;
		else await this.#next(patience);
		let over = false;
		const end = () => {
			clearTimeout(timer);
			if (!over) this.#pass();
			over = true;
		};
		const timer = setTimeout(end, LONGEST_MS).unref();
		return end;
	}

	async #next(patience: Patience): Promise<void> {
		let come: (() => void) | undefined;
		const mine = new Promise<void>((resolve) => {
			come = resolve;
		});
		const waiting = come as unknown as () => void;
		this.#waiting.push(waiting);
		try {
			await patiently(mine, patience);
			if (this.#closing.aborted) throw closed();
		} catch (error) {
			const at = this.#waiting.indexOf(waiting);
			if (at >= 0) this.#waiting.splice(at, 1);
			else this.#pass(); // it has had its turn
			throw error;
		}
	}

	#pass(): void {
		const next = this.#waiting.shift();
		if (next) next();
		else this.#free++;
	}
}
