/** A simple command that would run, wherever in the text it was found. */
import type { Word } from "./word.js";

export interface FoundCommand {
	/** What the program is called, without its directory; also what a link to it, or a copy in the same text, really is. Empty when there is none. */
	readonly names: readonly string[];
	readonly args: readonly Word[];
	/** Files it is redirected to, and from. */
	readonly writes: readonly Word[];
	readonly reads: readonly Word[];
	/** What it reads on stdin, if that is known; null for anything else. */
	readonly input: string | null;
	/** What it prints of files that the same text has written; null for anything else. */
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
	/** Where it is, through the links that are there already. */
	readonly at: string;
	/** Where it leads; null when that is known only when it runs. */
	readonly to: string | null;
}

/** What cannot be said in words and flags. */
export type Trait =
	| "unreadable" // the grammar cannot read it, or it is over a limit
	| "unknown-program" // which program runs is known only when it runs
	| "unknown-script" // a shell or interpreter is given text that is known only when it runs
	| "fork-bomb";
