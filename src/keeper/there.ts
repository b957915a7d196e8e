/**
 * What was last seen of a process whose keeper is on a remote machine. Its directory here is a replica: log and records are copied
 * into it, and this file says what only the kernel there knows. docs/places.md.
 */
import path from "node:path";
import { type Identity, readIfThere, writeWhole } from "../base/index.js";

/** What only the kernel there knows. */
export interface Vitals {
	/** Which of its processes were alive, and which were gone, at that look: `PID START` each. One in neither list may have started later. */
	readonly alive: readonly string[];
	readonly dead: readonly string[];
	/** All that was printed before the end is in the log. */
	readonly drained: boolean;
	/** Of a shell: it waits for commands. */
	readonly idle: boolean;
	/** Of the command itself: its children, and a mark that changes whenever it has waited for one. */
	readonly children: readonly number[];
	readonly reaped: string;
}

export const NOBODY: Vitals = { alive: [], dead: [], drained: false, idle: false, children: [], reaped: "" };

export interface There extends Vitals {
	/** When it was seen, by our clock; 0: never yet. */
	readonly at: number;
	/** Which start of the machine it was seen in; "" where that cannot be told. */
	readonly boot: string;
	/** Why its end can never be known. */
	readonly lost?: string;
	/** Why there is no newer word of it: its machine cannot be reached. All else is as it was `at` that time. */
	readonly unreachable?: string;
}

export function readThere(dir: string): There | undefined {
	const text = readIfThere(path.join(dir, "there"));
	return text ? { ...NOBODY, ...(JSON.parse(text) as There) } : undefined; // only ever written whole
}

export const writeThere = (dir: string, there: There): void => writeWhole(path.join(dir, "there"), `${JSON.stringify(there)}\n`);

/** However long ago that was seen. */
export const isDead = (there: There | undefined, { pid, start }: Identity): boolean => there?.dead.includes(`${pid} ${start}`) ?? false;

/** Returns the sentence that goes with the state of a remote process that cannot be refreshed. */
export const asLastSeen = (place: string, reason: string, at: number | undefined): string =>
	`Cannot reach ${place} (${reason.replace(`cannot reach ${place}: `, "")}). Showing its last known state, from ${at ? new Date(at).toISOString() : "when it was started"}.`;
