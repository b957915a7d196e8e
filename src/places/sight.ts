/** Observes a process without a recorded end: a local one in /proc, a remote one in its replica, in its last known state. */
import fs from "node:fs";
import path from "node:path";
import type { Identity } from "../base/index.js";
import { type Parts, readRemoteState, readState, type Spec, type Within } from "../keeper/index.js";
import { isDrainedHere, localSight } from "./local/sight.js";
import { remoteSight } from "./remote/sight.js";

export interface Sight {
	/** Returns what is known without a look at its parts. */
	absence(): Absence | undefined;
	/** Returns whether a part of its keeper, or of its shell's keeper, lives. */
	lives(part: Identity): boolean;
	commandLives(command: Identity): boolean;
	/** A cheap check, for counting. False can also mean that a closer look is needed. */
	plainlyLives(command: Identity): boolean;
	/** Returns true if the command's shell will never read it. */
	neverSent(within: Within): boolean;
	/** Returns true if the shell ended before it read this command. */
	neverTaken(within: Within): boolean;
	/** Continues a part of its keeper that another program has stopped. */
	goOn(part: Identity): void;
	/** Returns true if the keeper may still record itself, although another part of it has ended. */
	mayCome(parts: Parts): boolean;
	/** Why its machine is unreachable, and when it was last seen (0: never): everything else is of that time. */
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
 * After the exit: returns whether all output from before it has reached the log. True once the collector has closed, or sleeps
 * in its read of an empty pipe that a grandchild still holds, or is gone.
 */
export function isDrained(dir: string): boolean {
	if (readState(dir).kind === "closed" || !fs.existsSync(dir)) return true;
	return fs.existsSync(path.join(dir, "there")) ? (readRemoteState(dir)?.drained ?? false) : isDrainedHere(dir);
}
