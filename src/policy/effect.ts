/** An effect of a command on a file, and the vocabulary for tables of programs. */
import type { FoundCommand } from "./found.js";
import type { Word } from "./word.js";

export type Deed =
	| "looks" // at names, sizes, dates
	| "uses" // a key, without showing or changing it
	| "makes" // an empty file or directory
	| "reads"
	| "writes" // adds to it, changes it or puts something in its place
	| "unpacks" // writes files below it whose names only an archive knows
	| "empties"
	| "moves" // away from there
	| "deletes";

export interface Effect {
	readonly deed: Deed;
	readonly file: Word;
	/** With everything below. */
	readonly tree: boolean;
	/** Whether an existing file is replaced (`>`) or changed in place (`sed -i`). */
	readonly replaces: "nothing" | "perhaps" | "surely";
}

/** Returns the effects of a command by one program. */
export type EffectsOf = (command: FoundCommand) => Effect[];

export const all = (deed: Deed, list: readonly (Word | undefined)[], tree = false, replaces: Effect["replaces"] = "nothing"): Effect[] =>
	list.flatMap((file) => (file ? [{ deed, file, tree, replaces }] : []));

/** Changed where they are. */
export const inPlace = (files: readonly Word[]): Effect[] => all("writes", files, false, "surely");

/** Written anew, over what may be there. */
export const anew = (files: readonly (Word | undefined)[]): Effect[] => all("writes", files, false, "perhaps");

export const table = (names: readonly string[], program: EffectsOf): Record<string, EffectsOf> => Object.fromEntries(names.map((name) => [name, program]));
