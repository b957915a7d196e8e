/** Homes that a place may be in, and what a list of names means in each. */
import path from "node:path";
import type { World } from "./scope.js";

const HOMES = /^(?:\/home\/[^/]+|\/Users\/[^/]+|\/root)(?=\/|$)/;

export function homesOf(place: string, { home }: World): string[] {
	const other = HOMES.exec(place)?.[0];
	return other === undefined || other === home ? [home] : [home, other];
}

const lists = new WeakMap<readonly string[], Map<string, string[]>>();
const MOST_HOMES = 64;

/** The same lists are asked for every word of every command. */
export function below(home: string, names: readonly string[]): readonly string[] {
	const known = lists.get(names) ?? new Map<string, string[]>();
	lists.set(names, known);
	let targets = known.get(home);
	if (!targets) {
		if (known.size >= MOST_HOMES) known.clear();
		targets = names.map((name) => path.join(home, name));
		known.set(home, targets);
	}
	return targets;
}
