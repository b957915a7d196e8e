/**
 * Stores two offsets per process: how far the task has polled it, and how far any call has shown its output. Both are files in the process's
 * directory, so they outlive every program and are removed with the process.
 */
import path from "node:path";
import { readIfThere, writeWhole } from "../base/index.js";
import type { Process } from "../process/index.js";
import type { Ask } from "./ask.js";

type Cursor = "polled" | "shown";

/** Returns 0 before the first poll, and if the file holds no offset. */
export function readCursor(process: Process, cursor: Cursor = "polled"): number {
	const offset = Number(readIfThere(fileOf(process, cursor)) ?? 0);
	return Number.isSafeInteger(offset) && offset >= 0 ? offset : 0;
}

/** Records that the task has seen the output up to this offset. If the write fails, a wait for a pattern finds output that was shown before. */
export function noteShown(process: Process, offset: number): void {
	if (offset > readCursor(process, "shown")) writeCursor(process, offset, "shown");
}

/** Returns the cursor file. An ended command has a file of its own, since its slot now serves other commands. */
const fileOf = ({ dir, id, spec }: Process, cursor: Cursor): string => path.join(dir, spec.past ? `${cursor}.${id}` : cursor);

/** Returns false if the write failed: the next poll then repeats this output, and nothing is lost. */
export function writeCursor(process: Process, offset: number, cursor: Cursor = "polled"): boolean {
	try {
		writeWhole(fileOf(process, cursor), String(offset));
		return true;
	} catch {
		return false; // disk full, or the directory was pruned meanwhile
	}
}

/** Returns the requested byte_offset. An offset beyond the log becomes the end of the log, and a note says so. */
export function withinLog(ask: Ask, process: Process, asked: number | undefined): number | undefined {
	const { end } = process.log.bounds();
	if (asked === undefined || asked <= end) return asked;
	ask.notes.push(`byte_offset ${asked} is beyond the log, which ends at byte ${end}; that was used instead.`);
	return end;
}
