/**
 * The seam for "where": all that the rest of the code knows of the machine that something runs on. There are two implementations,
 * local (local/machine.ts) and remote (remote/machine.ts), and nothing outside places/ asks which one it has.
 *
 * The directory of a process is in the home in both cases. The keeper of a local process works in it. For a remote process it is a replica
 * of the keeper's own directory, kept current by `sync`, `look`, `follow` and `watch`. So code that only reads a process reads these files; code that
 * has to reach its kernel, its keeper or the keeper's own files goes through its Machine. The local machine answers at once, at no cost.
 */
import type { Duplex } from "node:stream";
import type { Home, Identity, Kernel } from "../base/index.js";
import type { Berth, Held, KeptLimits, Launch, Plan, Spec, Tools } from "../keeper/index.js";
import type { Files } from "./files/index.js";
import type { BoxIdentity } from "./host.js";
import type { LineOf, ShellLine } from "./line.js";
import type { PortAddress } from "./link/index.js";
import type { Place } from "./place.js";

export interface Machine {
	/** The home with the directories of its processes. */
	readonly home: Home;
	/** Display name. */
	readonly name: string;
	/** The `box` in the specs of its processes; the local machine has none. */
	readonly key: string | undefined;
	/** A path of the machine is the same file for this program. */
	readonly sharesPaths: boolean;
	readonly kernel: Kernel;
	/** Identifies one life of the machine: what was made in another life is gone. Known once the machine has been reached. */
	readonly life: string;
	/** For a machine that is recreated when it is gone (a container): the one that was last reached. */
	readonly box: BoxIdentity | undefined;
	/** Why the last attempt to reach it failed. */
	readonly trouble: string | undefined;
	/** A request now does not have to wait for a reconnect. */
	readonly connected: boolean;
	/**
	 * The home of the account that commands run with, and Holdfast's own remote directory, once the machine has been reached; undefined: those of this
	 * program.
	 */
	readonly account: { readonly home: string; readonly own: string } | undefined;
	/** All of its files. */
	readonly fileSystem: Files;
	readonly keepers: MachineKeepers;
	readonly processes: MachineProcesses;
	readonly files: ProcessFiles;
	/** Waits until the machine is reachable and equipped for a start. */
	ready(signal?: AbortSignal): Promise<Equipment>;
	/**
	 * Returns the place that is this whole machine. Shells start in `asked`; by default on the local machine in `own`, on a remote one where its login
	 * does.
	 */
	place(asked: string | undefined, own: () => string): Place | Promise<Place>;
	/** Returns how often its kernel has killed a process for lack of memory; undefined if other processes are counted too. */
	memoryKills(): Promise<number | undefined>;
	/** Opens the line to a shell. Calls `changed` when something about the shell may have changed. */
	line(shell: LineOf, changed: () => void): ShellLine;
	/** Returns the log of a foreground command. `dir`: its process directory. */
	collector(dir: string): Collector;
	/** Returns the working directory of a process. A removed directory has its last name. */
	directoryOf(pid: number): Promise<string | undefined>;
	/** Returns a path with its links resolved, as far as that is known without waiting. */
	realPath(file: string): string;
	/** Throws if there is no such directory. `cwd` is that of the shell, and `at` maps a path of the shell to one of this machine. */
	checkDirectory(dir: string, shell: { readonly cwd: string; at(file: string): string }): Promise<void>;
}

/** The equipment of a machine for starts. */
export interface Equipment {
	readonly tools: Tools;
	/** The environment of the program, or the login, that starts processes. */
	readonly environment: NodeJS.ProcessEnv;
	readonly umask: number;
	/** The directory with our scripts, one subdirectory per room. */
	readonly scripts: string;
	/** The directory with all process directories. */
	readonly procs: string;
	/** Memory limit of everything on the machine, if it is set for us alone. */
	readonly memory?: { readonly most: number };
}

/** Starting things. */
export interface MachineKeepers {
	/** Launches a process. `prepare` writes what must be on disk first, and returns what to run. `kind`: see the spec. */
	launch(prepare: (berth: Berth) => Plan, options: { readonly task: string; readonly kind: Spec["kind"] }): Promise<Launch>;
	/** Opens a log to print to; it is ready when this resolves. `spare`: no caller waits for it, so nothing else is started for it. */
	hold(limits: Pick<KeptLimits, "output" | "output_rate">, options: { readonly spare: boolean }): Promise<Held>;
	/** Runs a start, and retries it once if it is certain that nothing ran. */
	start<T>(start: () => Promise<T>): Promise<T>;
	/** Processes can be in cgroups that this program makes. */
	readonly groups: boolean;
	/** Time limit until a launched process is seen to run. */
	readonly startMs: number;
}

/** The part of a process that its machine has to know. */
export interface KeptProcess {
	readonly id: string;
	readonly dir: string;
	readonly spec: Spec;
	isOver(): boolean;
	/** Returns true if no sign says that it has begun. */
	mayBeUnderWay(): boolean;
}

/** A command whose shell is known, and callbacks while it runs. */
export interface Followed {
	/** The shell whose command the process is. */
	readonly shell?: Identity | undefined;
	readonly within?: { complete(): boolean; seen(): void } | undefined;
}

export interface MachineProcesses {
	/**
	 * Updates the directory of a process to its current state, and decides whether a start by an ended program has happened. Resolves with a
	 * sentence if the machine is unreachable; with `ms`, after one failed attempt or that time. Then nothing has changed.
	 */
	sync(process: KeptProcess, options?: { readonly signal?: AbortSignal | undefined; readonly ms?: number | undefined }): Promise<string | undefined>;
	/** Updates the directory of a process. Throws if the machine is unreachable. `shell`: the shell whose command it is. */
	look(id: string, shell?: Identity): Promise<void>;
	/** Keeps the directory of a process current until the returned function is called. */
	follow(id: string, followed?: Followed): () => void;
	/** Calls `changed` with the name of a file, or null, when something about a process may have changed. Returns a function that stops this. */
	watch(process: KeptProcess, changed: (name: string | null) => void): () => void;
	/** Sends a message to the keeper of a process. A keeper that has ended needs none. */
	tell(id: string, message: string): Promise<void>;
	/** The stdin of a process. */
	stdin(process: KeptProcess): Stdin;
	/** Returns whether its kernel can be asked about a process. */
	canAsk(process: KeptProcess): Promise<boolean>;
	/** Waits until a port is open on the network of a process. */
	portOpens(process: KeptProcess, port: number, signal: AbortSignal): Promise<void>;
	/** Waits until a URL answers with this status, or with any of 200 to 399, on the network of a process. */
	httpAnswers(process: KeptProcess, asked: { readonly url: string; readonly status: number | undefined }, signal: AbortSignal): Promise<void>;
	/** Opens a connection to a port on the network of a process. Throws UNREACHABLE if the connection is refused. */
	connect(process: KeptProcess, to: PortAddress, signal?: AbortSignal): Promise<Duplex>;
	/** Called when a process is removed from the home. */
	forget(id: string): void;
}

export interface Stdin {
	/** Writes a few bytes at once. Returns false, without any effect, if that needs more care. */
	type(bytes: Buffer): boolean;
	/** Resolves when everything is in the pipe. Throws, with the number of written bytes, if the process ends or stops reading before that. */
	write(bytes: Buffer, signal: AbortSignal | undefined): Promise<number>;
}

/** Files of the keeper's own directory. On the local machine that is the directory in the home. */
export interface ProcessFiles {
	/** Returns the path of a process's file on the machine. Only after `ready`. */
	path(id: string, name: string): string;
	/** Updates the keeper's file to this content, which the file in the home has. Does not wait for it. */
	put(id: string, name: string, content: string): void;
	/** Removes the keeper's file too. Does not wait for it. */
	remove(id: string, name: string): void;
	/** Copies files from the keeper to the home. Returns false if the keeper has none of them; those in the home are then unchanged. */
	fetch(id: string, names: readonly string[]): Promise<boolean>;
	/** Waits until the keeper has a non-empty file, and copies it to the home. */
	arrival(id: string, name: string, signal: AbortSignal): Promise<void>;
	/** Drops the segments of a log before an offset, which are gone from the home. */
	discard(id: string, before: number): Promise<void>;
}

export interface Collector {
	/** Returns whether the log has all output from before the end of the command, as far as its copier shows: it sleeps. */
	drained(): boolean;
	/** Returns true if the log is closed, or no process is left to close it. */
	isOver(): boolean;
	/** Returns whether the processes that a command needs to print into it are alive. Not checked on a remote machine. */
	serves(): boolean;
	/** Returns whether new output still gets into the log. Not checked on a remote machine. */
	collects(): boolean;
	close(): void;
}
