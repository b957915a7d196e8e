import type { ListToolsResult } from "@modelcontextprotocol/server";
import { type AgentRuntime, type Tool, toolsWith } from "../../tools/index.js";

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
		return { name, title, description, inputSchema, outputSchema, annotations };
	});
	return { tools, listed: { tools: listed } as ListToolsResult };
}
