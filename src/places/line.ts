/** The line to one shell: commands are written to it, and what the shell does with them is looked up. */
import type { Identity } from "../base/index.js";
import type { Spec } from "../keeper/index.js";

/** A file of a process directory that has to be there before a shell is told something. */
export interface Placed {
	readonly id: string;
	readonly name: string;
	readonly content: string;
}

/** Where a shell is to be before it runs something. */
export interface From {
	/** The shell, and the directory that it should be in. */
	readonly pid: number;
	readonly cwd: string;
	/** The line that has it go to the directory that is in `shell/go`. */
	readonly go: string;
}

/** What tells a line from all others, and the files that it is about: a remote shell may have to be sent it again. */
export interface Once {
	readonly name: string;
	placed(): readonly Placed[];
	/** The life of the machine in which its files were made; in another one they are gone, which is an error with the code ENDED, and nothing ran. */
	readonly life?: string;
	/** A machine that has stopped is not started for it. */
	readonly farewell?: boolean;
	readonly from?: From;
}

/** The shell at the other end. */
export interface LineOf {
	readonly id: string;
	readonly dir: string;
	readonly spec: Spec;
	readonly bash: Identity;
	/** Returns what the shell sees under a path, as a path of this machine. */
	at(file: string): string;
}

export interface ShellLine {
	/** In one piece, smaller than a pipe takes: all of it arrives, or nothing. False: no shell reads there any more. */
	write(text: string, once: Once): boolean;
	/** The text of a plain command may be the line itself; else it is in a file that the line is about. */
	readonly takesText: boolean;
	/** The first line of `begun`. */
	begun(): string;
	/** Whether the command of this name may not have arrived yet, for all that is known. */
	isUnderWay(name: string): boolean;
	children(): number[];
	/** A mark that changes whenever the shell has waited for a child. */
	reaped(): string;
	/** The shell has read everything that was sent. */
	isIdle(): boolean;
	lives(): boolean;
	/** The machine has lost it: what it did cannot be looked up any more. */
	isLost(): boolean;
	/** Resolves when what was written last has been delivered, or has failed. */
	delivery(): Promise<unknown>;
	/** Why what was written last could not be delivered. */
	readonly failed: Error | undefined;
	/** Whether anything can be written there: files on a remote machine may have been removed, which does not end the shell. */
	isThere(): Promise<boolean>;
	/** Returns the directory that the shell is in, after it has `said` where. */
	directory(said: string): string;
	/** Returns where the shell has to go before the next command, if its directory can be seen to be gone. */
	refuge(cwd: string): string | undefined;
	/** Returns where the shell went before it took the last line, if its directory was found to be gone then. */
	moved(): Promise<string | undefined>;
	/** Returns the directory itself, or, if it can be seen to be gone, the nearest one above it that is there. */
	existing(dir: string): string;
	/** Two names of one directory. */
	isSame(one: string, other: string): boolean;
	close(): void;
}
