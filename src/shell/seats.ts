/** Removes the seats of tasks that are no longer used: `shells/TASKKEY.PLACE` in the home. */
import path from "node:path";
import { namesIn, removeDir, statIfThere } from "../base/index.js";
import { procDir } from "../keeper/index.js";
import type { PruneOptions, Runtime } from "../process/index.js";
import { Seat } from "./seat.js";

const MADE_MS = 3_600_000; // to make one takes a moment, however soon others are to go

/**
 * How many: those that no command has used for so long, and whose shell is not kept any more, so that there is nothing that the
 * next one could take over. Each use renames a file in the seat, so the mtime of its directory is the last use.
 */
export function pruneSeats(runtime: Runtime, { olderThanMs = runtime.keepMs, now = Date.now(), dryRun = false }: Partial<PruneOptions> = {}): number {
	const root = path.join(runtime.home.root, "shells");
	let forgotten = 0;
	for (const name of namesIn(root)) {
		const dir = path.join(root, name);
		const unusedMs = now - (statIfThere(dir)?.mtimeMs ?? now);
		if (unusedMs <= olderThanMs) continue;
		if (/\.\d+$/.test(name)) {
			if (!dryRun && unusedMs > MADE_MS) removeDir(dir); // the program that was making it was killed
		} else if (forgetSeat(runtime, dir, dryRun)) forgotten++;
	}
	return forgotten;
}

/** Takes the seat first, so that no command is at work there, and then looks once more: one may have been meanwhile. */
function forgetSeat(runtime: Runtime, dir: string, dryRun: boolean): boolean {
	const seat = new Seat(runtime, dir);
	const isKept = () => seat.current !== undefined && statIfThere(procDir(runtime.home, seat.current)) !== undefined;
	if (isKept()) return false;
	if (dryRun) return true;
	if (!seat.take("prune")) return false;
	if (isKept()) {
		seat.giveBack();
		return false;
	}
	seat.forget();
	return true;
}
