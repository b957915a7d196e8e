const MOST_NOTES = 5;

/** The calls under way, of all tasks. */
export class ConnectionCalls {
	#count = 0;
	readonly #running = new Map<string, Set<Promise<unknown>>>();
	readonly #ending = new Map<string, Promise<unknown>>();
	readonly #notes = new Map<string, (() => readonly string[])[]>();

	/** A door that closes now must not wait for them: their commands go on by themselves. */
	get busy(): boolean {
		return this.#count > 0;
	}

	/** Run one. If another of the task was taken back just now, its command is first killed, or moved to the background: then the shell is free again. */
	async run<T>(task: string, cancelled: readonly AbortSignal[], act: () => Promise<T>): Promise<T> {
		this.#count++;
		try {
			await this.#ending.get(task);
			const done = act();
			for (const signal of cancelled) signal.addEventListener("abort", () => this.#end(task, done), { once: true });
			return await this.#noted(task, done);
		} finally {
			this.#count--;
		}
	}

	/** Keeps something that the task's next result has to say: it belongs to a result that reaches no client, or to none. */
	note(task: string, say: () => readonly string[]): void {
		this.#notes.set(task, [...(this.#notes.get(task) ?? []), say].slice(-MOST_NOTES));
	}

	takeNotes(task: string): readonly string[] {
		const notes = this.#notes.get(task) ?? [];
		this.#notes.delete(task);
		return notes.flatMap((say) => say());
	}

	/** Resolves when the commands of all calls that were taken back are dead, or in the background. */
	async settled(): Promise<void> {
		await Promise.allSettled(this.#ending.values());
	}

	/** Resolves when every call of the task that is under way now has ended. */
	async done(task: string): Promise<void> {
		await Promise.allSettled(this.#running.get(task) ?? []);
	}

	async #noted<T>(task: string, call: Promise<T>): Promise<T> {
		const running = this.#running.get(task) ?? new Set();
		this.#running.set(task, running.add(call));
		try {
			return await call;
		} finally {
			running.delete(call);
			if (running.size === 0) this.#running.delete(task);
		}
	}

	#end(task: string, call: Promise<unknown>): void {
		const ending = Promise.allSettled([this.#ending.get(task), call]).then(() => {
			if (this.#ending.get(task) === ending) this.#ending.delete(task);
		});
		this.#ending.set(task, ending);
	}
}
