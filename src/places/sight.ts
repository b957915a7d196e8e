/** What can be seen of a process that has no end on record: on the local machine in /proc, of a remote one in its replica, as it was last seen. */
import fs from "node:fs";
import path from "node:path";
import type { Identity } from "../base/index.js";
import { type Parts, readState, readThere, type Spec, type Within } from "../keeper/index.js";
import { isDrainedHere, localSight } from "./local/sight.js";
import { remoteSight } from "./remote/sight.js";

export interface Sight {
	/** Returns what is known without a look at its parts. */
	absence(): Absence | undefined;
	/** Whether a part of its keeper, or of its shell's, lives. */
	lives(part: Identity): boolean;
	commandLives(command: Identity): boolean;
	/** Cheap, for counting. False can also mean that it takes a closer look. */
	plainlyLives(command: Identity): boolean;
	/** The command's shell will never read it. */
	neverSent(within: Within): boolean;
	/** The shell ended before it read this command. */
	neverTaken(within: Within): boolean;
	/** Continues a part of its keeper that something else has stopped. */
	goOn(part: Identity): void;
	/** The keeper may still introduce itself, although another part of it has ended. */
	mayCome(parts: Parts): boolean;
	/** Why its machine cannot be reached, and when it was seen last (0: never): all else is of that time. */
	readonly stale: { readonly reason: string; readonly at: number } | undefined;
	/** Whether it has children. */
	hasChildren(): boolean;
}

export type Absence =
	| { readonly kind: "lost"; readonly reason: string }
	| { readonly kind: "elsewhere"; readonly host: string }
	/** Nothing has been seen of it yet. */
	| { readonly kind: "unseen" };

export const sightOf = (dir: string, spec: Spec): Sight => (spec.box === undefined ? localSight(dir, spec) : remoteSight(dir, spec));

/**
 * After the exit: whether everything that was printed before it has reached the log. Yes once the collector has closed, or sleeps
 * in its read of an empty pipe that a grandchild still holds, or is gone.
 */
export function isDrained(dir: string): boolean {
	if (readState(dir).kind === "closed" || !fs.existsSync(dir)) return true;
	return fs.existsSync(path.join(dir, "there")) ? (readThere(dir)?.drained ?? false) : isDrainedHere(dir);
}
