/** The local place. */
import fs from "node:fs";
import path from "node:path";
import { HoldfastError } from "../../base/index.js";
import type { Machine } from "../machine.js";
import type { Place } from "../place.js";
import { enterableParent } from "./directory.js";

/** `cwd`: where a new shell starts. */
export const localPlace = (machine: Machine, cwd: string): Place => ({
	name: "local",
	cwd,
	machine,
	sees: "all",
	files: machine.fileSystem,
	at: same,
	directory: (asked = cwd) => checkDirectory(asked),
	birthplace: (wanted = cwd) => enterableParent(wanted),
});

const same = (file: string): string => file;
const missing = (dir: string): string => `the working directory ${dir} does not exist; nothing was run, so make it first or give one that exists`;

/** Returns the absolute path of a local directory. Throws if it does not exist or is none. */
export function checkDirectory(dir: string, { at = same, isMissing = missing } = {}): string {
	const cwd = path.isAbsolute(dir) ? dir : path.resolve(dir);
	const stat = fs.statSync(at(cwd), { throwIfNoEntry: false });
	if (!stat) throw new HoldfastError("NO_DIRECTORY", isMissing(cwd));
	if (!stat.isDirectory()) throw new HoldfastError("NO_DIRECTORY", `${cwd} is not a directory; nothing was run, so give one that is`);
	return cwd;
}
