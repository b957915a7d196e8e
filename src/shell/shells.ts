import type { Process } from "../process/process.js";
import type { Runtime } from "../process/runtime.js";

export interface RunOptions {
	readonly task: string;
	readonly command: string;
	/** For this command only. Absolute, or from the shell's directory. */
	readonly workdir?: string;
	readonly timeoutMs: number;
	/** At the deadline: leave it running as a process like any other, or kill its tree. */
	readonly onTimeout: "background" | "kill";
	/** Kills the command's tree and keeps the shell. */
	readonly signal?: AbortSignal;
}

export interface RunResult {
	/** `running`: it reached its deadline and goes on. */
	readonly end: "exited" | "running" | "timeout" | "interrupted" | "lost";
	/** The command as a process. Its log is its output, from offset 0 on; it can be read until `release`. */
	readonly process: Process;
	/** True when it is, or stays, in the registry: it runs on, or something it started may still print. */
	readonly tracked: boolean;
	readonly exitCode: number | null;
	readonly signal: NodeJS.Signals | null;
	/** What the shell itself printed as it ended (an EXIT trap): belongs behind the output. */
	readonly after: string;
	/** The shell's directory now. */
	readonly cwd: string;
	readonly durationMs: number;
	readonly notes: readonly string[];
	/** Done with the log. With `keep` it stays readable by its id, as of any process that has ended; else it goes. */
	release(options?: { keep?: boolean }): void;
}

/** What a process started beside the shell inherits from it. */
export interface ShellContext {
	readonly cwd: string;
	readonly env: Readonly<Record<string, string>>;
	readonly notes: readonly string[];
}

export class Shells {
	constructor(readonly runtime: Runtime) {}

	/** Run a command in the task's shell. Throws if it never started. */
	run(_options: RunOptions): Promise<RunResult> {
		throw new Error("to come");
	}

	/** The directory and the exported environment of the task's shell. For a terminal, without what turns pagers and colour off. */
	context(_options: { task: string; workdir?: string; terminal?: boolean }): Promise<ShellContext> {
		throw new Error("to come");
	}

	/** End the task's shell; what it started in the background goes on. */
	end(_task: string): Promise<void> {
		throw new Error("to come");
	}

	/** Shells go on. */
	close(): Promise<void> {
		throw new Error("to come");
	}
}
