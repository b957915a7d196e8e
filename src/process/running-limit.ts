/** Limits the running processes of a task. Starts that are not in the registry yet count too. */
import { counted, HoldfastError } from "../base/index.js";
import type { Registry } from "./registry.js";

const COUNT_MS = 200;

export class RunningLimit {
	readonly #registry: Registry;
	/** Starts that are not in the registry yet, by task. */
	readonly #starting = new Map<string, number>();
	#counted = { at: Number.NEGATIVE_INFINITY, live: 0 };

	constructor(registry: Registry) {
		this.#registry = registry;
	}

	/** Returns true while processes are being started. */
	get isStarting(): boolean {
		return this.#starting.size > 0;
	}

	/** Counts one more start, until the returned function is called; calling it again does nothing. */
	begin(task: string): () => void {
		this.#count(task, 1);
		let counts = true;
		return () => {
			if (counts) this.#count(task, -1);
			counts = false;
		};
	}

	#count(task: string, by: number): void {
		const starting = (this.#starting.get(task) ?? 0) + by;
		if (starting > 0) this.#starting.set(task, starting);
		else this.#starting.delete(task);
	}

	/** Throws if the task is at its limit. The caller has already called `begin`. */
	check(task: string, limit: number): void {
		// Usually far fewer run than allowed: then no process is checked, and many starts share one count.
		if (performance.now() - this.#counted.at > COUNT_MS) this.#counted = { at: performance.now(), live: this.#registry.mayRun() };
		this.#counted.live++;
		const starting = this.#starting.get(task) ?? 0; // includes the caller's own start
		if (this.#counted.live + starting <= limit) return;
		const running = this.#registry.running(task).filter(({ spec }) => spec.kind === undefined).length + starting - 1;
		if (running >= limit)
			throw new HoldfastError(
				"LIMIT",
				`task "${task}" already has ${counted(running, "running process", "running processes")}, and ${counted(limit, "is", "are")} allowed; end one first (kill), or raise the limit`,
			);
	}
}
