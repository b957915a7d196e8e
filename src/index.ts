export type { Approval, Approver, Choice, Reply } from "./approvals/index.js";
export type { AuditEvent } from "./audit/index.js";
export { type ErrorCode, HoldfastError } from "./base/errors.js";
export type { LimitsGiven as ResourceLimits, ProcessLimitsGiven as ProcessLimits } from "./base/limits.js";
export type { Notice } from "./notices/index.js";
export type { KillResult } from "./process/kill.js";
export type { LimitMet } from "./process/limits.js";
export type { Slice } from "./process/log.js";
export type { SpawnOptions } from "./process/options.js";
export type { Process, WaitOptions, WaitResult } from "./process/process.js";
export type { PruneResult } from "./process/prune.js";
export type { ListOptions } from "./process/runtime.js";
export type { Spec } from "./process/spec.js";
export type { Status } from "./process/status.js";
export type { Condition, Until } from "./process/until.js";
export {
	type AgentRuntime as Runtime,
	type AgentRuntimeOptions as RuntimeOptions,
	type Call,
	type Limits,
	openAgentRuntime as openRuntime,
	type ProcessArgs,
	type ProcessResult,
	renderResult,
	type TerminalArgs,
	type TerminalResult,
	TOOLS,
	type Tool,
	type ToolResult,
	toolsWith,
} from "./tools/index.js";
