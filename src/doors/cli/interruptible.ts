/** Ctrl-C ends the call, not this program: the result says what became of it. `signals`: for a call that has to put something away, all that would end us. */
export async function interruptible<T>(act: (signal: AbortSignal) => Promise<T>, signals: readonly NodeJS.Signals[] = ["SIGINT"]): Promise<T> {
	const stop = new AbortController();
	const interrupt = () => stop.abort();
	for (const signal of signals) process.on(signal, interrupt);
	try {
		return await act(stop.signal);
	} finally {
		for (const signal of signals) process.off(signal, interrupt);
	}
}
