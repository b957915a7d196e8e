/** Tracks the calls in progress in this program by task: all of a task can be interrupted, or moved to the background, at once. */

export interface OneCall {
	/** Aborts when the caller, or `interrupt`, wants the call to end. */
	readonly signal: AbortSignal;
	/** Aborts when the caller, or `yield`, wants the command to continue in the background. */
	readonly yield: AbortSignal;
	end(): void;
}

interface CallSignals {
	readonly signal?: AbortSignal | undefined;
	readonly yield?: AbortSignal | undefined;
}

interface Active {
	readonly calls: Set<Entry>;
	/** The time at which a call last began or ended, in milliseconds since 1970. */
	last: number;
}

interface Entry {
	readonly ends: AbortController;
	readonly yields: AbortController;
	readonly over: Promise<void>;
}

export class UnderWay {
	readonly #tasks = new Map<string, Active>();

	/** Registers a call. `moves`: on `yield` its command continues in the background. Any other call ends then, without loss. */
	begin(task: string, given: CallSignals, { moves }: { moves: boolean }): OneCall {
		const ends = new AbortController();
		const yields = moves ? new AbortController() : ends;
		const unlink = [link(given.signal, ends), link(given.yield, yields)];
		let over: () => void = () => {};
		const entry: Entry = { ends, yields, over: new Promise((resolve) => (over = resolve)) };
		const active = this.#tasks.get(task) ?? { calls: new Set(), last: 0 };
		this.#tasks.set(task, active);
		active.calls.add(entry);
		active.last = Date.now();
		return {
			signal: ends.signal,
			yield: yields.signal,
			end: () => {
				for (const undo of unlink) undo?.();
				active.calls.delete(entry);
				active.last = Date.now();
				over();
			},
		};
	}

	isBusy(task: string): boolean {
		return (this.#tasks.get(task)?.calls.size ?? 0) > 0;
	}

	lastActivity(task: string): number | undefined {
		return this.#tasks.get(task)?.last;
	}

	/** Ends the calls of a task. Returns their number once they have answered. */
	interrupt(task: string, reason?: unknown): Promise<number> {
		return this.#stop(task, ({ ends }) => ends.abort(reason));
	}

	/** Moves the commands of a task to the background and ends its other calls. Returns their number once they have answered. */
	yield(task: string, reason?: unknown): Promise<number> {
		return this.#stop(task, ({ yields }) => yields.abort(reason));
	}

	/** Drops the entry of a task without calls. */
	forget(task: string): void {
		if (!this.isBusy(task)) this.#tasks.delete(task);
	}

	async #stop(task: string, stop: (call: Entry) => void): Promise<number> {
		const calls = [...(this.#tasks.get(task)?.calls ?? [])];
		for (const call of calls) stop(call);
		await Promise.all(calls.map(({ over }) => over));
		return calls.length;
	}
}

function link(from: AbortSignal | undefined, to: AbortController): (() => void) | undefined {
	if (!(from instanceof AbortSignal)) return undefined; // none; the check of the call's options reports a wrong type
	if (from.aborted) {
		to.abort(from.reason);
		return undefined;
	}
	const stop = () => to.abort(from.reason);
	from.addEventListener("abort", stop, { once: true });
	return () => from.removeEventListener("abort", stop);
}
