/** How a command that runs for long is ended, and what is left to do then is done. */
import { whenUnread } from "../output.js";

/**
 * Returns what aborts when a person or a service manager ends the program: `first` says what happens now, the next time `again` leaves at once. A terminal that
 * is gone, and words that nobody reads any more, end it too, without a word.
 */
export function untilStopped(first: () => void, again: () => void = () => process.exit(130)): AbortSignal & Disposable {
	const stop = new AbortController();
	const interrupt = (): void => {
		if (stop.signal.aborted) again();
		else first();
		stop.abort();
	};
	const unheard = (): void => stop.abort();
	process.on("SIGINT", interrupt).on("SIGTERM", interrupt).on("SIGHUP", unheard);
	whenUnread(unheard);
	const off = (): void => void process.off("SIGINT", interrupt).off("SIGTERM", interrupt).off("SIGHUP", unheard);
	return Object.assign(stop.signal, { [Symbol.dispose]: off });
}
