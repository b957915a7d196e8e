/**
 * A kill that is under way: the file `killing` in the directory of its process names the program that kills. A tree is stopped before it
 * is signalled (halt.ts). If that program is itself killed in between, the tree stays stopped and nothing else would ever continue it;
 * so the next program that looks at the process finishes the kill.
 */
import fs from "node:fs";
import path from "node:path";
import { readIfThere } from "../base/files.js";
import { isGone, me } from "../base/who.js";

const fileIn = (dir: string): string => path.join(dir, "killing");

export async function whileKilling<Result>(dir: string, kill: () => Promise<Result>): Promise<Result> {
	const file = fileIn(dir);
	const who = me();
	try {
		fs.writeFileSync(file, who, { mode: 0o600 });
	} catch {
		// the disk is full, or the directory was removed: a kill works without
	}
	try {
		return await kill();
	} finally {
		if (["", who].includes(readIfThere(file) ?? "another's")) fs.rmSync(file, { force: true });
	}
}

/** Has a program been killed while it killed this process? */
export function wasCutShort(dir: string): boolean {
	const who = readIfThere(fileIn(dir));
	return who ? isGone(who, fileIn(dir)) : false;
}
