/** Which tasks have notices, or wait for some. Their directories have no names: the files in them say whose they are. */
import path from "node:path";
import * as z from "zod";
import { type Home, namesIn, readIfThere } from "../base/index.js";

const ABOUT_TASK = /^(armed|notice|taken)\./;
const taskSchema = z.lazy(() => z.object({ task: z.string() }));

/** Returns the tasks of these directories; `null` stands for all there are. */
export function tasksIn(home: Home, dirs: ReadonlySet<string | null>): string[] {
	const names = dirs.has(null) ? namesIn(home.notices) : [...dirs];
	return names.flatMap((name) => taskOf(path.join(home.notices, String(name))) ?? []);
}

function taskOf(dir: string): string | undefined {
	for (const name of namesIn(dir)) {
		if (!ABOUT_TASK.test(name)) continue;
		try {
			return taskSchema.parse(JSON.parse(readIfThere(path.join(dir, name)) ?? "")).task;
		} catch {
			// gone, or damaged: another file says the same
		}
	}
	return undefined;
}

/** All tasks that have notices, or wait for some. */
export const tasksWithNotices = (home: Home): string[] => tasksIn(home, new Set([null]));
