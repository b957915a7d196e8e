/** Failing targets of `notify`: one file `notify/NAME.json` each, written by the server that sends, read by doctor. */
import path from "node:path";
import * as z from "zod";
import { ensureDir, namesIn, readIfThere, unlinkIfThere, writeWhole } from "../base/index.js";

const stateSchema = z.lazy(() => z.object({ name: z.string(), error: z.string(), at: z.string(), lost: z.number() }));

type FailingTarget = z.infer<typeof stateSchema>;

const dirOf = (root: string): string => path.join(root, "notify");

/** Records the state of a target. Undefined: it works (again). */
export function recordTarget(root: string, name: string, failing: FailingTarget | undefined): void {
	const file = path.join(dirOf(root), `${name}.json`);
	if (!failing) {
		unlinkIfThere(file);
		return;
	}
	ensureDir(dirOf(root));
	writeWhole(file, JSON.stringify(failing));
}

/** Removes the records of an earlier server. */
export function clearTargets(root: string): void {
	for (const name of namesIn(dirOf(root))) if (name.endsWith(".json")) unlinkIfThere(path.join(dirOf(root), name));
}

export function failingTargets(root: string): FailingTarget[] {
	return namesIn(dirOf(root))
		.filter((name) => /^\w.*\.json$/.test(name)) // skips files that are still being written
		.flatMap((name) => {
			try {
				const result = stateSchema.safeParse(JSON.parse(readIfThere(path.join(dirOf(root), name)) ?? "null"));
				return result.success ? [result.data] : [];
			} catch {
				return []; // a foreign file
			}
		});
}
