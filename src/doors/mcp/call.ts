/** One tools/call: what the client says around it (a progress token, a cancellation) becomes a `Call`, and the result becomes MCP's. */
import { type CallToolResult, type InputRequiredResult, SdkError, SdkErrorCode, type ServerContext } from "@modelcontextprotocol/server";
import { type AgentRuntime, type Call, renderResult, type Tool, type ToolResult } from "../../tools/index.js";
import { announceDuring } from "./announce.js";
import { type Asking, askThrough, questionFor, takeAnswers } from "./approve.js";
import type { Calls } from "./calls.js";
import { reportProgress } from "./progress.js";

/** It is to be there within 50 s, since clients give up after 60; a busy machine was seen to take 2.5 s for the last step. */
export const ANSWER_MS = 45_000;

export interface Caller {
	readonly runtime: AgentRuntime;
	readonly task: string;
	readonly calls: Calls;
	/** How long a call without a progress token may take. */
	readonly answerMs: number;
	/** How a person can be asked through this client; undefined when it cannot. */
	readonly asking?: (context: ServerContext) => Asking | undefined;
}

export async function callTool(caller: Caller, tool: Tool, args: unknown, context: ServerContext): Promise<CallToolResult | InputRequiredResult> {
	const due = performance.now() + caller.answerMs;
	const progress = reportProgress(context);
	const call = {
		signal: cancellation(context.mcpReq.signal),
		gone: () => isGone(context),
		...(progress ? { progress: progress.say } : { due }),
	};
	const silence = announceDuring(context, caller.runtime, caller.task);
	return asking(caller, context, (more) => runTool(caller, tool, args, { ...call, ...more })).finally(() => {
		progress?.end();
		silence();
	});
}

/** A call for which a person may have to be asked: in the older protocol meanwhile, in the newer one between two calls. */
export async function asking(
	{ runtime, task, ...caller }: Caller,
	context: ServerContext,
	run: (more: Pick<Call, "approver" | "asksLater">) => Promise<CallToolResult>,
): Promise<CallToolResult | InputRequiredResult> {
	const how = caller.asking?.(context);
	if (how === undefined) return run({});
	if (how.when === "meanwhile") return run({ approver: askThrough(context, how) });
	const unanswered = await takeAnswers(runtime.approvals, task, context);
	if (unanswered) return run({ approver: async () => unanswered });
	const result = await run({ asksLater: true });
	return questionFor(runtime.approvals, result, how) ?? result;
}

/** `due`: by when it must be answered, on the clock of `performance`. */
export function runTool(
	caller: Caller,
	tool: Tool,
	args: unknown,
	call: Omit<Call, "task" | "within"> & { signal: AbortSignal; due?: number },
): Promise<CallToolResult> {
	const { runtime, task, calls } = caller;
	const { due, ...rest } = call;
	return calls.run(task, call.signal, async () => {
		const within = due === undefined ? {} : { within: Math.max(1, Math.floor(due - performance.now())) };
		const result = await tool.run(runtime, args ?? {}, { ...rest, ...within, task, door: "mcp" });
		return { content: [{ type: "text", text: renderResult(result) }], structuredContent: result, ...(isFailure(result) ? { isError: true } : {}) };
	});
}

/** It never ran. A command that ended with some exit code did. */
const isFailure = ({ status }: ToolResult): boolean => status === "error" || status === "not_found" || status === "blocked";

/** Nobody waits for the answer any more, as far as can be told. */
export const isGone = ({ http }: ServerContext): boolean => http?.req?.signal.aborted === true;

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
