/** Removes old entries of a home while new ones are added. Housekeeping never makes a call fail; `holdfast prune` reports problems. */
import { type Config, sweepPresence } from "../base/index.js";
import { forgetPlaces, placeFrom, placeKey } from "../places/index.js";
import type { PruneOptions } from "./prune.js";
import type { Runtime } from "./runtime.js";

const GROUP_UNUSED_MS = 3_600_000; // the cgroup of a warm keeper may still be empty
const PRUNE_EVERY_MS = 5 * 60_000;

export class Housekeeping {
	readonly #runtime: Runtime;
	/** Further cleanup, registered by rooms that this room does not import. */
	readonly chores: (() => void)[] = [];
	#pruned = 0;
	#timer: NodeJS.Timeout | undefined;

	constructor(runtime: Runtime) {
		this.#runtime = runtime;
	}

	/** Called after a start: cleans up soon, unless that was done recently. */
	nowAndThen(): void {
		const now = Date.now();
		if (now - this.#pruned < PRUNE_EVERY_MS) return;
		this.#pruned = now;
		this.#timer = setTimeout(() => {
			try {
				this.#runtime.prune();
				sweepPresence(this.#runtime.home);
				this.#runtime.cgroups?.sweep(GROUP_UNUSED_MS);
				this.#runtime.prunePlaces().catch(() => {});
				for (const chore of this.chores) chore();
			} catch {
				// `holdfast prune` reports it
			}
		}, 1_000).unref();
	}

	/** Forgets places that neither a process, shell or container of this home nor the configuration refers to. Returns their names. */
	async prunePlaces({ olderThanMs = this.#runtime.keepMs, now, dryRun }: Partial<PruneOptions>): Promise<string[]> {
		const { home, registry, boxes } = this.#runtime;
		let places: Config["places"];
		try {
			({ places } = this.#runtime.config);
		} catch {
			return []; // the program that needs the file reports its problem; until then, the places that it names are unknown
		}
		return forgetPlaces(home, {
			olderThanMs,
			...(now === undefined ? {} : { now }),
			...(dryRun === undefined ? {} : { dryRun }),
			used: () => registry.machines(),
			configured: ({ key, task }) => Object.keys(places).some((name) => keyOfEntry(name, places, task) === key),
			mayBeThere: (place) => boxes.mayBeThere(place),
		});
	}

	close(): void {
		clearTimeout(this.#timer);
	}
}

/** Returns the key of a configured place; undefined if the place is unusable. */
function keyOfEntry(name: string, places: Config["places"], task: string): string | undefined {
	try {
		return placeKey(
			placeFrom(name, () => ({ places })),
			task,
		);
	} catch {
		return undefined;
	}
}
