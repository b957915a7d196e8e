/** The facts about a place that other rooms need. docs/sandbox.md. */
import type { SandboxEntry } from "../keeper/index.js";
import type { Files } from "./files/index.js";
import type { Machine } from "./machine.js";

export interface Place {
	/** Display name: see address.ts. */
	readonly name: string;
	/** Where a new shell starts. */
	readonly cwd: string;
	readonly machine: Machine;
	/** The sandbox that commands enter; without it they run in the place directly. */
	readonly sandbox?: Sandbox;
	/** How many of this machine's files the place has, under the same names: a sandbox has a part of them. */
	readonly sees: "all" | "part" | "nothing";
	readonly files: Files;
	/** Returns a path of the place as one that this program can examine. */
	at(file: string): string;
	/** Returns the absolute directory for a process. Throws if it visibly does not exist. Default: where the first shell starts. */
	directory(asked?: string): string;
	/** Returns where to start a shell for the directory `wanted`. Default: where the first shell starts. */
	birthplace(wanted?: string): string;
}

/** The sandbox of a task, shared by all its commands. */
export interface Sandbox {
	/** The process that keeps it alive. */
	readonly id: string;
	/** Paths inside of our scripts, one directory per room, and of the shared parts of process directories. */
	readonly scripts: string;
	readonly shared: string;
	/** The same shared parts, outside. A program inside can replace anything in it: never read it from outside. */
	readonly sharedHere: string;
	/** Variables that are meaningless inside. */
	readonly without: readonly string[];
	/** The sandbox has a network namespace of its own. */
	readonly ownNetwork: boolean;
	/** A process inside, to examine what it sees. */
	readonly pid: number;
	entry(id: string): SandboxEntry;
	/** Shares files of a process directory with the sandbox, by a hard link. */
	share(id: string, dir: string, names: readonly string[]): void;
}
