/** Where commands run: what the rooms below have to know of a place. docs/sandbox.md. */
import type { SandboxEntry } from "../keeper/index.js";
import type { Files } from "./files/index.js";
import type { Machine } from "./machine.js";

export interface Place {
	/** As it is shown: see address.ts. */
	readonly name: string;
	/** Where a new shell starts. */
	readonly cwd: string;
	readonly machine: Machine;
	/** What commands go through; without it they are there already. */
	readonly sandbox?: Sandbox;
	/** How much of this machine's files is there, by the same names: a sandbox has a part of them. */
	readonly sees: "all" | "part" | "nothing";
	readonly files: Files;
	/** Returns a path there as one that can be looked at from here. */
	at(file: string): string;
	/** Returns the directory for a process, as an absolute path. Throws if it can be seen that there is none. Default: where the first shell starts. */
	directory(asked?: string): string;
	/** Returns where a shell can be started that is to be in `wanted`. Default: where the first shell starts. */
	birthplace(wanted?: string): string;
}

/** The sandbox of a task, with all that its commands share. */
export interface Sandbox {
	/** The process that keeps it. */
	readonly id: string;
	/** Where in there our scripts are, a directory for each room, and the shared parts of process directories. */
	readonly scripts: string;
	readonly shared: string;
	/** The same shared parts, out here. A program in there can put anything in the place of what is there: not to be read from here. */
	readonly sharedHere: string;
	/** Variables that mean nothing in there. */
	readonly without: readonly string[];
	/** The sandbox has a network namespace of its own. */
	readonly ownNetwork: boolean;
	/** A process in there, to look at what it sees. */
	readonly pid: number;
	entry(id: string): SandboxEntry;
	/** Give a sandbox some files of a process directory, by a second name. */
	share(id: string, dir: string, names: readonly string[]): void;
}
