/** Where commands run: what the rooms below have to know of a place. docs/sandbox.md. */
import { ownDirectory } from "../base/files.js";
import type { Entry } from "../keeper/plan.js";
import type { Box } from "./far/box.js";

export interface Place {
	/** As it is shown: see address.ts. */
	readonly name: string;
	/** Where a new shell starts. */
	readonly cwd: string;
	/** A path there, as it can be looked at from here. */
	at(file: string): string;
	/** What commands go through; without it they are there already. */
	readonly sandbox?: Sandbox;
	/** It is another machine: nothing there can be looked at from here but through this. */
	readonly box?: Box;
}

/** One for a task, with all that its commands share. */
export interface Sandbox {
	/** The process that keeps it. */
	readonly id: string;
	/** Where in there our scripts are, a directory for each room, and the shared parts of process directories. */
	readonly scripts: string;
	readonly shared: string;
	/** The same shared parts, out here. Whoever is in there can put anything in the place of what is there: not to be read from here. */
	readonly sharedHere: string;
	/** Variables that mean nothing in there. */
	readonly without: readonly string[];
	/** It has a network of its own, with nobody else on it. */
	readonly ownNetwork: boolean;
	/** Somebody who is in there, to look at what he sees. */
	readonly pid: number;
	entry(id: string): Entry;
	/** Give a sandbox some files of a process directory, by a second name. */
	share(id: string, dir: string, names: readonly string[]): void;
}

export const local = (directory = ownDirectory()): Place => ({ name: "local", cwd: directory, at: (file) => file });
