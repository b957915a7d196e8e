/** A tool of the agent, whoever made it: the core's, our own, or one of another MCP server. */
import type { ToolShown } from "../model/index.js";

export interface ToolOutcome {
	/** For the model. */
	readonly text: string;
	readonly failed: boolean;
	/** All of it, where `text` is shortened and names `recall`. */
	readonly whole?: string;
	/** The kept process that it started or moved to the background: `proc_…`. */
	readonly process?: string;
	readonly how?: "ran" | "refused" | "skipped";
	/** The time of a wait is over and what it waits for still runs: to wait again is no loop. */
	readonly waits?: true;
	/** The approval or the question that a person has not answered yet. Nothing was done: the call stays open, and is made again. */
	readonly pending?: string;
	/** News of background processes that came with it. They are no part of the result: each goes to the inbox, once by its id. */
	readonly notices?: readonly { readonly id: string; readonly text: string }[];
}

/** The surroundings of a call, besides its arguments. */
export interface ToolCallContext {
	/** Unique in the task. The core keeps it with the process, so that the call can be found after a crash. */
	readonly id: string;
	/** Ends it, as Ctrl-C would. */
	readonly signal: AbortSignal;
	/** Lets a command in the foreground go on in the background, and answers `running`. Its reason is `steer` or, if the program is about to end, `leave`. */
	readonly yield: AbortSignal;
	readonly progress?: (text: string) => void;
}

export interface AgentTool extends ToolShown {
	/** False: it only reads, so it may run beside others, and may be made again after a crash. */
	readonly changes: boolean;
	/** Returns true if these arguments only read, for a tool that changes things. */
	onlyReads?(args: unknown): boolean;
	/** `args` has been parsed from JSON, and is not checked otherwise. Never rejects for anything that a model can cause. */
	run(args: unknown, context: ToolCallContext): Promise<ToolOutcome>;
	/** Returns the outcome of a call whose agent was killed. Without it: made again if the tool changes nothing, else unknown. */
	became?(args: unknown, context: ToolCallContext): Promise<Became>;
	/** The result is in the log and on the disk, and names no process: what was kept for `became` may go. Never rejects. */
	settle?(id: string): Promise<void>;
}

/** `never`: make the call (again). */
export type Became =
	| { readonly state: "never" }
	| { readonly state: "ended"; readonly outcome: ToolOutcome }
	| { readonly state: "unknown"; readonly reason: string };

/** A named set of tools. `why` and `fix` are for a person: "browser off: Chromium is not installed (apt-get install chromium)". */
export interface Toolset {
	readonly name: string;
	readonly description: string;
	readonly tools: readonly string[];
	readonly includes?: readonly string[];
	available(): Availability;
}

export type Availability = { readonly ok: true } | { readonly ok: false; readonly why: string; readonly fix: string };
