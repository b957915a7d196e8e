/** Where episodes run: one place, or a pool of them with so many slots each. A place that fails rests for a while, and the next attempt goes to another. */
import type { PlaceObject } from "holdfast";
import { isLocal } from "../episode/index.js";
import type { RunItem } from "./manifest.js";

export type RunPlace = string | PlaceObject;

export interface PoolPlace {
	readonly place: RunPlace;
	/** Episodes at a time; undefined: as many as the run has. */
	readonly slots?: number | undefined;
}

const REST_MS = { first: 5_000, most: 120_000 };

interface PlaceState {
	readonly wanted: PoolPlace;
	readonly name: string;
	used: number;
	failures: number;
	restsUntil: number;
}

export class Pool {
	readonly #places: readonly PlaceState[];
	readonly #now: () => number;

	constructor(places: readonly PoolPlace[], now: () => number = Date.now) {
		const named = new Map<string, number>();
		this.#places = places.map((wanted) => {
			const plain = placeName(wanted.place);
			const times = (named.get(plain) ?? 0) + 1;
			named.set(plain, times);
			return { wanted, name: times === 1 ? plain : `${plain}~${times}`, used: 0, failures: 0, restsUntil: 0 };
		});
		this.#now = now;
	}

	/** Takes a slot of the place with the most room, if need be of another place than `not`. Undefined: none is free now. */
	take(item: RunItem, not?: string): Slot | undefined {
		const containers = needsContainer(item) ? this.#places.filter(({ wanted }) => !isLocal(wanted.place)) : [];
		const fitting = containers.length > 0 ? containers : this.#places; // without any it is made on this machine's engine
		const free = fitting.filter((one) => one.used < (one.wanted.slots ?? Number.POSITIVE_INFINITY) && one.restsUntil <= this.#now());
		const others = free.filter(({ name }) => name !== not);
		const [best] = (others.length > 0 ? others : free).sort((a, b) => load(a) - load(b));
		return best && new Slot(best, this.#now);
	}

	/** Milliseconds until a place that rests is asked again; undefined: none rests. */
	get restMs(): number | undefined {
		const rests = this.#places.map(({ restsUntil }) => restsUntil - this.#now()).filter((ms) => ms > 0);
		return rests.length === 0 ? undefined : Math.min(...rests);
	}
}

export class Slot {
	readonly place: RunPlace;
	readonly name: string;
	readonly #state: PlaceState;
	readonly #now: () => number;
	#free = false;

	constructor(state: PlaceState, now: () => number) {
		this.place = state.wanted.place;
		this.name = state.name;
		this.#state = state;
		this.#now = now;
		state.used++;
	}

	/** `failed`: the place itself did. It rests, longer each time, until an episode goes well on it. Idempotent. */
	release(failed: boolean): void {
		if (this.#free) return;
		this.#free = true;
		this.#state.used--;
		this.#state.failures = failed ? this.#state.failures + 1 : 0;
		if (failed) this.#state.restsUntil = this.#now() + Math.min(REST_MS.first * 2 ** (this.#state.failures - 1), REST_MS.most);
	}
}

const load = ({ used, wanted }: PlaceState): number => used / (wanted.slots ?? 1_000);

export function placeName(place: RunPlace): string {
	if (typeof place === "string") return place;
	const { kind, ...rest } = place as { kind: string; engine?: unknown; host?: unknown; image?: unknown };
	const where = [rest.engine, rest.host, rest.image].filter((part) => typeof part === "string");
	return [kind, ...where].join(" ");
}

/** Its files are in a container, which ends with the episode. */
export const needsContainer = (item: RunItem): boolean => item.kind !== "prompt" || item.row.image !== undefined;

/** Tasks there get a sandbox, container or instance each, which ends with them. */
export const makesBoxes = (place: RunPlace): boolean => !/^(local(\+no.*)?|ssh)(:|$)/.test(typeof place === "string" ? place : place.kind);

/** One for each engine of a kind: whatever image it has, what is left there is found by the same look. */
export function lookKey(place: RunPlace): string {
	if (typeof place === "string") return place;
	const { kind, engine, host } = place as { kind: string; engine?: unknown; host?: unknown };
	return JSON.stringify([kind, engine, host]);
}

/** Returns the place of a run by the name that its rows have; without one its first. */
export function placeNamed(
	{ place, pool = [] }: { readonly place: RunPlace; readonly pool?: readonly PoolPlace[] | undefined },
	name: string | undefined,
): RunPlace {
	return pool.find((one) => placeName(one.place) === name?.replace(/~\d+$/, ""))?.place ?? place;
}

/** Bytes of this machine's memory that an episode declares; 0 if nothing does, or if it runs on another machine. */
export function declaredMemory(item: RunItem, place: RunPlace): number {
	const { kind, memory, engine } = (typeof place === "string" ? { kind: place } : place) as { kind: string; memory?: unknown; engine?: unknown };
	const isElsewhere = /^(ssh|slurm|kubernetes|modal|morph)\b/.test(kind) || (typeof engine === "string" && !/^(unix:|\/)/.test(engine));
	if (isElsewhere) return 0;
	const own = item.kind === "harbor" ? item.task.settings.environment.memory_mb : undefined;
	if (own !== undefined) return own * MIB;
	return typeof memory === "number" ? memory : typeof memory === "string" ? bytesOf(memory) : 0;
}

const MIB = 1024 ** 2;
const UNITS: Readonly<Record<string, number>> = { "": 1, K: 1024, M: MIB, G: 1024 ** 3, T: 1024 ** 4 };

function bytesOf(text: string): number {
	const [, number = "0", unit = ""] = /^\s*(\d+(?:\.\d+)?)\s*([KMGT]?)i?B?\s*$/i.exec(text) ?? [];
	return Math.floor(Number(number) * (UNITS[unit.toUpperCase()] ?? 1));
}
