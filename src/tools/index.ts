/** The tools that a model calls: `terminal`, `process` and the file tools. One definition of schema, description and result for all doors. */

export { stripAnsi } from "./ansi.js";
export { parseArguments } from "./arguments.js";
export { type Ask, answer, deadlineOf, doorOf } from "./ask.js";
export type { Call } from "./call.js";
export type { FoundCall } from "./calls/index.js";
export { checkCommand } from "./check.js";
export { CommandGate } from "./command-gate.js";
export { TOOL_NAMES, TOOLS, type Tool, toolsWith } from "./definitions.js";
export {
	type FileResult,
	type FilesOfTask,
	filesOfTask,
	type PatchArgs,
	type PatchResult,
	type ReadFileArgs,
	type ReadFileResult,
	type SearchFilesArgs,
	type SearchFilesResult,
	type TransferArgs,
	type TransferResult,
	type WriteFileArgs,
	type WriteFileResult,
} from "./files/index.js";
export { ACTIONS, type ProcessArgs, processInput, type TerminalArgs, terminalInput } from "./input.js";
export { type JsonSchema, jsonSchema } from "./json-schema.js";
export { LIMITS, type Limits, limitsFrom } from "./limits.js";
export { type LinkOptions, type MadeLink, makeLink, openLink } from "./links.js";
export { approve, shortened } from "./own.js";
export { type OwnResult, ownOutput } from "./own-result.js";
export { Refused } from "./refused.js";
export { renderResult } from "./render.js";
export type { ProcessResult, TerminalResult, ToolName, ToolResult } from "./result.js";
export { AgentRuntime, type AgentRuntimeOptions, openAgentRuntime, openSettledAgent } from "./runtime.js";
export { loadScreen } from "./screen.js";
