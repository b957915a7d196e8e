import type { ListToolsResult } from "@modelcontextprotocol/server";
import { type AgentRuntime, type Tool, toolsWith } from "../../tools/index.js";

/**
 * For Claude Code: it shows the first 2 KB of a result over 50,000 characters, unless it is told that more is all right; and its
 * model sees no more of a tool than the name, unless it is told to load it at once. Others do not look at these.
 */
const META = { "anthropic/maxResultSizeChars": 200_000 };
const LOADED_AT_ONCE: readonly string[] = ["terminal", "process"];

interface RuntimeTools {
	readonly tools: readonly Tool[];
	/** As `tools/list` answers. */
	readonly listed: ListToolsResult;
}

const known = new WeakMap<AgentRuntime, RuntimeTools>();

/** The tools of a runtime. Made once: the newer protocol has a server for each request. */
export function toolsOf(runtime: AgentRuntime): RuntimeTools {
	const found = known.get(runtime) ?? make(runtime);
	known.set(runtime, found);
	return found;
}

function make(runtime: AgentRuntime): RuntimeTools {
	const tools = toolsWith(runtime.limits);
	const listed = tools.map(({ name, title, description, inputSchema, outputSchema, annotations }) => {
		const _meta = { ...META, ...(LOADED_AT_ONCE.includes(name) ? { "anthropic/alwaysLoad": true } : {}) };
		return { name, title, description, inputSchema, outputSchema, annotations, _meta };
	});
	return { tools, listed: { tools: listed as unknown as ListToolsResult["tools"] } };
}
