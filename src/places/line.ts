/** The line to one shell: writes commands to it, and looks up what the shell does with them. */
import type { Identity } from "../base/index.js";
import type { Spec } from "../keeper/index.js";

/** A file of a process directory that must exist before a shell is told something. */
export interface Placed {
	readonly id: string;
	readonly name: string;
	readonly content: string;
}

/** The directory that a shell must be in before it runs something. */
export interface From {
	/** The shell, and its expected directory. */
	readonly pid: number;
	readonly cwd: string;
	/** The line that sends the shell to the directory in `shell/go`. */
	readonly go: string;
}

/** The unique name of a line, and the files it refers to: a remote shell may have to be sent it again. */
export interface Once {
	readonly name: string;
	placed(): readonly Placed[];
	/** The life of the machine in which its files were made. In another life they are gone: the call throws ENDED, and nothing ran. */
	readonly life?: string;
	/** Does not start a stopped machine. */
	readonly farewell?: boolean;
	readonly from?: From;
}

/** The shell at the other end. */
export interface LineOf {
	readonly id: string;
	readonly dir: string;
	readonly spec: Spec;
	readonly bash: Identity;
	/** Returns a path of the shell as a path of this machine. */
	at(file: string): string;
}

export interface ShellLine {
	/** Writes in one piece, smaller than a pipe takes: all of it arrives, or nothing. Returns false if no shell reads the line any more. */
	write(text: string, once: Once): boolean;
	/** The text of a plain command may be the line itself; else it is in a file that the line names. */
	readonly takesText: boolean;
	/** Returns the first line of `begun`. */
	begun(): string;
	/** Returns whether the command of this name may still be in transit. */
	isUnderWay(name: string): boolean;
	children(): number[];
	/** Returns a mark that changes whenever the shell has waited for a child. */
	reaped(): string;
	/** Returns true if the shell has read everything that was sent. */
	isIdle(): boolean;
	lives(): boolean;
	/** Returns true if the machine has lost the shell: its actions cannot be looked up any more. */
	isLost(): boolean;
	/** Resolves when the last write has been delivered, or has failed. */
	delivery(): Promise<unknown>;
	/** Why the last write could not be delivered. */
	readonly failed: Error | undefined;
	/** Returns whether the line can be written: files on a remote machine may have been removed, which does not end the shell. */
	isThere(): Promise<boolean>;
	/** Returns the directory of the shell, given the directory that it `said`. */
	directory(said: string): string;
	/** Returns where the shell has to go before the next command, if its directory is visibly gone. */
	refuge(cwd: string): string | undefined;
	/** Returns where the shell went before it took the last line, if its directory was gone then. */
	moved(): Promise<string | undefined>;
	/** Returns the directory itself, or, if it is visibly gone, its nearest existing parent. */
	existing(dir: string): string;
	/** Returns true if both names lead to one directory. */
	isSame(one: string, other: string): boolean;
	close(): void;
}
