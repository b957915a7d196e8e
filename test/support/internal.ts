/** The inside of the library under the names of its outside: most tests look at more than other programs may. */
export { HoldfastError } from "../../src/base/errors.js";
export type { Notice } from "../../src/notices/index.js";
export type { SpawnOptions } from "../../src/process/options.js";
export type { Process } from "../../src/process/process.js";
export type { Status } from "../../src/process/status.js";
export {
	type AgentRuntime as Runtime,
	type AgentRuntimeOptions as RuntimeOptions,
	openAgentRuntime as openRuntime,
	type ProcessResult,
	renderResult,
	type TerminalResult,
	TOOLS,
	type ToolResult,
	toolsWith,
} from "../../src/tools/index.js";
