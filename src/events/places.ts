/** Events about places: a remote machine that goes out of reach or comes back, a container that is made, replaced or ended. */
import path from "node:path";
import { ensureDir, type Home, namesIn } from "../base/index.js";
import { machineKey } from "../places/index.js";
import type { Process } from "../process/index.js";
import type { Happening } from "./event.js";
import { lifeOf } from "./happenings.js";

interface PlaceSource {
	readonly home: Home;
	/** Processes that are watched. */
	readonly processes: () => readonly Process[];
	readonly tell: (happening: Happening) => void;
}

export class PlaceEvents {
	readonly #source: PlaceSource;
	readonly #dir: string;
	readonly #lives = new Map<string, string | null>();
	readonly #down = new Map<string, string>(); // why, by box

	constructor(source: PlaceSource) {
		this.#source = source;
		this.#dir = path.join(source.home.root, "places");
	}

	/** Watches from now on. Returns a function that ends that. */
	start(): () => void {
		const { home } = this.#source;
		ensureDir(this.#dir);
		const unwatch = home.watch.directory(this.#dir, (name) => {
			if (name === null) for (const file of namesIn(this.#dir)) this.#lookAtLife(file);
			else this.#lookAtLife(name);
		});
		for (const name of namesIn(this.#dir).filter((name) => name.endsWith(".life"))) {
			const life = lifeOf(home, path.join(this.#dir, name));
			if (life) this.#lives.set(name, life.box);
		}
		return () => {
			unwatch();
			this.#lives.clear();
			this.#down.clear();
		};
	}

	/** The machines that cannot be reached now. */
	standing(): Happening[] {
		return [...this.#down].map(([key, reason]) => this.#placeDown(key, reason));
	}

	/** Whether the machine of a process could be reached the last time that any program tried is in its replica. */
	look({ spec, unreachable }: Process): void {
		const key = spec.box ?? ""; // the local machine is never unreachable
		const before = this.#down.get(key);
		if (unreachable !== undefined && before === undefined) {
			this.#down.set(key, unreachable);
			this.#source.tell(this.#placeDown(key, unreachable));
		} else if (unreachable === undefined && before !== undefined) {
			this.#down.delete(key);
			this.#source.tell({ ...this.#placeOf(key), type: "place.up" });
		}
	}

	#placeDown(key: string, reason: string): Happening {
		return { ...this.#placeOf(key), type: "place.down", reason };
	}

	#placeOf(key: string): { readonly place: string; readonly task: string | null; readonly box: string | null } {
		const life = lifeOf(this.#source.home, path.join(this.#dir, `${machineKey(key)}.life`));
		const place = this.#source.processes().find(({ spec: { box } }) => box === key)?.spec.place ?? key;
		return life?.box ? life : { place: life?.place ?? place, task: null, box: null };
	}

	#lookAtLife(name: string): void {
		if (!name.endsWith(".life") || name.startsWith(".")) return;
		const life = lifeOf(this.#source.home, path.join(this.#dir, name));
		if (!life) return;
		const before = this.#lives.get(name) ?? null;
		if (before === life.box) return;
		this.#lives.set(name, life.box);
		if (!life.box) this.#source.tell({ ...life, box: before, type: "place.down", reason: "the container was ended" });
		else this.#source.tell({ ...life, type: before === null ? "place.up" : "place.replaced" });
	}
}
