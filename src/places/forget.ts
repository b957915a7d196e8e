/** Forgetting places that nobody refers to any more: `places/KEY.json` in the home, with what is beside it. */
import fs from "node:fs";
import path from "node:path";
import { errno, type Home, namesIn, statIfThere, unlinkIfThere } from "../base/index.js";
import { placeName } from "./address.js";
import { type Remembered, rememberedPlaces } from "./remember.js";

export interface ForgetOptions {
	/** Not used for so long. */
	readonly olderThanMs: number;
	readonly now?: number;
	readonly dryRun?: boolean;
	/** The keys of places that kept processes and shells are in. Asked for only when something is old enough. */
	used(): ReadonlySet<string>;
	/** Whether a person's configuration names it. */
	configured(place: Remembered): boolean;
	/** Whether its container may still be there. */
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
			if (!options.dryRun) fs.utimesSync(file, now / 1000, now / 1000); // it need not be asked about again soon
		} else if (options.dryRun || forget(dir, place.key, isOld)) forgotten.push(placeName(place.wish));
	}
	return forgotten;
}

/** A program that is about to use a place touches its file first, and makes it again if it is gone. So the file is moved away first, and then looked at once more. */
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
