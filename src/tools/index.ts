/** The room of the tools a model calls: `terminal`, `process` and those for files. One definition of schema, description and result for all doors. */
export type { Call } from "./call.js";
export { TOOLS, type Tool, toolsWith } from "./definitions.js";
export type { FileResult, PatchResult, ReadFileResult, SearchFilesResult, TransferResult, WriteFileResult } from "./files/result.js";
export type { ProcessArgs, TerminalArgs } from "./input.js";
export type { JsonSchema } from "./json-schema.js";
export type { Limits } from "./limits.js";
export { renderResult } from "./render.js";
export type { ProcessResult, TerminalResult, ToolResult } from "./result.js";
export { AgentRuntime, type AgentRuntimeOptions, openAgentRuntime } from "./runtime.js";
