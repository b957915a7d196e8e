/** Episodes that wait: in the order of their indices, those that are to be tried again when their time has come. */
import type { RunItem } from "./manifest.js";

export class Queue {
	readonly #ready: RunItem[];
	readonly #later = new Map<number, { readonly item: RunItem; readonly at: number }>();
	readonly #now: () => number;

	constructor(items: readonly RunItem[], now: () => number = Date.now) {
		this.#ready = [...items];
		this.#now = now;
	}

	get size(): number {
		return this.#ready.length + this.#later.size;
	}

	/** Milliseconds until the next of those whose time has not come; undefined: none waits for a time. */
	get nextMs(): number | undefined {
		const times = [...this.#later.values()].map(({ at }) => at - this.#now()).filter((ms) => ms > 0);
		return times.length === 0 ? undefined : Math.min(...times);
	}

	/** Puts one behind all others. */
	add(item: RunItem): void {
		this.#ready.push(item);
	}

	/** Puts one in front of all others: it was begun before them. */
	again(item: RunItem, afterMs: number): void {
		this.#later.set(item.index, { item, at: this.#now() + afterMs });
	}

	/** Takes out those that do not have to wait any more. */
	remove(isOver: (item: RunItem) => boolean): RunItem[] {
		const over = [...this.#ready, ...[...this.#later.values()].map(({ item }) => item)].filter(isOver);
		for (const item of over) {
			const place = this.#ready.indexOf(item);
			if (place >= 0) this.#ready.splice(place, 1);
			else this.#later.delete(item.index);
		}
		return over;
	}

	/** Returns the first for which `start` returns something, and what it returned. That one does not wait any more. */
	first<T>(start: (item: RunItem) => T | undefined): { readonly item: RunItem; readonly with: T } | undefined {
		for (const { item, at } of this.#later.values()) {
			const found = at <= this.#now() ? start(item) : undefined;
			if (found === undefined) continue;
			this.#later.delete(item.index);
			return { item, with: found };
		}
		for (const [place, item] of this.#ready.entries()) {
			const found = start(item);
			if (found === undefined) continue;
			this.#ready.splice(place, 1);
			return { item, with: found };
		}
		return undefined;
	}
}
