/** Removes notices that were not delivered for a week, and files of programs that were killed. */
import fs from "node:fs";
import path from "node:path";
import { type Home, here, Lease, namesIn, statIfThere, unlinkIfThere } from "../base/index.js";
import { procDir } from "../keeper/index.js";
import { DAY_MS, LIMITS } from "../process/index.js";

/** Only directories in which nothing has happened for a day are looked into. */
export function sweep(home: Home, now: number): void {
	for (const task of namesIn(home.notices)) {
		const dir = path.join(home.notices, task);
		try {
			if (now - (statIfThere(dir)?.mtimeMs ?? now) < DAY_MS) continue;
			for (const name of namesIn(dir)) if (isForgotten(home, dir, name, now)) unlinkIfThere(path.join(dir, name));
			fs.rmdirSync(dir);
		} catch {
			// not empty; and housekeeping never fails anything
		}
	}
}

function isForgotten(home: Home, dir: string, name: string, now: number): boolean {
	if (name.startsWith("armed.")) return !fs.existsSync(procDir(home, name.slice("armed.".length)));
	const lease = `owner.${here()}`;
	if (name === lease || name.startsWith(`${lease}.`)) return Lease.isFree(path.join(dir, lease));
	return name === "flood" || now - (statIfThere(path.join(dir, name))?.mtimeMs ?? now) > LIMITS.keepMs;
}
