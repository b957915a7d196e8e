/** The places of a run: one, or a pool of them with so many slots each. A place that fails rests for a while, and the next attempt goes to another. */
import type { PlaceObject } from "holdfast";
import { AgentError } from "../base/index.js";
import { isLocal } from "../episode/index.js";
import type { TaskItem } from "../tasks/index.js";
import type { RunItem, RunManifest } from "./manifest.js";

export type RunPlace = string | PlaceObject;

export interface PoolPlace {
	readonly place: RunPlace;
	/** As rows and people name it; default: by its address. */
	readonly name?: string;
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
			const plain = wanted.name ?? placeName(wanted.place);
			const times = (named.get(plain) ?? 0) + 1;
			named.set(plain, times);
			return { wanted, name: times === 1 ? plain : `${plain}~${times}`, used: 0, failures: 0, restsUntil: 0 };
		});
		this.#now = now;
	}

	/** Takes a slot of the place with the most room, if need be of another place than `not`. Undefined: none is free now. */
	take(item: RunItem, not?: string): Slot | undefined {
		const suiting = this.#places.filter(({ wanted }) => suits(item, wanted.place));
		const engines = needsContainer(item) ? suiting.filter(({ wanted }) => hasEngine(wanted.place)) : [];
		const fitting = [engines, suiting, this.#places].find(({ length }) => length > 0) ?? []; // where none suits, its environment says why
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
export const needsContainer = (item: TaskItem): boolean => item.kind !== "prompt" || item.row.image !== undefined;

const hasEngine = (place: RunPlace): boolean => typeof place === "object" && place.kind === "docker";

/** Whether an item can be played on a place: a container of its image is made by the place's engine or by this machine's, and by no other place. */
function suits(item: TaskItem, place: RunPlace): boolean {
	if (item.kind === "swe" && item.row.image === undefined) return isLocal(place); // its repository is on this machine
	return !needsContainer(item) || hasEngine(place) || isHere(place);
}

const isHere = (place: RunPlace): boolean => /^(local|sandbox)\b/.test(typeof place === "string" ? place : place.kind);

/** A name of config.json, or the address of an engine, as its kind and settings: those decide what can be played there. */
export function resolved(place: RunPlace, resolve: (place: RunPlace) => PlaceObject): RunPlace {
	const found = resolve(place);
	const isAddress = typeof place === "string" && (/^local([+:]|$)/.test(place) || place.startsWith(`${found.kind}:`));
	return isAddress && !hasEngine(found) ? place : found;
}

/** The places of a run, with what config.json says of them. Throws `INVALID` for one that there is not, and for items that can be played on none of them. */
export function placesFor(
	{ place, pool = [{ place }] }: Pick<RunManifest, "place" | "pool">,
	items: readonly TaskItem[],
	resolve: (place: RunPlace) => PlaceObject,
): PoolPlace[] {
	const places = pool.map((wanted) => ({ ...wanted, name: placeName(wanted.place), place: resolved(wanted.place, resolve) }));
	const strange = items.filter((item) => !places.some((one) => suits(item, one.place)));
	if (strange.length === 0) return places;
	const names = strange.slice(0, 5).map(({ key }) => key);
	throw new AgentError(
		"INVALID",
		`${names.join(", ")}${strange.length > names.length ? `, and ${strange.length - names.length} more` : ""} cannot be played on ${places.map(({ name }) => name).join(", ")}: ` +
			"a task with an image needs a place of containers (docker://, or one of config.json with its engine) or this machine, and a repository of this machine a local place",
	);
}

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
