/** A simple command that would run, wherever in the text it was found. */
import type { Word } from "./word.js";

export interface FoundCommand {
	/** The names of the program, without a directory; also that of the program behind a link, or behind a copy made in the same text. Empty without a program. */
	readonly names: readonly string[];
	readonly args: readonly Word[];
	/** Files it is redirected to, and from. */
	readonly writes: readonly Word[];
	readonly reads: readonly Word[];
	/** Its stdin, if that is known; else null. */
	readonly input: string | null;
	/** Its output, if that is the content of files that the same text has written; else null. */
	readonly prints: string | null;
	/** Commands whose output it is given: earlier in its pipe, or substituted into its words. */
	readonly upstream: readonly FoundCommand[];
	readonly cwds: readonly (string | null)[];
	/** Links that earlier commands of the same text have made: on the disk there are none yet. */
	readonly links: readonly SymbolicLink[];
	/** The command runs on another machine or in a container: its paths are not ours. */
	readonly remote: boolean;
	readonly trait: Trait | null;
	/** Code of another language it is told to run (`python -c`). */
	readonly code: string | null;
	readonly start: number;
	readonly end: number;
}

export interface SymbolicLink {
	/** Its path, with existing links resolved. */
	readonly at: string;
	/** The target; null if that is known only at run time. */
	readonly to: string | null;
}

/** A property of a command that words and flags do not express. */
export type Trait =
	| "unreadable" // the grammar cannot read it, or it is over a limit
	| "unknown-program" // which program runs is known only when it runs
	| "unknown-script" // a shell or interpreter is given text that is known only when it runs
	| "fork-bomb";
