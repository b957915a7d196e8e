/** What this very program holds, as the kernel and Node count it. */
import fs from "node:fs";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";

export interface HeldNow {
	readonly descriptors: number;
	readonly watchers: number;
	readonly children: number;
}

export function heldNow(): HeldNow {
	return {
		descriptors: fs.readdirSync("/proc/self/fd").length,
		watchers: process.getActiveResourcesInfo().filter((name) => name === "FSEventWrap").length,
		children: fs.readFileSync(`/proc/self/task/${process.pid}/children`, "utf8").split(" ").filter(Boolean).length,
	};
}

/** None of the three is more than that above `before`. */
export function isFlat(before: HeldNow, above = 5): boolean {
	const now = heldNow();
	return (Object.keys(before) as (keyof HeldNow)[]).every((name) => now[name] <= before[name] + above);
}

/** Megabytes in use after a garbage collection. */
export function heapMb(): number {
	setFlagsFromString("--expose-gc");
	(runInNewContext("gc") as () => void)();
	return process.memoryUsage().heapUsed / 1e6;
}
