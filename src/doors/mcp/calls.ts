/** The calls under way, of all tasks. */
export class Calls {
	#count = 0;
	readonly #running = new Map<string, Set<Promise<unknown>>>();
	readonly #ending = new Map<string, Promise<unknown>>();

	/** A door that closes now must not wait for them: their commands go on by themselves. */
	get busy(): boolean {
		return this.#count > 0;
	}

	/** Run one. If another of the task was taken back just now, first let its command be killed: then the shell is free again. */
	async run<T>(task: string, cancelled: AbortSignal, act: () => Promise<T>): Promise<T> {
		this.#count++;
		try {
			await this.#ending.get(task);
			const done = act();
			cancelled.addEventListener("abort", () => this.#end(task, done), { once: true });
			return await this.#noted(task, done);
		} finally {
			this.#count--;
		}
	}

	/** Resolves when no call of the task that is under way now is any more. */
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
