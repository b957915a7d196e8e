/** The room of the library: what other programs see of Holdfast. docs/library.md lists it. */
export { agentOf } from "./agent.js";
export {
	checkNames,
	type DefinedTool,
	type DefinedToolResult,
	defineTool,
	runOf,
	type ToolAnswer,
	type ToolContext,
	type ToolDefinition,
} from "./define-tool.js";
export type { Process, ProcessSpec } from "./process.js";
export { type AuditOptions, asciicast, type RecordingOptions, readAudit, type TranscriptOptions } from "./records.js";
export {
	type Diagnosis,
	type DoctorOptions,
	type ListOptions,
	openRuntime,
	type Runtime,
	type RuntimeOptions,
} from "./runtime.js";
export type { Task, TaskOptions } from "./task.js";
export {
	type CopiedFiles,
	type FileCopyOptions,
	type FileEntry,
	type FileReadOptions,
	type FileWriteOptions,
	filesFor,
	type TaskFiles,
	type WrittenFile,
} from "./task-files.js";
export { type RuntimeCallOptions, TOOLS, type Tool, type ToolArgs, type ToolCallOptions, type ToolResults, toolsWith } from "./tools.js";
export type { ApprovalsView, Calls, KeyboardHolder, KeyboardsView, LinksView, NoticesView, SudoView, TakenKeyboard } from "./views.js";
