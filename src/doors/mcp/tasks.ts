/**
 * The tasks extension (`io.modelcontextprotocol/tasks`, newer protocol only): a client that declares it gets a handle
 * for a call that takes longer, and asks for the result when it likes. The SDK has the wire names but no such runtime.
 * Tasks live as long as this server; the commands behind them live longer, and `process(action="list")` shows those.
 */
import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import {
	type CallToolResult,
	CLIENT_CAPABILITIES_META_KEY,
	MissingRequiredClientCapabilityError,
	ProtocolError,
	ProtocolErrorCode,
	type Server,
	type ServerContext,
} from "@modelcontextprotocol/server";
import * as z from "zod";
import type { AgentRuntime, ToolResult } from "../../tools/index.js";
import { ANSWER_MS, type Caller, isGone, resultOf } from "./call.js";
import { AS_TASK, cancellation } from "./cancel.js";

export const TASKS = "io.modelcontextprotocol/tasks";

const LOOK_S = 60; // a wait of ours at a time
const TTL_MS = 3_600_000;
const POLL_MS = 2_000;
const MOST_ENDED = 256;

interface CallTask {
	readonly id: string;
	readonly owner: string;
	readonly createdAt: number;
	readonly stop: AbortController;
	updatedAt: number;
	message?: string;
	end?: { status: "completed"; result: CallToolResult } | { status: "failed"; error: { code: number; message: string } } | { status: "cancelled" };
}

type Work = (call: { signal: AbortSignal; yield: AbortSignal; progress: (message: string) => void; gone: () => boolean }) => Promise<CallToolResult>;

export class CallTasks {
	/** A call that is done by then is answered as if there were no tasks. */
	readonly #quickMs: number;
	readonly #tasks = new Map<string, CallTask>();

	constructor(options: { quickMs?: number } = {}) {
		this.#quickMs = options.quickMs ?? ANSWER_MS;
	}

	/**
	 * The result of the work, or a task that will have it. A command that becomes a task moves to the background, as at its deadline:
	 * so the shell is free for the next one, and keeps its state.
	 */
	async run({ runtime, task: owner }: Pick<Caller, "runtime" | "task">, context: ServerContext, work: Work): Promise<CallToolResult> {
		const now = Date.now();
		const task: CallTask = { id: randomUUID(), owner, createdAt: now, updatedAt: now, stop: new AbortController() };
		const { interrupted, timedOut } = cancellation(context.mcpReq.signal);
		const stop = () => task.stop.abort(interrupted.reason);
		const leave = new AbortController();
		interrupted.addEventListener("abort", stop);
		timedOut.addEventListener("abort", () => leave.abort(timedOut.reason), { once: true });
		const done = work({
			signal: task.stop.signal,
			yield: leave.signal,
			gone: () => this.#tasks.has(task.id) || isGone(context), // the client may never ask for the result of a task; notices come with a result that certainly arrives
			progress: (message) => {
				task.message = message;
				task.updatedAt = Date.now();
			},
		});
		const decided = new AbortController();
		const slow = sleep(this.#quickMs, undefined, { signal: decided.signal }).catch(() => undefined);
		const quick = await Promise.race([done, slow]).finally(() => decided.abort());
		interrupted.removeEventListener("abort", stop); // from now on `tasks/cancel` is the way to stop it
		if (quick) return quick;
		this.#tasks.set(task.id, task);
		this.#forget();
		leave.abort(AS_TASK);
		void this.#finish(task, runtime, done);
		return { resultType: "task", ...shown(task) } as unknown as CallToolResult; // the SDK's types know no other kind of result
	}

	get(owner: string, id: string): Record<string, unknown> {
		return shown(this.#find(owner, id));
	}

	cancel(owner: string, id: string): void {
		this.#find(owner, id).stop.abort("cancelled by the client");
	}

	async #finish(task: CallTask, runtime: AgentRuntime, done: Promise<CallToolResult>): Promise<void> {
		try {
			const result = await untilEnd(runtime, task, await done);
			task.end = task.stop.signal.aborted ? { status: "cancelled" } : { status: "completed", result };
		} catch (error) {
			task.end = { status: "failed", error: { code: ProtocolErrorCode.InternalError, message: (error as Error).message } };
		}
		task.updatedAt = Date.now();
	}

	#find(owner: string, id: string): CallTask {
		this.#forget();
		const task = this.#tasks.get(id);
		if (task?.owner !== owner) throw new ProtocolError(ProtocolErrorCode.InvalidParams, `there is no task ${id} (any more)`);
		return task;
	}

	/** Removes ended tasks after their time, or when there are too many, oldest first. */
	#forget(): void {
		const ended = [...this.#tasks.values()].filter((task) => task.end);
		for (const [index, task] of ended.entries()) if (Date.now() - task.createdAt > TTL_MS || index < ended.length - MOST_ENDED) this.#tasks.delete(task.id);
	}
}

/** Waits until a background command ends or waits for input, and returns that result. Returns any other result as it is. */
async function untilEnd(runtime: AgentRuntime, task: CallTask, result: CallToolResult): Promise<CallToolResult> {
	const { status, session_id } = (result.structuredContent ?? {}) as { status?: string; session_id?: string };
	if (status !== "running" || session_id === undefined) return result;
	const { owner, stop } = task;
	const call = { task: owner, door: "mcp", gone: () => true }; // the client may never ask for it
	task.message = `it runs in the background as ${session_id}`;
	const until = runtime.get(session_id).spec.terminal ? { input: true } : {};
	for (;;) {
		const waited = await runtime.process({ action: "wait", session_id, timeout: LOOK_S, until }, { ...call, signal: stop.signal });
		if (stop.signal.aborted) await runtime.process({ action: "kill", session_id }, call);
		const { matched: _, match: _match, byte_offset: _offset, uptime_seconds: _up, timed_out, ...rest } = waited;
		if (!timed_out) return resultOf(rest as ToolResult);
		task.updatedAt = Date.now();
	}
}

export function declaresTasks(context: ServerContext): boolean {
	const envelope = context.mcpReq.envelope as { [CLIENT_CAPABILITIES_META_KEY]?: { extensions?: Record<string, unknown> } } | undefined;
	return envelope?.[CLIENT_CAPABILITIES_META_KEY]?.extensions?.[TASKS] !== undefined;
}

export function serveTasks(server: Server, tasks: CallTasks, owner: string): void {
	const params = z.looseObject({ taskId: z.string() });
	const declared = (context: ServerContext) => {
		if (!declaresTasks(context)) throw new MissingRequiredClientCapabilityError({ requiredCapabilities: { extensions: { [TASKS]: {} } } });
	};
	server.setRequestHandler("tasks/get", { params }, ({ taskId }, context) => {
		declared(context);
		return tasks.get(owner, taskId);
	});
	server.setRequestHandler("tasks/cancel", { params }, ({ taskId }, context) => {
		declared(context);
		tasks.cancel(owner, taskId);
		return {};
	});
	// Tasks of ours never ask for anything, so there is nothing an update could answer.
	server.setRequestHandler("tasks/update", { params }, ({ taskId }, context) => {
		declared(context);
		tasks.get(owner, taskId);
		return {};
	});
}

function shown(task: CallTask): Record<string, unknown> {
	return {
		taskId: task.id,
		status: "working",
		...(task.message === undefined || task.end ? {} : { statusMessage: task.message }), // of how it goes
		createdAt: new Date(task.createdAt).toISOString(),
		lastUpdatedAt: new Date(task.updatedAt).toISOString(),
		ttlMs: TTL_MS,
		pollIntervalMs: POLL_MS,
		...task.end,
	};
}
