import type { ListToolsResult } from "@modelcontextprotocol/server";
import { type AgentRuntime, type Call, type Tool, type ToolResult, toolsWith } from "../../tools/index.js";

/** A tool of ours, or of the program that has this server. */
export interface ServedTool extends Omit<Tool, "name" | "run"> {
	readonly name: string;
	run(runtime: AgentRuntime, args: unknown, call?: Call): Promise<ToolResult>;
}

/**
 * For Claude Code: it shows the first 2 KB of a result over 50,000 characters, unless it is told that more is all right; and its
 * model sees no more of a tool than the name, unless it is told to load it at once. Others do not look at these.
 */
const META = { "anthropic/maxResultSizeChars": 200_000 };
const LOADED_AT_ONCE: readonly string[] = ["terminal", "process"];

interface RuntimeTools {
	readonly tools: readonly ServedTool[];
	/** The answer to `tools/list`. */
	readonly listed: ListToolsResult;
}

const NONE: readonly ServedTool[] = [];
const known = new WeakMap<AgentRuntime, WeakMap<readonly ServedTool[], RuntimeTools>>();

/** Returns the tools of a runtime, and more of its program's. Made once: the newer protocol has a server for each request. */
export function toolsOf(runtime: AgentRuntime, more: readonly ServedTool[] = NONE): RuntimeTools {
	const ofRuntime = known.get(runtime) ?? new WeakMap<readonly ServedTool[], RuntimeTools>();
	known.set(runtime, ofRuntime);
	const found = ofRuntime.get(more) ?? make(runtime, more);
	ofRuntime.set(more, found);
	return found;
}

function make(runtime: AgentRuntime, more: readonly ServedTool[]): RuntimeTools {
	const tools = [...toolsWith(runtime.limits), ...more];
	const listed = tools.map(({ name, title, description, inputSchema, outputSchema, annotations }) => {
		const _meta = { ...META, ...(LOADED_AT_ONCE.includes(name) ? { "anthropic/alwaysLoad": true } : {}) };
		return { name, title, description, inputSchema, outputSchema, annotations, _meta };
	});
	return { tools, listed: { tools: listed as unknown as ListToolsResult["tools"] } };
}
