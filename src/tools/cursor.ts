/**
 * How far a task has polled a process, and how far it was shown its output by whatever call, in the process's own directory: both
 * outlive every program, and go when the process does.
 */
import path from "node:path";
import { readIfThere, writeWhole } from "../base/index.js";
import type { Process } from "../process/index.js";
import type { Ask } from "./ask.js";

type Cursor = "polled" | "shown";

/** 0 before the first poll, and when what is there is no offset. */
export function readCursor(process: Process, cursor: Cursor = "polled"): number {
	const offset = Number(readIfThere(fileOf(process, cursor)) ?? 0);
	return Number.isSafeInteger(offset) && offset >= 0 ? offset : 0;
}

/** The task has seen the output up to here. If that cannot be written, a wait for a pattern finds what was seen before. */
export function noteShown(process: Process, offset: number): void {
	if (offset > readCursor(process, "shown")) writeCursor(process, offset, "shown");
}

/** The slot of a command that has ended serves others, whose cursors are not this one's. */
const fileOf = ({ dir, id, spec }: Process, cursor: Cursor): string => path.join(dir, spec.past ? `${cursor}.${id}` : cursor);

/** False when it could not be written: the next poll then repeats this one's output, and loses nothing. */
export function writeCursor(process: Process, offset: number, cursor: Cursor = "polled"): boolean {
	try {
		writeWhole(fileOf(process, cursor), String(offset));
		return true;
	} catch {
		return false; // a full disk, or the directory was pruned meanwhile
	}
}

/** A byte_offset as it was asked for, or the end of the log if that comes before it, which is said. */
export function withinLog(ask: Ask, process: Process, asked: number | undefined): number | undefined {
	const { end } = process.log.bounds();
	if (asked === undefined || asked <= end) return asked;
	ask.notes.push(`byte_offset ${asked} is beyond the log, which ends at byte ${end}; that was used instead.`);
	return end;
}
