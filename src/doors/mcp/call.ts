/** Handles a tools/call: the client's progress token and cancellation become a `Call`, and the result becomes MCP's. */
import type { CallToolResult, InputRequiredResult, ServerContext } from "@modelcontextprotocol/server";
import { type AgentRuntime, type Call, renderResult, type ToolResult } from "../../tools/index.js";
import { announceDuring } from "./announce.js";
import { type Asking, askThrough, questionFor, takeAnswers } from "./approve.js";
import type { ConnectionCalls } from "./calls.js";
import { cancellation, leftNote, patienceOf } from "./cancel.js";
import { reportProgress } from "./progress.js";
import type { ServedTool } from "./tools.js";

/** Answers are sent within 50 s, since clients give up after 60; a busy machine was seen to take 2.5 s for the last step. */
export const ANSWER_MS = 45_000;

export interface Caller {
	readonly runtime: AgentRuntime;
	readonly task: string;
	readonly calls: ConnectionCalls;
	/** How long a call without a progress token may take. */
	readonly answerMs: number;
	/** Returns the client's name for itself. */
	readonly client?: (context: ServerContext) => string | undefined;
	/** How a person can be asked through this client; undefined when it cannot. */
	readonly asking?: (context: ServerContext) => Asking | undefined;
}

export async function callTool(caller: Caller, tool: ServedTool, args: unknown, context: ServerContext): Promise<CallToolResult | InputRequiredResult> {
	const since = performance.now();
	const progress = reportProgress(context);
	const within = progress ? patienceOf(caller.client?.(context)) : caller.answerMs;
	const { interrupted, timedOut } = cancellation(context.mcpReq.signal, since);
	const call = {
		signal: interrupted,
		yield: timedOut,
		gone: () => isGone(context) || timedOut.aborted,
		...(progress ? { progress: progress.say } : {}),
		...(within === undefined ? {} : { due: since + within }),
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

interface DoorCall extends Omit<Call, "task" | "within"> {
	readonly signal: AbortSignal;
	readonly yield: AbortSignal;
	/** The deadline for the answer, on the clock of `performance`. */
	readonly due?: number;
}

export function runTool(caller: Caller, tool: ServedTool, args: unknown, call: DoorCall): Promise<CallToolResult> {
	const { runtime, task, calls } = caller;
	const { due, ...rest } = call;
	const moves = tool.name === "terminal"; // whatever else a client has no time for ends, and loses nothing
	const signal = moves ? call.signal : AbortSignal.any([call.signal, call.yield]);
	return calls.run(task, [call.signal, call.yield], async () => {
		const within = due === undefined ? {} : { within: Math.max(1, Math.floor(due - performance.now())) };
		const notes = calls.takeNotes(task); // before it runs: they are about what was there before
		const result = withNotes(await tool.run(runtime, args ?? {}, { ...rest, signal, ...within, task, door: "mcp" }), notes);
		if (call.yield.aborted && result.status === "running" && result.session_id !== undefined) {
			const text = leftNote(result.session_id, call.yield);
			calls.note(task, () => [text]);
		}
		return resultOf(result);
	});
}

export function resultOf(given: ToolResult): CallToolResult {
	const { images = [], ...result } = "images" in given ? given : { ...given, images: undefined };
	return {
		content: [{ type: "text", text: renderResult(given) }, ...images.map(({ type, data }) => ({ type: "image" as const, mimeType: type, data }))],
		structuredContent: result,
		...(isFailure(given) ? { isError: true } : {}),
	};
}

const withNotes = (result: ToolResult, notes: readonly string[]): ToolResult =>
	notes.length === 0 ? result : { ...result, note: [...notes, ...(result.note === undefined ? [] : [result.note])].join("\n") };

/** Nothing ran. A command that ended with some exit code did. */
const isFailure = ({ status }: ToolResult): boolean => status === "error" || status === "not_found" || status === "blocked";

/** The client waits for the answer no longer, as far as can be told. */
export const isGone = ({ http }: ServerContext): boolean => http?.req?.signal.aborted === true;
