/** What the kernel of a machine says and does. Of this one it is asked directly; of another, over a link, which takes a moment: so everything is asked for many at once. */
import type { Stat } from "./proc.js";

export interface Kernel {
	/** Files of /proc as text, in the same order; undefined: gone, or not ours to see. */
	read(paths: readonly string[]): Promise<(string | undefined)[]>;
	/** Where symbolic links lead. */
	links(paths: readonly string[]): Promise<(string | undefined)[]>;
	/** What is behind a path, links followed. */
	stats(paths: readonly string[]): Promise<(Inode | undefined)[]>;
	names(directory: string): Promise<string[]>;
	memory(pid: number, address: bigint, bytes: number): Promise<Buffer | undefined>;
	/** What `stty -a` says of a terminal; empty when it says nothing. */
	terminal(path: string): Promise<string>;
	/** One look at all there are. */
	processes(): Promise<Table>;
	/** One after the other; a negative pid is a group. False: nobody was there to get it. */
	signal(sent: readonly Sent[]): Promise<boolean[]>;
}

export interface Inode {
	readonly dev: number;
	readonly rdev: number;
	readonly ino: number;
	readonly links: number;
}

export interface Sent {
	readonly pid: number;
	readonly signal: NodeJS.Signals;
}

export interface Table {
	/** Without those that have ended and are not reaped. */
	readonly stats: ReadonlyMap<number, Stat>;
}
