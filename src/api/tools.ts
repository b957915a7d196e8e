/** The tools as the library shows them: names, arguments and results by tool. */
import type { Approver } from "../approvals/index.js";
import type { PlaceGiven } from "../places/index.js";
import {
	type Tool as InnerTool,
	toolsWith as innerTools,
	LIMITS,
	type Limits,
	limitsFrom,
	type PatchArgs,
	type PatchResult,
	type ProcessArgs,
	type ProcessResult,
	type ReadFileArgs,
	type ReadFileResult,
	type SearchFilesArgs,
	type SearchFilesResult,
	type TerminalArgs,
	type TerminalResult,
	type ToolName,
	type TransferArgs,
	type TransferResult,
	type WriteFileArgs,
	type WriteFileResult,
} from "../tools/index.js";
import { agentOf } from "./agent.js";
import { checkNames, type DefinedTool } from "./define-tool.js";
import { callOf } from "./options.js";
import type { Runtime } from "./runtime.js";

/** The arguments of each tool. They are checked when the tool runs: what is wrong with them is said in the result. */
export interface ToolArgs {
	terminal: TerminalArgs;
	process: ProcessArgs;
	read_file: ReadFileArgs;
	write_file: WriteFileArgs;
	patch: PatchArgs;
	search_files: SearchFilesArgs;
	upload: TransferArgs;
	download: TransferArgs;
}

/** The result of each tool. */
export interface ToolResults {
	terminal: TerminalResult;
	process: ProcessResult;
	read_file: ReadFileResult;
	write_file: WriteFileResult;
	patch: PatchResult;
	search_files: SearchFilesResult;
	upload: TransferResult;
	download: TransferResult;
}

/** The program's options for one call, beside the model's arguments. */
export interface ToolCallOptions {
	/** The key with which `calls.find` finds the call again, also after a crash. Used once in a task. */
	readonly id?: string | undefined;
	/** Keeps the result, and the output of the command, until `calls.settle`. Needs an id. */
	readonly keep?: boolean | undefined;
	/** The place of the call, where the task has a shell of its own. Default: the place of the task. */
	readonly place?: PlaceGiven | undefined;
	/** The user in a container, who has a shell of their own. Default: the task's, else the container's. */
	readonly user?: string | undefined;
	/** Interrupts the call: a foreground command is killed with its tree, a wait ends. */
	readonly signal?: AbortSignal | undefined;
	/** Moves a foreground command to the background now, as at its deadline: the call answers `running`. */
	readonly yield?: AbortSignal | undefined;
	/** The call must answer within this many milliseconds; what is not finished then is `running`. */
	readonly within?: number | undefined;
	/** Told now and then while the call goes on, in words for people. */
	readonly progress?: ((message: string) => void) | undefined;
	/** True: the answer reaches no one. Then it takes no notices with it, and a command that has ended stays readable by its id. */
	readonly gone?: (() => boolean) | undefined;
	/** Which door it is, for the audit. Default: library. */
	readonly door?: string | undefined;
	/** Asks the person at this door whether a command may run. */
	readonly approver?: Approver | undefined;
	/** The caller asks its person once it has a result `pending_approval`, and makes the call again. */
	readonly asksLater?: boolean | undefined;
}

/** The same for a call on the runtime, where the task is named. */
export interface RuntimeCallOptions extends ToolCallOptions {
	/** The task of the call. Default: the runtime's own task. */
	readonly task?: string | undefined;
}

/** A tool as a model is shown it. */
export interface Tool extends Omit<InnerTool, "run"> {
	/** Never rejects for anything a model can cause: what is wrong with `args` is said in the result. */
	run(runtime: Runtime, args: unknown, options?: RuntimeCallOptions): Promise<ToolResults[ToolName]>;
}

/** Returns the tools with the numbers that a runtime was opened with; and, behind them, tools that `defineTool` has made. */
export function toolsWith(limits: Limits): readonly Tool[];
export function toolsWith(limits: Limits, more: readonly DefinedTool[]): readonly (Tool | DefinedTool)[];
export function toolsWith(limits: Limits, more: readonly DefinedTool[] = []): readonly (Tool | DefinedTool)[] {
	checkNames(more);
	return [...innerTools(limitsFrom(limits)).map(shown), ...more];
}

/** The tools with the default numbers. */
export const TOOLS: readonly Tool[] = toolsWith(LIMITS);

function shown(tool: InnerTool): Tool {
	const { name, title, description, input, output, annotations } = tool;
	return {
		name,
		title,
		description,
		input,
		output,
		annotations,
		get inputSchema() {
			return tool.inputSchema; // made when it is first asked for
		},
		get outputSchema() {
			return tool.outputSchema;
		},
		run: async (runtime, args, options) => (await tool.run(agentOf(runtime), args, callOf(name, options))) as ToolResults[ToolName],
	};
}
