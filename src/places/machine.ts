/**
 * The seam for "where": all that the rest of the code knows of the machine that something runs on. There are two implementations,
 * local (local/machine.ts) and remote (remote/machine.ts), and nothing outside places/ asks which one it has.
 *
 * The directory of a process is in the home in both cases. The keeper of a local process works in it. Of a remote one it is a replica,
 * which `sync`, `look`, `follow` and `watch` keep as the keeper's own directory is. So whatever only reads a process reads these files; whatever
 * has to reach its kernel, its keeper or the keeper's own files goes through its Machine. The local machine answers at once: it costs nothing to ask.
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
	/** The home that the directories of its processes are in. */
	readonly home: Home;
	/** As people call it. */
	readonly name: string;
	/** What the specs of its processes have as `box`; the local machine has none. */
	readonly key: string | undefined;
	/** Whether a path there is the same file for this program. */
	readonly sharesPaths: boolean;
	readonly kernel: Kernel;
	/** Identifies one life of the machine: what was made in another one is gone. Known once the machine has been reached. */
	readonly life: string;
	/** Of a machine that is made anew when it is gone (a container): which one was last reached. */
	readonly box: BoxIdentity | undefined;
	/** Why the last try to reach it failed. */
	readonly trouble: string | undefined;
	/** Asking it now waits for no machine that is gone. */
	readonly connected: boolean;
	/** The home of the account that commands run with, and Holdfast's own directory there, once it has been reached; undefined: those of this program. */
	readonly account: { readonly home: string; readonly own: string } | undefined;
	/** All of its files. */
	readonly fileSystem: Files;
	readonly keepers: MachineKeepers;
	readonly processes: MachineProcesses;
	readonly files: ProcessFiles;
	/** Waits until it can be reached, with everything there that a start needs. */
	ready(signal?: AbortSignal): Promise<Equipment>;
	/** The place that is this whole machine. Shells start in `asked`; without it on the local machine in `own`, on a remote one where its login does. */
	place(asked: string | undefined, own: () => string): Place | Promise<Place>;
	/** Returns how often its kernel has killed a process for want of memory; undefined where others are counted too. */
	memoryKills(): Promise<number | undefined>;
	/** Opens the line to a shell. `changed` is called when something about the shell may have changed. */
	line(shell: LineOf, changed: () => void): ShellLine;
	/** The log of a foreground command. `dir`: its process directory. */
	collector(dir: string): Collector;
	/** Returns the directory that a process is in. A directory that was removed has its last name. */
	directoryOf(pid: number): Promise<string | undefined>;
	/** Returns a path with its links followed, as far as that can be seen at once. */
	realPath(file: string): string;
	/** Throws if there is no such directory. `cwd` is that of the shell, and `at` gives what the shell sees as a path of this machine. */
	checkDirectory(dir: string, shell: { readonly cwd: string; at(file: string): string }): Promise<void>;
}

/** What there is to start things with. */
export interface Equipment {
	readonly tools: Tools;
	/** Of the program, or the login, that starts them. */
	readonly environment: NodeJS.ProcessEnv;
	readonly umask: number;
	/** The directory with our scripts, a directory in it for each room. */
	readonly scripts: string;
	/** The directory with all process directories. */
	readonly procs: string;
	/** How much memory all that runs there may use, if that is limited for us alone. */
	readonly memory?: { readonly most: number };
}

/** Starting things. */
export interface MachineKeepers {
	/** `prepare` writes what must be on disk before anything can run, and says what to run. `kind`: see the spec. */
	launch(prepare: (berth: Berth) => Plan, options: { readonly task: string; readonly kind: Spec["kind"] }): Promise<Launch>;
	/** A log to print to. Ready when this resolves. `spare`: no caller waits for it, so nothing else is started for it. */
	hold(limits: Pick<KeptLimits, "output" | "output_rate">, options: { readonly spare: boolean }): Promise<Held>;
	/** Runs a start, and once more if it is certain that nothing ran. */
	start<T>(start: () => Promise<T>): Promise<T>;
	/** What it starts can be in cgroups that this program makes. */
	readonly groups: boolean;
	/** How long it may take until a process that was launched is seen to run. */
	readonly startMs: number;
}

/** A process, as far as its machine has to know it. */
export interface KeptProcess {
	readonly id: string;
	readonly dir: string;
	readonly spec: Spec;
	isOver(): boolean;
	/** Nothing that was seen says that it has begun. */
	mayBeUnderWay(): boolean;
}

/** A command whose shell is known, and what is done while it runs. */
export interface Followed {
	/** The process is a command of this shell. */
	readonly shell?: Identity | undefined;
	readonly within?: { complete(): boolean; seen(): void } | undefined;
}

export interface MachineProcesses {
	/**
	 * Updates the directory of a process to its present state, and decides whether a start that no program is left for has happened. Resolves with a
	 * sentence if the machine cannot be reached; with `ms` after one failed try, or when there is no answer for so long. Then nothing has changed.
	 */
	sync(process: KeptProcess, options?: { readonly signal?: AbortSignal | undefined; readonly ms?: number | undefined }): Promise<string | undefined>;
	/** Updates the directory of one. Throws if the machine cannot be reached. `shell`: it is a command of this shell. */
	look(id: string, shell?: Identity): Promise<void>;
	/** Keeps the directory of one up to date until the returned function is called. */
	follow(id: string, followed?: Followed): () => void;
	/** Calls `changed` with the name of a file, or null, when something about a process may have changed. Returns a function that ends that. */
	watch(process: KeptProcess, changed: (name: string | null) => void): () => void;
	/** Tells the keeper of a process something. A keeper that has gone needs not be told. */
	tell(id: string, message: string): Promise<void>;
	/** The stdin of a process. */
	stdin(process: KeptProcess): Stdin;
	/** Whether its kernel can be asked about a process. */
	canAsk(process: KeptProcess): Promise<boolean>;
	/** Waits until a port is open on the network of a process. */
	portOpens(process: KeptProcess, port: number, signal: AbortSignal): Promise<void>;
	/** Waits until a URL answers with this status, or with any of 200 to 399, on the network of a process. */
	httpAnswers(process: KeptProcess, asked: { readonly url: string; readonly status: number | undefined }, signal: AbortSignal): Promise<void>;
	/** Opens a connection to a port on the network of a process. Throws UNREACHABLE if nobody accepts it. */
	connect(process: KeptProcess, to: PortAddress, signal?: AbortSignal): Promise<Duplex>;
	/** A process is being removed from the home. */
	forget(id: string): void;
}

export interface Stdin {
	/** Writes a few bytes at once. False, and nothing done, if that takes more care. */
	type(bytes: Buffer): boolean;
	/** Resolves when all is in its pipe. Throws, with how much is, if the process ends or stops reading before that. */
	write(bytes: Buffer, signal: AbortSignal | undefined): Promise<number>;
}

/** Files of the keeper's own directory. On the local machine that is the directory in the home. */
export interface ProcessFiles {
	/** Returns where a file of a process is on the machine. Only after `ready`. */
	path(id: string, name: string): string;
	/** Has the keeper's file as the one in the home is, with this content. Does not wait for it. */
	put(id: string, name: string, content: string): void;
	/** Removes the keeper's file too. Does not wait for it. */
	remove(id: string, name: string): void;
	/** Has files in the home as the keeper has them. False: it has none of them, and those in the home are left as they are. */
	fetch(id: string, names: readonly string[]): Promise<boolean>;
	/** Waits until the keeper has a file with something in it, and has it in the home. */
	arrival(id: string, name: string, signal: AbortSignal): Promise<void>;
	/** Drops the segments of a log before an offset, which are gone from the home. */
	discard(id: string, before: number): Promise<void>;
}

export interface Collector {
	/** Whether all that was printed before the end of the command is in the log, as far as that shows in its copier: it sleeps. */
	drained(): boolean;
	/** The log is closed, or nobody will ever close it. */
	isOver(): boolean;
	/** Whether those are there whom a command needs that is to print into it. Not looked at on a remote machine. */
	serves(): boolean;
	/** Whether what is printed now still gets into the log. Not looked at on a remote machine. */
	collects(): boolean;
	close(): void;
}
