/**
 * The last known state of a process whose keeper is on a remote machine. Its local directory is a replica: log and records are copied into it, and
 * this file holds the facts that only the remote kernel knows. docs/places.md.
 */
import { randomBytes } from "node:crypto";
import fs from "node:fs";
import path from "node:path";
import { errno, type Identity, readIfThere, writeWhole } from "../base/index.js";

/** Longer texts, of shells with very many children, replace the file. */
const IN_PLACE = 1024;
const PATIENCE = 100; // looks, a millisecond apart: a writer may be held up in the middle of its write

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
	for (let looks = 1; ; looks++) {
		const text = readIfThere(path.join(dir, "there"));
		if (!text) return undefined;
		const state = parsed(text, looks === PATIENCE);
		if (state) return { ...NO_VITALS, ...state };
		Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1);
	}
}

/** Returns undefined for a text that is just being written: the mark at its beginning is not yet, or no longer, that at its end. */
function parsed(text: string, final: boolean): RemoteState | undefined {
	try {
		const { mark, end, ...state } = JSON.parse(text.slice(0, text.indexOf("\n"))) as RemoteState & { mark?: string; end?: string };
		if (mark === end || final) return state;
	} catch (error) {
		if (final) throw error;
	}
	return undefined;
}

/**
 * Writes in place, with one call. A new file under the old name would be a new inode each time, several for a command; on ext4 each costs more the more
 * files were removed in the last minutes.
 */
export function writeRemoteState(dir: string, there: RemoteState): void {
	const file = path.join(dir, "there");
	const mark = randomBytes(4).toString("hex");
	const text = Buffer.from(`${JSON.stringify({ mark, ...there, end: mark })}\n`.padEnd(IN_PLACE));
	if (text.length !== IN_PLACE || !overwritten(file, text)) writeWhole(file, text.toString());
}

function overwritten(file: string, bytes: Buffer): boolean {
	let fd: number;
	try {
		fd = fs.openSync(file, fs.constants.O_WRONLY);
	} catch (error) {
		if (errno(error) === "ENOENT") return false;
		throw error;
	}
	try {
		return fs.writeSync(fd, bytes, 0, bytes.length, 0) === bytes.length;
	} finally {
		fs.closeSync(fd);
	}
}

/** Returns true if the process was ever seen dead, however long ago. */
export const isDead = (there: RemoteState | undefined, { pid, start }: Identity): boolean => there?.dead.includes(`${pid} ${start}`) ?? false;

/** Returns the sentence that goes with the state of a remote process that cannot be refreshed. */
export const asLastSeen = (place: string, reason: string, at: number | undefined): string =>
	`Cannot reach ${place} (${reason.replace(`cannot reach ${place}: `, "")}). Showing its last known state, from ${at ? new Date(at).toISOString() : "when it was started"}.`;
