/** The calls under way, of all tasks. */
export class Calls {
	#count = 0;
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
			return await done;
		} finally {
			this.#count--;
		}
	}

	#end(task: string, call: Promise<unknown>): void {
		const ending = Promise.allSettled([this.#ending.get(task), call]).then(() => {
			if (this.#ending.get(task) === ending) this.#ending.delete(task);
		});
		this.#ending.set(task, ending);
	}
}
