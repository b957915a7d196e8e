/** The host of a wish, made by its kind. */
import { HoldfastError, type Home } from "../base/index.js";
import { type PlaceWish, placeName } from "./address.js";
import type { Host } from "./host.js";
import type { HostHooks, Remote } from "./kind.js";
import { kindNamed } from "./kinds.js";

export function hostOf(wish: PlaceWish, owner: { readonly task: string }, home: Pick<Home, "root">, hooks: HostHooks = {}): Promise<Host> {
	const { user } = wish;
	return remoteOf(wish).host(wish.options, { home: home.root, task: owner.task, ...(user === undefined ? {} : { user }) }, hooks);
}

/** Returns the same place with options for a check that leaves nothing behind. */
export const trialOf = (wish: PlaceWish): PlaceWish => ({ ...wish, options: { ...remoteOf(wish).trial(wish.options) } });

function remoteOf(wish: PlaceWish): Remote {
	const { runs } = kindNamed(wish.kind);
	if (typeof runs === "object") return runs;
	throw new HoldfastError("INTERNAL", `${placeName(wish)} is a place of this machine, which has no host`);
}
