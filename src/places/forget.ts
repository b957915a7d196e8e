/** Forgets places without any reference left: `places/KEY.json` in the home, with the files beside it. */
import fs from "node:fs";
import path from "node:path";
import { errno, type Home, namesIn, statIfThere, unlinkIfThere } from "../base/index.js";
import { placeName } from "./address.js";
import { type Remembered, rememberedPlaces } from "./remember.js";

export interface ForgetOptions {
	/** Unused for this long. */
	readonly olderThanMs: number;
	readonly now?: number;
	readonly dryRun?: boolean;
	/** Returns the keys of places that kept processes and shells are in. Called only if something is old enough. */
	used(): ReadonlySet<string>;
	/** Returns whether the user's configuration names it. */
	configured(place: Remembered): boolean;
	/** Returns whether its container may still exist. */
	mayBeThere(place: Remembered): Promise<boolean>;
}

/** Forgets places that nothing needs any more. Returns their names. */
export async function forgetPlaces(home: Pick<Home, "root">, options: ForgetOptions): Promise<string[]> {
	const now = options.now ?? Date.now();
	const isOld = (file: string) => now - (statIfThere(file)?.mtimeMs ?? now) > options.olderThanMs;
	const dir = path.join(home.root, "places");
	const old = rememberedPlaces(home).filter(({ key }) => isOld(path.join(dir, `${key}.json`)));
	if (old.length === 0) return [];
	const used = options.used();
	const forgotten: string[] = [];
	for (const place of old) {
		const file = path.join(dir, `${place.key}.json`);
		if (used.has(place.key) || options.configured(place) || (await options.mayBeThere(place))) {
			if (!options.dryRun) fs.utimesSync(file, now / 1000, now / 1000); // so that the next check comes later
		} else if (options.dryRun || forget(dir, place.key, isOld)) forgotten.push(placeName(place.wish));
	}
	return forgotten;
}

/**
 * A program that is about to use a place touches its file first, and recreates it if it is gone. So this moves the file away first, and then checks it
 * again.
 */
function forget(dir: string, key: string, isOld: (file: string) => boolean): boolean {
	const file = path.join(dir, `${key}.json`);
	const aside = `${file}.${process.pid}`;
	try {
		fs.renameSync(file, aside);
	} catch (error) {
		if (errno(error) === "ENOENT") return false; // another program was faster
		throw error;
	}
	if (!isOld(aside)) {
		fs.renameSync(aside, file);
		return false;
	}
	unlinkIfThere(aside);
	for (const name of namesIn(dir).filter((name) => name.startsWith(`${key}.`) && name !== `${key}.json`))
		fs.rmSync(path.join(dir, name), { recursive: true, force: true });
	return true;
}
