/** What the rules would decide about a command, for who asks without running it. */
import os from "node:os";
import { HoldfastError } from "../base/errors.js";
import { statIfThere } from "../base/files.js";
import { isContained, isRemote, type PlaceWish, placeName } from "../places/address.js";
import type { Verdict } from "../policy/decide.js";

export async function checkCommand(
	command: string,
	{ wish, cwd, task }: { wish: PlaceWish; cwd?: string; task?: string },
): Promise<Verdict & { readonly notes: readonly string[] }> {
	const { decide, loadRules } = await import("../policy/index.js");
	const dir = cwd ?? defaultDirectory(wish);
	if (!isRemote(wish) && !statIfThere(dir)?.isDirectory()) throw new HoldfastError("NO_DIRECTORY", `there is no directory ${dir}; name one that exists`);
	const rules = await loadRules(isRemote(wish) ? undefined : dir);
	const verdict = decide(command, {
		cwd: dir,
		rules,
		place: placeName(wish),
		contained: isContained(wish),
		placeAlias: isRemote(wish) ? wish.name : undefined,
		...(task === undefined ? {} : { task }),
	});
	return { ...verdict, notes: rules.notes };
}

/** On another machine a shell starts in the home there; nobody has looked where that is, so it is taken to be called like ours. */
function defaultDirectory(wish: PlaceWish): string {
	if (wish.kind === "local") return wish.directory ?? process.cwd();
	if (wish.kind === "sandbox") return process.cwd();
	const dir = wish.kind === "ssh" ? wish.options.dir : wish.options.workdir;
	return dir?.startsWith("/") ? dir : os.homedir();
}
