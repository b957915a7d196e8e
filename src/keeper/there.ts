/**
 * What was last seen of a process whose keeper is on another machine. Its directory here is a replica: log and records are copied
 * into it, and this file says what only the kernel there knows. docs/places.md.
 */
import path from "node:path";
import { readIfThere, writeWhole } from "../base/files.js";
import type { Identity } from "../base/proc.js";

/** What only the kernel there knows. */
export interface Vitals {
	/** Who of its parts was alive, and who was not any more: `PID START` each. Of one in neither nothing is known: this may have been seen before he came. */
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
	/** Why nobody will ever see how it ended. */
	readonly lost?: string;
	/** Why there is no newer word of it: its machine cannot be reached. All else is as it was `at` that time. */
	readonly unreachable?: string;
}

export const isFar = (spec: { readonly box?: string }): boolean => spec.box !== undefined;

export function readThere(dir: string): There | undefined {
	const text = readIfThere(path.join(dir, "there"));
	return text ? { ...NOBODY, ...(JSON.parse(text) as There) } : undefined; // only ever written whole
}

export const writeThere = (dir: string, there: There): void => writeWhole(path.join(dir, "there"), `${JSON.stringify(there)}\n`);

/** However long ago that was seen. */
export const isDead = (there: There | undefined, { pid, start }: Identity): boolean => there?.dead.includes(`${pid} ${start}`) ?? false;

/** For whoever is told how such a process stands. */
export const asLastSeen = (place: string, reason: string, at: number | undefined): string =>
	`${place} cannot be reached (${reason.replace(`cannot reach ${place}: `, "")}); this is how it was ${at ? `at ${new Date(at).toISOString()}` : "when it was started"}.`;
