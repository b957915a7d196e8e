/** Old things of a home go while new ones come. Housekeeping never fails anything; `holdfast prune` reports what is wrong. */
import { type Config, sweepPresence } from "../base/index.js";
import { forgetPlaces, placeFrom, placeKey } from "../places/index.js";
import type { PruneOptions } from "./prune.js";
import type { Runtime } from "./runtime.js";

const GROUP_UNUSED_MS = 3_600_000; // a warm keeper may have one that is still empty
const PRUNE_EVERY_MS = 5 * 60_000;

export class Housekeeping {
	readonly #runtime: Runtime;
	/** What else is to be done when old things go, for rooms that this one does not know. */
	readonly chores: (() => void)[] = [];
	#pruned = 0;
	#timer: NodeJS.Timeout | undefined;

	constructor(runtime: Runtime) {
		this.#runtime = runtime;
	}

	/** After a start: soon, unless that was done not long ago. */
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
				// as above
			}
		}, 1_000).unref();
	}

	/** Forgets places that no process, shell or container of this home, and no configuration, refers to any more. Returns how they are called. */
	async prunePlaces({ olderThanMs = this.#runtime.keepMs, now, dryRun }: Partial<PruneOptions>): Promise<string[]> {
		const { home, registry, boxes } = this.#runtime;
		let places: Config["places"];
		try {
			({ places } = this.#runtime.config);
		} catch {
			return []; // the program that needs the file says what is wrong with it; until then it is unknown what the file names
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

/** A place that cannot be used has no key. */
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
