/** The process directory: its file names and records. docs/keeper.md is the specification; this file reads them. */
import fs from "node:fs";
import path from "node:path";
import { childrenOf, errno, type Home, type Identity, isAlive, linkOf, namesIn, ownerOf, readIfThere, readStat } from "../base/index.js";

export const RECORD_BYTES = 64;
export const BLANK_RECORD = `${" ".repeat(RECORD_BYTES - 1)}\n`;

/** Returns the directory of a process. For a shell's command, returns that of its slot, which may serve another command by now. */
export function procDir(home: Home, id: string): string {
	const dir = path.join(home.procs, id.charAt(5), id);
	const owner = ownerOf(id);
	return owner === id || fs.existsSync(dir) ? dir : path.join(home.procs, owner.charAt(5), owner);
}

/** The processes in `meta`. `child` is the command of a process without a terminal, and the relay of one with a terminal. */
export interface Parts {
	readonly keeper?: Identity;
	readonly collector?: Identity;
	readonly child?: Identity;
	readonly terminal?: Identity;
	readonly command?: Identity;
	/** In a sandbox, the same as `child`: the processes that it starts have other pids inside. */
	readonly entered?: Identity;
	/** In a sandbox: the UTS namespace of this process alone, and the PID namespace of its sandbox. The kernel reuses both numbers once they are empty. */
	readonly namespace?: string;
}

export function readParts(dir: string): Parts {
	const parts: Record<string, Identity> & { namespace?: never } = {};
	let namespace: string | undefined;
	for (const line of (readIfThere(path.join(dir, "meta")) ?? "").split("\n")) {
		const [role, pid, start] = line.split(" ");
		if (role === "namespace") namespace = `${pid} ${start}`;
		else if (role && pid && start) parts[role] = { pid: Number(pid), start };
	}
	if (parts.entered && !parts.command) return { ...parts, ...partsInside(dir, parts.entered) };
	return namespace === undefined ? parts : { ...parts, namespace };
}

/** Finds the processes in a sandbox. They cannot know their outer pids, nor write to `meta`, but each is the only child of the one before. */
function partsInside(dir: string, entered: Identity): Parts {
	const only = ({ pid }: Identity): Identity | undefined => {
		const [child] = childrenOf(pid);
		const stat = child === undefined ? undefined : readStat(child);
		return stat && { pid: stat.pid, start: stat.start };
	};
	if (!isAlive(entered)) return {};
	const first = only(entered);
	if (!first || !fs.existsSync(path.join(dir, "terminal"))) return first ? { command: first } : {};
	const command = only(first);
	return { terminal: first, ...(command ? { command } : {}) };
}

/** Records the processes inside, for programs that look after one of them has ended. Returns false while not all of them exist. */
export function recordParts(dir: string): boolean {
	const { entered, terminal, command } = readParts(dir);
	if (!entered) return true;
	if (!command) return false;
	const meta = path.join(dir, "meta");
	if (/^command /m.test(readIfThere(meta) ?? "")) return true;
	const line = (role: string, who: Identity | undefined) => (who ? `${role} ${who.pid} ${who.start}\n` : "");
	const [uts, pids] = [linkOf(`/proc/${command.pid}/ns/uts`), linkOf(`/proc/${command.pid}/ns/pid`)];
	if (!uts || !pids || !isAlive(command)) return false; // it has just ended
	fs.appendFileSync(meta, `namespace ${uts} ${pids}\n${line("terminal", terminal)}${line("command", command)}`); // in one write
	return true;
}

export type ExitRecord =
	| {
			readonly kind: "exit";
			readonly code: number;
			readonly signal: number | null;
			readonly limit: boolean;
			/** Written by a shell: the command that this end belongs to. */
			readonly of?: string;
			readonly at: number;
	  }
	/** The command never started. */
	| { readonly kind: "none"; readonly reason: string; readonly at: number }
	/** The command is over; how it ended is unknown. */
	| { readonly kind: "lost"; readonly reason: string; readonly at: number };

/** The reason in a record `none` of a child that ended before it was told to go. */
export const STARTER_GONE = "the program that started it disappeared";

/** Returns the end that the keeper recorded; undefined before that, and for an incomplete record. */
export function readExit(dir: string): ExitRecord | undefined {
	const record = readRecord(path.join(dir, "exit"));
	if (record === undefined) return undefined;
	const [kind, first, second, third] = record.text.split(" ");
	if (kind === "none" || kind === "lost") return { kind, reason: record.text.slice(5), at: record.at };
	if (kind !== "exit" || !/^\d+$/.test(first ?? "") || !/^(-|\d+)$/.test(second ?? "")) return undefined;
	return {
		kind,
		code: Number(first),
		signal: second === "-" ? null : Number(second),
		limit: third === "limit",
		...(third && third !== "limit" ? { of: third } : {}),
		at: record.at,
	};
}

/** The limit that was met first, as the keeper recorded it: name, scope, and surviving processes. */
export interface LimitRecord {
	readonly name: string;
	readonly scope: string | undefined;
	readonly left: readonly number[];
}

export function readLimit(dir: string): LimitRecord | undefined {
	const [name, scope, ...rest] = readRecord(path.join(dir, "limit"))?.text.split(" ") ?? [];
	return name ? { name, scope, left: rest[0] === "left" ? rest.slice(1).map(Number).filter(Boolean) : [] } : undefined;
}

export type CollectorState =
	| { readonly kind: "open" }
	| { readonly kind: "paused"; readonly why: "disk" | "limit" | "rate" }
	| { readonly kind: "closed"; readonly bytes: number };

export function readState(dir: string): CollectorState {
	const [kind, value] = (readRecord(path.join(dir, "state"))?.text ?? "").split(" ");
	if (kind === "closed" && /^\d+$/.test(value ?? "")) return { kind, bytes: Number(value) };
	if (kind === "paused") return { kind, why: value === "limit" || value === "rate" ? value : "disk" };
	return { kind: "open" };
}

/**
 * The copier's report on the pipe of a slot: no process has it open for writing (`eof`); it may hold more (`wait`); neither (`open`). `ends` counts
 * how often the last writer has closed it, `bytes` is the length of the log then. `dd`: the copier was killed, so nothing is counted. Undefined
 * without a copier.
 */
export type Drained = { readonly kind: "eof" | "open" | "wait"; readonly ends: number; readonly bytes: number } | { readonly kind: "dd" };

export function parseDrained(text: string): Drained | undefined {
	const [kind, ends, bytes] = text.trimEnd().split(" ");
	if (kind === "dd") return { kind };
	return kind === "eof" || kind === "open" || kind === "wait" ? { kind, ends: Number(ends), bytes: Number(bytes) } : undefined;
}

export const readDrained = (dir: string): Drained | undefined => parseDrained(readRecord(path.join(dir, "drained"))?.text ?? "");

/** Opens a file even if a program in a sandbox, which shares it, has changed its mode: that must not break the lists of other programs. */
function openOwn(file: string): number {
	try {
		return fs.openSync(file, "r");
	} catch (error) {
		if (errno(error) !== "EACCES") throw error;
		fs.chmodSync(file, 0o600);
		return fs.openSync(file, "r");
	}
}

/** Reads a fixed-width record, which is overwritten in place by one write: complete once it ends in a newline at its full width. */
function readRecord(file: string): { text: string; at: number } | undefined {
	let fd: number;
	try {
		fd = openOwn(file);
	} catch (error) {
		if (errno(error) === "ENOENT" || errno(error) === "ENOTDIR") return undefined;
		throw error;
	}
	try {
		const buffer = Buffer.alloc(RECORD_BYTES);
		const got = fs.readSync(fd, buffer, 0, RECORD_BYTES, 0);
		const text = buffer.toString("latin1", 0, got);
		if (got !== RECORD_BYTES || !text.endsWith("\n") || text.indexOf("\n") !== RECORD_BYTES - 1 || !text.trim()) return undefined;
		return { text: text.trimEnd(), at: fs.fstatSync(fd).mtimeMs };
	} finally {
		fs.closeSync(fd);
	}
}

/** Overwrites a record in place; a directory of an earlier version may not have it yet. */
export function writeRecord(dir: string, name: string, text: string): void {
	const fd = fs.openSync(path.join(dir, name), fs.constants.O_WRONLY | fs.constants.O_CREAT, 0o600);
	try {
		fs.writeSync(fd, text.padEnd(RECORD_BYTES - 1).concat("\n"), 0);
	} finally {
		fs.closeSync(fd);
	}
}

/**
 * Returns true once the command has started. The child writes `state` before it becomes the command; if it never does, `exit` says `none` before
 * `state` changes.
 */
export const hasStarted = (dir: string): boolean => readRecord(path.join(dir, "state")) !== undefined && readExit(dir)?.kind !== "none";

const SEGMENT = /^out\.(\d{15})$/;
export const segmentName = (offset: number): string => `out.${String(offset).padStart(15, "0")}`;

/** Returns the offsets of the log's segments, in order. */
export function segmentStarts(dir: string): number[] {
	const starts: number[] = [];
	for (const name of namesIn(dir)) {
		const match = SEGMENT.exec(name);
		if (match) starts.push(Number(match[1]));
	}
	return starts.sort((a, b) => a - b);
}
