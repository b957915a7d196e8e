/** Forgetting the seats of tasks that nobody uses any more: `shells/TASKKEY.PLACE` in the home. */
import path from "node:path";
import { namesIn, removeDir, statIfThere } from "../base/files.js";
import { procDir } from "../keeper/layout.js";
import type { PruneOptions } from "../process/prune.js";
import type { Runtime } from "../process/runtime.js";
import { Seat } from "./seat.js";

const MADE_MS = 3_600_000; // to make one takes a moment, however soon others are to go

/**
 * How many: those that no command has used for so long, and whose shell is not kept any more, so that there is nothing that the
 * next one could take over. Whoever uses a seat renames a file in it, which is the time of its directory.
 */
export function pruneSeats(runtime: Runtime, { olderThanMs = runtime.keepMs, now = Date.now(), dryRun = false }: Partial<PruneOptions> = {}): number {
	const root = path.join(runtime.home.root, "shells");
	let forgotten = 0;
	for (const name of namesIn(root)) {
		const dir = path.join(root, name);
		const unusedMs = now - (statIfThere(dir)?.mtimeMs ?? now);
		if (unusedMs <= olderThanMs) continue;
		if (/\.\d+$/.test(name)) {
			if (!dryRun && unusedMs > MADE_MS) removeDir(dir); // whoever was about to make one was killed
		} else if (forgetSeat(runtime, dir, dryRun)) forgotten++;
	}
	return forgotten;
}

/** It is taken first, so nobody is at work there, and it is looked at once more: somebody may have been meanwhile. */
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
