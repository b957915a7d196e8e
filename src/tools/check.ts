/** Returns what the rules would decide about a command, without running it. */
import os from "node:os";
import { HoldfastError, loadConfig, statIfThere } from "../base/index.js";
import { boundaryOf, directoryOf, factsOf, type PlaceAsked, type PlaceWish, placeFrom, sharesPaths } from "../places/index.js";
import type { Verdict } from "../policy/index.js";

export async function checkCommand(
	command: string,
	{ place, cwd, task }: { place: PlaceAsked; cwd?: string; task?: string },
): Promise<Verdict & { readonly notes: readonly string[] }> {
	const wish = placeFrom(place, loadConfig);
	const { decide, loadRules } = await import("../policy/index.js");
	const dir = cwd ?? defaultDirectory(wish);
	if (sharesPaths(wish) && !statIfThere(dir)?.isDirectory()) throw new HoldfastError("NO_DIRECTORY", `there is no directory ${dir}; name one that exists`);
	const rules = await loadRules(sharesPaths(wish) ? dir : undefined);
	const verdict = decide(command, {
		cwd: dir,
		rules,
		place: factsOf(wish, boundaryOf(wish, loadConfig)),
		...(task === undefined ? {} : { task }),
	});
	return { ...verdict, notes: rules.notes };
}

/** Returns the directory to assume. A remote shell starts in the remote home directory; its path is unknown, so the local one is used. */
function defaultDirectory(wish: PlaceWish): string {
	const dir = directoryOf(wish);
	if (dir?.startsWith("/")) return dir;
	return sharesPaths(wish) ? process.cwd() : os.homedir();
}
