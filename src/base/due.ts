/**
 * The deadline of the call under way. Code that waits for another machine is too deep down to be handed it, and would wait for longer than the caller
 * waits for the answer. A home has one of these, so the deadline of a call of one runtime does not show in a runtime of another home.
 */
import { CallScope } from "./call-scope.js";

interface Due {
	/** The time by performance.now(). */
	readonly at: number;
	/** The call is answered: what goes on after it has all the time there is. */
	answered: boolean;
}

export class Deadlines {
	readonly #calls = new CallScope<Due | undefined>();

	/** Runs a call that has to be answered by then. */
	async dueAt<T>(at: number, act: () => Promise<T>): Promise<T> {
		const call = { at, answered: false };
		try {
			return await this.#calls.run(call, act);
		} finally {
			call.answered = true;
		}
	}

	/** Returns the deadline of the call under way; undefined: no caller waits, or it waits for as long as it takes. */
	due(): number | undefined {
		const call = this.#calls.get();
		return call?.answered === false ? call.at : undefined;
	}

	isLate(): boolean {
		return performance.now() >= (this.due() ?? Number.POSITIVE_INFINITY);
	}

	/** Runs `act` detached from the deadline of the call under way. */
	afterwards<T>(act: () => T): T {
		return this.due() === undefined ? act() : this.#calls.run(undefined, act);
	}

	/** Waits for `work` as long as the call has time. `work` itself goes on. */
	async inTime<T>(work: Promise<T>, late: () => Error): Promise<T> {
		const call = this.#calls.get();
		if (!call || call.answered) return work;
		let timer: NodeJS.Timeout | undefined;
		const over = new Promise<never>((_, reject) => {
			timer = setTimeout(() => call.answered || reject(late()), Math.min(Math.max(0, Math.ceil(call.at - performance.now()) + 1), 2 ** 31 - 1));
		});
		try {
			return await Promise.race([work, over]);
		} finally {
			clearTimeout(timer);
			work.catch(() => {}); // whichever came second
		}
	}
}
