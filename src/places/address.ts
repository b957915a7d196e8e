/** Parses the place that a person or program names. A wish is plain data, so that any program can reach the same place later. */
import { createHash } from "node:crypto";
import * as z from "zod";
import { type Config, HoldfastError, type Places, taskKey } from "../base/index.js";
import { type Boundary, type Kind, keysOf, type Life } from "./kind.js";
import { kindNamed, kinds, type PlaceObject } from "./kinds.js";

/** An address, a name from config.json, or the kind and settings of a place. */
export type PlaceGiven = string | PlaceObject;

/** Schema for the `place` option. The kind checks the settings of an object when the place is used. Later changes by the caller have no effect. */
export const placeSchema = z.lazy(() =>
	z
		.union(
			[z.string().max(8_192), z.custom<PlaceObject>((value) => typeof value === "object" && value !== null)],
			"must be an address, a name from config.json, or an object with a kind and its settings",
		)
		.transform((given): PlaceGiven => {
			if (typeof given === "string") return given;
			try {
				return structuredClone(given);
			} catch {
				return given; // contains a function: the kind refuses it along with other problems
			}
		}),
);

/** An unchecked `PlaceGiven`. */
export type PlaceAsked = string | { readonly kind: string };

export interface PlaceWish {
	/** A kind of the table in kinds.ts. */
	readonly kind: string;
	/** The name or address that was given; for an object, its address. */
	readonly name: string;
	/** The options as given, already checked by the kind. */
	readonly options: Readonly<Record<string, unknown>>;
	/** The user that runs commands, if different from the one in the settings. */
	readonly user?: string;
}

/** Options that a caller has set for all places of a kind, by the name of the kind. A place's own options win. */
export type KindDefaults = Readonly<Record<string, object | undefined>>;

const SHOWN = 200;
const MOST_BYTES = 1024 * 1024;

/**
 * Returns the wish for a name, address or object. Throws INVALID, listing the possible places, for anything else; never falls back to another place.
 * Reads the configuration only for a name, so a broken config.json does not block this machine.
 */
export function placeFrom(given: PlaceAsked, config: () => { readonly places: Places }, defaults: KindDefaults = {}): PlaceWish {
	if (typeof given === "object" && given !== null) return objectWish(given, defaults);
	const text = given;
	if (typeof text !== "string") throw notAPlace(text);
	for (const kind of kinds()) {
		const options = kind.parse(text);
		if (options) return wishOf(kind, options, defaults, isRemoteKind(kind) ? text : undefined);
	}
	const { places } = config();
	if (Object.hasOwn(places, text)) return namedWish(text, places[text] as Places[string], defaults);
	throw new HoldfastError("INVALID", `there is no place ${JSON.stringify(text.slice(0, SHOWN))}; there are ${known(places)}${suggestion(text)}`);
}

/** Returns the same machine for calls as another user. Throws INVALID for a place that cannot change users. */
export function asUser(wish: PlaceWish, user: string | undefined): PlaceWish {
	if (user === undefined || wish.options.user === user) return wish;
	const { runs, show } = kindNamed(wish.kind);
	if (typeof runs === "object" && runs.users) return { ...wish, user };
	throw new HoldfastError(
		"INVALID",
		`user: ${JSON.stringify(user)} cannot be chosen for commands on ${show(wish.options)}: they run as the user whose place it is. Leave it out, or use a container`,
	);
}

function wishOf(kind: Kind, options: object, defaults: KindDefaults, name?: string): PlaceWish {
	const own = defaults[kind.name];
	const all = own === undefined ? options : { ...own, ...options };
	check(kind, all);
	return { kind: kind.name, name: name ?? kind.show(all), options: { ...all } };
}

/** Reads a place object. Keeps a copy made through JSON. */
function objectWish(given: object, defaults: KindDefaults): PlaceWish {
	let text: string | undefined;
	try {
		text = JSON.stringify(given);
	} catch (error) {
		throw new HoldfastError("INVALID", `the settings of a place are what JSON can hold, and these are not: ${(error as Error).message.split("\n")[0]}`, {
			cause: error,
		});
	}
	if (text === undefined || Array.isArray(given)) throw notAPlace(given);
	if (text.length > MOST_BYTES) throw new HoldfastError("INVALID", "the place has more than a megabyte of settings; nothing was run");
	const { kind: name, ...options } = JSON.parse(text) as { kind?: unknown };
	if (typeof name !== "string") throw notAPlace(given);
	return wishOf(kindNamed(name), options, defaults);
}

const kindOf = (given: object): string => ((given as { kind?: unknown }).kind === undefined ? "an object without a kind" : "an object whose kind is no text");

function notAPlace(given: unknown): HoldfastError {
	const what = given === null ? "null" : Array.isArray(given) ? "a list" : typeof given === "object" ? kindOf(given) : `a ${typeof given}`;
	const names = kinds().map(({ name }) => name);
	return new HoldfastError(
		"INVALID",
		`a place is an address, a name from config.json, or an object with "kind" (${names.join(", ")}) and the settings of that kind; this is ${what}`,
	);
}

/** Returns the wish for an entry of config.json, checked by its kind. Defaults are filled in at use. */
function namedWish(name: string, { type, kind = type, ...entry }: Places[string], defaults: KindDefaults): PlaceWish {
	try {
		return wishOf(kindNamed(kind as string), entry, defaults, name);
	} catch (error) {
		const why = (error as Error).message.replace(`${kind}: `, "");
		throw new HoldfastError("CONFIG", `places.${name} in config.json cannot be used: ${why}`, { cause: error });
	}
}

/** Throws INVALID if the kind refuses the options. For a key of another kind, the error names that kind. */
function check(kind: Kind, options: object): void {
	const own = keysOf(kind);
	const foreign = Object.keys(options).filter((key) => !own.includes(key));
	const owned = foreign.flatMap((key) => {
		const owners = kinds().filter((other) => keysOf(other).includes(key));
		return owners.length === 0 ? [] : [`${JSON.stringify(key)}, which is a key of ${new Intl.ListFormat("en").format(owners.map(({ name }) => name))}`];
	});
	if (owned.length > 0) throw new HoldfastError("INVALID", `${kind.name}: there is no key ${owned.join(", nor ")}; there are ${own.join(", ")}`);
	kind.settings(options);
}

function known(places: Places): string {
	const names = Object.keys(places);
	const all = kinds().flatMap(({ forms }) => forms);
	const forms = `${all.slice(0, -1).join(", ")} and ${all.at(-1)}`;
	return names.length === 0 ? `${forms}, and names from \`places\` in config.json, which has none` : `${forms}, and of config.json ${names.join(", ")}`;
}

const suggestion = (text: string): string =>
	text.length > SHOWN
		? ""
		: kinds()
				.map((kind) => kind.suggest?.(text) ?? "")
				.join("");

/** Returns the display name: user and machine, no secrets. */
export const placeName = (wish: PlaceWish): string => kindNamed(wish.kind).show(wish.options);

const isRemoteKind = ({ runs }: Kind): boolean => typeof runs === "object";

/** Returns true if the paths of the place differ from the paths of this machine. */
export const isRemote = (wish: PlaceWish): boolean => isRemoteKind(kindNamed(wish.kind));

/** Returns where commands of the place run. */
export function runsOf(wish: PlaceWish): "here" | "sandbox" | "remote" {
	const { runs } = kindNamed(wish.kind);
	return typeof runs === "string" ? runs : "remote";
}

/** Returns where a new shell starts, if the wish says so; it may begin with ~/. */
export const directoryOf = (wish: PlaceWish): string | undefined => kindNamed(wish.kind).directory(wish.options);

/** Returns the settings with defaults, and with what config.json sets for all places of the kind. */
export function settingsOf(wish: PlaceWish, config?: () => Config): object {
	const kind = kindNamed(wish.kind);
	const before = kind.defaults && config ? kind.defaults(config()) : {};
	return kind.settings({ ...before, ...wish.options });
}

/** Returns how well the place isolates commands from this machine. Throws CONFIG if that depends on an unusable config.json. */
export function boundaryOf(wish: PlaceWish, config: () => Config): Boundary {
	let boundary = boundaries.get(wish);
	if (boundary === undefined) {
		boundary = kindNamed(wish.kind).boundary(settingsOf(wish, config));
		boundaries.set(wish, boundary);
	}
	return boundary;
}
const boundaries = new WeakMap<PlaceWish, Boundary>(); // computed before every command

/** Facts about a place that policy rules use. */
export interface PlaceFacts {
	/** Display name. */
	readonly name: string;
	readonly kind: string;
	/** Name in config.json. */
	readonly alias?: string;
	/** The place shares the paths of this machine. */
	readonly local: boolean;
	/** Commands cannot harm anything outside: only the floor and the user's own rules apply. */
	readonly contained: boolean;
}

export const factsOf = (wish: PlaceWish, { contains }: Boundary): PlaceFacts => ({
	name: placeName(wish),
	kind: wish.kind,
	alias: wish.name,
	local: !isRemote(wish),
	contained: contains,
});

/** Returns the lifetime of a task's own machine; undefined if all tasks share the machine, which Holdfast then does not end. */
export function lifeOf(wish: PlaceWish): Life | undefined {
	const { runs } = kindNamed(wish.kind);
	return typeof runs === "string" ? undefined : runs.life(settingsOf(wish));
}

/** Returns a part of file names. A shared machine has one key for all tasks, whatever directory they start in; a container has one per task. */
export function placeKey(wish: PlaceWish, task: string): string {
	const kind = kindNamed(wish.kind);
	if (typeof kind.runs === "string") return kind.show(wish.options);
	let identity = identities.get(wish);
	if (identity === undefined) {
		identity = { text: sorted(kind.identity(stated(kind, wish.options))), perTask: lifeOf(wish) !== undefined };
		identities.set(wish, identity);
	}
	const machine = `${wish.kind}-${digest(`${identity.perTask ? taskKey(task) : ""}\n${identity.text}`, 12)}`;
	return wish.user === undefined ? machine : `${machine}-${digest(wish.user, 8)}`;
}
const digest = (text: string, length: number): string => createHash("sha256").update(text).digest("hex").slice(0, length);

/** Returns the key of the machine for the key of any of its users. */
export const machineKey = (key: string): string => key.split("-").slice(0, 2).join("-");

const identities = new WeakMap<PlaceWish, { readonly text: string; readonly perTask: boolean }>();

/** Returns the options without those equal to the default. */
function stated(kind: Kind, options: PlaceWish["options"]): object {
	const whole = sorted(kind.settings(options));
	const says = ([key]: [string, unknown]) => {
		const { [key]: _, ...others } = options;
		try {
			return sorted(kind.settings(others)) !== whole;
		} catch {
			return true; // no default
		}
	};
	return Object.fromEntries(Object.entries(options).filter(says));
}

export const isPlaceKey = (text: string): boolean => /^[a-z][a-z0-9]*-[0-9a-f]{12}(-[0-9a-f]{8})?$/.test(text);

/** Returns the same text for the same wish, regardless of the order of its options. */
export const wishText = (wish: PlaceWish): string => sorted(wish);

const sorted = (value: unknown): string =>
	JSON.stringify(value, (_key, inner: unknown) =>
		inner !== null && typeof inner === "object" && !Array.isArray(inner)
			? Object.fromEntries(Object.entries(inner).sort(([a], [b]) => (a < b ? -1 : 1)))
			: inner,
	);
