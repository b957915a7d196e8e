/** A kept process, as the library shows it. */

import type { Spec } from "../keeper/index.js";
import type { KillResult, Slice, Status, WaitOptions, WaitResult } from "../process/index.js";

/** The parameters of a process's start. `command` is cut after 4096 characters: `Process.command()` has all of it. */
export type ProcessSpec = Readonly<
	Pick<Spec, "id" | "name" | "task" | "call" | "command" | "argv" | "cwd" | "place" | "terminal" | "log" | "parent" | "startedAt">
>;

/** Any number of programs can hold one for the same process: it is a view of a directory on disk. */
export interface Process {
	/** `proc_` and 12 hex digits. */
	readonly id: string;
	readonly spec: ProcessSpec;
	/** The pid of the command itself; null before it has one. */
	readonly pid: number | null;
	/** Returns the whole command. */
	command(): string;
	/** Returns how it is, from its records and /proc. On a remote place: as it was last seen (`sync` looks again). */
	status(): Status;
	/** Looks at a process on a remote place. Returns undefined, or a sentence that says why it could not be seen. */
	sync(signal?: AbortSignal, ms?: number): Promise<string | undefined>;
	/** Returns up to `max` bytes of output from `offset`; the slice says where it really starts and where to read on. */
	read(offset: number, max?: number): Slice;
	/** Yields the output from an offset on, as it comes, until the command has exited and its output is read. */
	follow(options?: { from?: number; signal?: AbortSignal }): AsyncGenerator<Slice, void>;
	/** Waits until it exits, or a condition of `until` holds, or the time is up. Never touches the process. */
	wait(options?: WaitOptions): Promise<WaitResult>;
	/** Writes bytes to its stdin. Returns how many, once they are in the pipe. */
	write(data: Uint8Array | string, options?: { signal?: AbortSignal }): Promise<number>;
	/** Ends its input: closes stdin, or types Ctrl-D on a terminal. */
	closeStdin(): Promise<void>;
	/** Changes the size of its terminal. */
	resize(cols: number, rows: number): Promise<void>;
	/** Sends one signal to its process group. `kill` is for the whole tree. */
	signal(signal: NodeJS.Signals): Promise<void>;
	/** Ends it and everything it started, and looks whether that worked. */
	kill(options?: { graceMs?: number }): Promise<KillResult & { readonly final: Status }>;
	/** Returns the pids that it has left running after its end. */
	leftovers(): Promise<number[]>;
	/** Drops the oldest output up to an offset, in whole segments. Returns where the output starts now. */
	discard(before: number): Promise<number>;
}
