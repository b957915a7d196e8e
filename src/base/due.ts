/**
 * By when the call that something is done for has to be answered. What waits for another machine is too deep down to be handed that, and
 * would wait for longer than anybody waits for the answer.
 */
import { AsyncLocalStorage } from "node:async_hooks";

interface Due {
	/** By performance.now(). */
	readonly at: number;
	/** It is answered: what goes on after it has all the time there is. */
	answered: boolean;
}

const calls = new AsyncLocalStorage<Due | undefined>();

export async function dueAt<T>(at: number, act: () => Promise<T>): Promise<T> {
	const call = { at, answered: false };
	try {
		return await calls.run(call, act);
	} finally {
		call.answered = true;
	}
}

/** Undefined: nobody waits, or for as long as it takes. */
export function due(): number | undefined {
	const call = calls.getStore();
	return call?.answered === false ? call.at : undefined;
}

export const isLate = (): boolean => performance.now() >= (due() ?? Number.POSITIVE_INFINITY);

/** What is not done for the call that it begins in, and goes on when that has no more time. */
export const afterwards = <T>(act: () => T): T => (due() === undefined ? act() : calls.run(undefined, act));

/** Waits for something as long as the call has time; what is waited for goes on. */
export async function inTime<T>(work: Promise<T>, late: () => Error): Promise<T> {
	const call = calls.getStore();
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
