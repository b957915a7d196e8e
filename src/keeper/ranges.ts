/**
 * The commands that a slot has served: the file `ranges` in its directory, one line per command, in order. The log of a slot continues from one
 * command to the next; a range says which part belongs to which command. Together these files are the transcripts of tasks. docs/shell.md
 */
import fs from "node:fs";
import path from "node:path";
import { type Home, namesIn, readIfThere, taskKey } from "../base/index.js";
import { procDir, segmentName, segmentStarts } from "./layout.js";

const FILE = "ranges";
export const HOUR_MS = 3_600_000;

/** A foreground command that has ended and left no process behind. */
export interface Range {
	readonly id: string;
	readonly task: string;
	/** The caller's id of the call. */
	readonly call?: string;
	/** Cut after COMMAND_SHOWN characters. */
	readonly command: string;
	readonly cwd: string;
	/** The command's part of the log, in offsets of the directory. */
	readonly from: number;
	readonly to: number;
	/** `null`: no program saw how it ended. */
	readonly code: number | null;
	/** Absent if the command ended by itself. */
	readonly status?: "killed" | "lost";
	readonly startedAt: number;
	readonly endedAt: number;
}

/** Opens the file for `appendRange`, and creates it if necessary. */
export const openRanges = (dir: string): number => fs.openSync(path.join(dir, FILE), "a", 0o600);

/** Appends a range in one write. Returns the number of bytes. */
export const appendRange = (fd: number, range: Range): number => fs.writeSync(fd, `${JSON.stringify(range)}\n`);

/** Returns the commands that a directory has served, without lines cut by a full disk. */
export function readRanges(dir: string): Range[] {
	const lines = (readIfThere(path.join(dir, FILE)) ?? "").split("\n");
	return lines.flatMap((line) => (isRangeLine(line) ? parseLine(line) : []));
}

/** Returns the last command that a directory has served under an id. */
export function findRange(dir: string, id: string): Range | undefined {
	const text = readIfThere(path.join(dir, FILE)) ?? "";
	const found = text
		.slice(0, text.lastIndexOf("\n") + 1)
		.split("\n")
		.findLast((line) => line.startsWith(`{"id":"${id}"`));
	return found === undefined ? undefined : parseLine(found)[0];
}

const isRangeLine = (line: string): boolean => line.startsWith('{"id":"');

function parseLine(line: string): Range[] {
	try {
		return [JSON.parse(line)];
	} catch {
		return []; // cut by a full disk
	}
}

/** Files that a retired directory keeps. */
const KEPT = [FILE, "spec.json", "meta", "state", "exit", "gaps"];

/**
 * Makes a slot without writers a part of the transcript: removes the files that only a running command needs, and turns its claim into a ticket among
 * the ended ones, by which it is pruned like them. Returns false, and does nothing, if it has served no command.
 */
export function retire(home: Home, id: string, claim: string): boolean {
	const dir = procDir(home, id);
	const last = readRanges(dir).at(-1);
	if (!last) return false;
	for (const name of namesIn(dir)) if (!KEPT.includes(name) && !name.startsWith("out.")) fs.rmSync(path.join(dir, name), { recursive: true, force: true });
	let bytes = 0;
	for (const start of segmentStarts(dir)) {
		const file = path.join(dir, segmentName(start));
		const { size } = fs.statSync(file);
		fs.truncateSync(file, size); // frees the space reserved after its end
		bytes += size;
	}
	const hour = path.join(home.ended, String(Math.floor(last.endedAt / HOUR_MS)));
	fs.mkdirSync(hour, { recursive: true, mode: 0o700 });
	fs.renameSync(claim, path.join(hour, `${Math.floor(last.endedAt)}.${id}.${taskKey(last.task)}.${bytes}.ranges`));
	return true;
}
