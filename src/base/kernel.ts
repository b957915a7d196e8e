/** The kernel of a machine. The local one is asked directly; a remote one over a link, which takes a moment: so each question is about many things at once. */
import type { Identity, Stat } from "./proc.js";

export interface Kernel {
	/** The processor, in Node's words: x64, arm64 … */
	arch(): Promise<string>;
	/** Files of /proc as text, in the same order; undefined: gone, or not ours to see. */
	read(paths: readonly string[]): Promise<(string | undefined)[]>;
	/** Returns the targets of symbolic links. */
	links(paths: readonly string[]): Promise<(string | undefined)[]>;
	/** Returns the inode of each path, links followed. */
	inodes(paths: readonly string[]): Promise<(Inode | undefined)[]>;
	/** Returns the names in each directory; none for a directory that is missing or may not be read. */
	names(directories: readonly string[]): Promise<string[][]>;
	memory(pieces: readonly Piece[]): Promise<(Buffer | undefined)[]>;
	/** Returns the output of `stty -a` for a terminal; empty if it fails. */
	terminal(path: string): Promise<string>;
	/** A process, first, and all below it, nearest first and so many at most; those too that have ended and are not reaped. */
	family(pid: number, most?: number): Promise<Stat[]>;
	/** Returns all processes, in one look. */
	processes(): Promise<Table>;
	/** Sends signals one after the other. */
	signal(sent: readonly Sent[]): Promise<Delivery[]>;
}

/** A device number has the form of Linux' `dev_t` in user space, as stat(2) gives it. */
export interface Inode {
	readonly dev: number;
	readonly rdev: number;
}

/** A piece of a process's memory. */
export interface Piece {
	readonly pid: number;
	readonly address: bigint;
	readonly bytes: number;
}

export interface Sent {
	/** Negative: a group. */
	readonly pid: number;
	readonly signal: NodeJS.Signals;
	/** The signal is sent only if this process is still alive: between a look and a signal it may end, and another process get its number. */
	readonly of?: Identity | undefined;
}

/** `gone`: there was no such process. `refused`: no permission to signal it. */
export type Delivery = "sent" | "gone" | "refused";

/**
 * The processes at one moment. The local machine looks for details of a process when they are asked for, a remote one for all at once;
 * so `statOf` is about now on the local machine, and about that moment on a remote one.
 */
export interface Table {
	/** Without those that have ended and are not reaped. */
	readonly stats: ReadonlyMap<number, Stat>;
	statOf(pid: number): Stat | undefined;
	/** When something was on our clock, in hundredths of a second since that machine was started, as `start` counts. */
	ticksAt(time: number): number;
	/** Which kept process's environment it was started with. */
	markerOf(pid: number): string | undefined;
	/** Returns the targets of its stdin, stdout and stderr, as far as they can be seen. */
	standardOf(pid: number): readonly string[];
	/** A keeper of some process, by its arguments and by the record in the directory that they name. Arguments alone prove nothing. */
	isKeeper(pid: number): boolean;
	/** The UTS and PID namespaces of a process; null for those that share our UTS namespace. */
	namespaceOf(pid: number): string | null | undefined;
	/** The process that looks: never one of those that are looked for. */
	readonly self: number | undefined;
}

/** Alive, and not a stranger with the same number. */
export const isThere = (stat: Stat | undefined, id: Identity): boolean => stat !== undefined && stat.start === id.start && isLiving(stat);

export const isLiving = ({ state }: Stat): boolean => state !== "Z" && state !== "X";

/** The variable that says whose a process is. */
export const markerIn = (environ: string): string | undefined => /(?:^|\0)HOLDFAST_ID=(proc_[0-9a-f]{12})(?:\0|$)/.exec(environ)?.[1];

/** The directory of the process that a keeper with these arguments keeps, of whatever installation. */
export function keptIn(argv: readonly string[]): string | undefined {
	const at = argv.findIndex((word, index) => word.endsWith("/keeper/keeper.sh") && argv[index + 1] === "keep");
	return at < 0 ? undefined : argv[at + 2];
}

/** Does this record of a process directory, its `meta`, name that process as the keeper? */
export const namesKeeper = (meta: string, { pid, start }: Identity): boolean => meta.split("\n").includes(`keeper ${pid} ${start}`);
