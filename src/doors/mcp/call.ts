/** One tools/call: what the client says around it (a progress token, a cancellation) becomes a `Call`, and the result becomes MCP's. */
import { type CallToolResult, SdkError, SdkErrorCode, type ServerContext } from "@modelcontextprotocol/server";
import { type AgentRuntime, type Call, renderResult, type Tool, type ToolResult } from "../../tools/index.js";
import { reportProgress } from "./progress.js";

/** Clients give up after 60 s unless they asked for progress; a margin is left for what a loaded machine does to the last step. */
export const ANSWER_MS = 48_000;

export interface CallOptions {
	readonly task: string;
	/** How long a call without a progress token may take. */
	readonly answerMs: number;
}

export async function callTool(runtime: AgentRuntime, tool: Tool, args: unknown, context: ServerContext, options: CallOptions): Promise<CallToolResult> {
	const progress = reportProgress(context);
	try {
		return await runTool(runtime, tool, args, {
			task: options.task,
			signal: cancellation(context.mcpReq.signal),
			...(progress ? { progress: progress.say } : { within: options.answerMs }),
		});
	} finally {
		progress?.end();
	}
}

export async function runTool(runtime: AgentRuntime, tool: Tool, args: unknown, call: Call): Promise<CallToolResult> {
	const result = await tool.run(runtime, args ?? {}, call);
	return {
		content: [{ type: "text", text: renderResult(result) }],
		structuredContent: result,
		...(isFailure(result) ? { isError: true } : {}),
	};
}

/** It never ran. A command that ended with some exit code did. */
const isFailure = ({ status }: ToolResult): boolean => status === "error" || status === "not_found" || status === "blocked";

/** Aborts when the client takes its request back. A connection that is gone takes nothing back: what runs goes on. */
export function cancellation(request: AbortSignal): AbortSignal {
	const cancelled = new AbortController();
	const look = () => {
		const gone = request.reason instanceof SdkError && request.reason.code === SdkErrorCode.ConnectionClosed;
		if (!gone) cancelled.abort(request.reason);
	};
	if (request.aborted) look();
	else request.addEventListener("abort", look, { once: true });
	return cancelled.signal;
}
