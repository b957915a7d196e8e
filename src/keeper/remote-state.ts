/**
 * The last known state of a process whose keeper is on a remote machine. Its local directory is a replica: log and records are copied into it, and
 * this file holds the facts that only the remote kernel knows. docs/places.md.
 */
import path from "node:path";
import { type Identity, readIfThere, writeWhole } from "../base/index.js";

/** Facts that only the remote kernel knows. */
export interface Vitals {
	/** Which of its processes were alive, and which were gone, at that look: `PID START` each. One in neither list may have started later. */
	readonly alive: readonly string[];
	readonly dead: readonly string[];
	/** The log has everything that was printed before the end. */
	readonly drained: boolean;
	/** For a shell: it waits for commands. */
	readonly idle: boolean;
	/** For the command itself: its children, and a mark that changes whenever it has waited for one. */
	readonly children: readonly number[];
	readonly reaped: string;
}

export const NO_VITALS: Vitals = { alive: [], dead: [], drained: false, idle: false, children: [], reaped: "" };

export interface RemoteState extends Vitals {
	/** When it was seen, by the local clock; 0: never. */
	readonly at: number;
	/** The boot of the machine in which it was seen; "" if unknown. */
	readonly boot: string;
	/** Why its end can never be known. */
	readonly lost?: string;
	/** Why there is no newer state: its machine is unreachable. Everything else is as of `at`. */
	readonly unreachable?: string;
}

export function readRemoteState(dir: string): RemoteState | undefined {
	const text = readIfThere(path.join(dir, "there"));
	return text ? { ...NO_VITALS, ...(JSON.parse(text) as RemoteState) } : undefined; // always written atomically
}

export const writeRemoteState = (dir: string, there: RemoteState): void => writeWhole(path.join(dir, "there"), `${JSON.stringify(there)}\n`);

/** Returns true if the process was ever seen dead, however long ago. */
export const isDead = (there: RemoteState | undefined, { pid, start }: Identity): boolean => there?.dead.includes(`${pid} ${start}`) ?? false;

/** Returns the sentence that goes with the state of a remote process that cannot be refreshed. */
export const asLastSeen = (place: string, reason: string, at: number | undefined): string =>
	`Cannot reach ${place} (${reason.replace(`cannot reach ${place}: `, "")}). Showing its last known state, from ${at ? new Date(at).toISOString() : "when it was started"}.`;
