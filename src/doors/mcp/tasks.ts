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
import { cancellation, isGone } from "./call.js";

export const TASKS = "io.modelcontextprotocol/tasks";

/** A call that is done by then is answered as if there were no tasks. */
const QUICK_MS = 5_000;
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

type Work = (call: { signal: AbortSignal; progress: (message: string) => void; gone: () => boolean }) => Promise<CallToolResult>;

export class CallTasks {
	readonly #quickMs: number;
	readonly #tasks = new Map<string, CallTask>();

	constructor(options: { quickMs?: number } = {}) {
		this.#quickMs = options.quickMs ?? QUICK_MS;
	}

	/** The result of the work, or a task that will have it. */
	async run(owner: string, context: ServerContext, work: Work): Promise<CallToolResult> {
		const now = Date.now();
		const task: CallTask = { id: randomUUID(), owner, createdAt: now, updatedAt: now, stop: new AbortController() };
		const taken = cancellation(context.mcpReq.signal);
		const stop = () => task.stop.abort(taken.reason);
		taken.addEventListener("abort", stop);
		const done = work({
			signal: task.stop.signal,
			gone: () => this.#tasks.has(task.id) || isGone(context), // whether anybody asks for the result of a task is not sure; news come with a result that is
			progress: (message) => {
				task.message = message;
				task.updatedAt = Date.now();
			},
		});
		const decided = new AbortController();
		const slow = sleep(this.#quickMs, undefined, { signal: decided.signal }).catch(() => undefined);
		const quick = await Promise.race([done, slow]).finally(() => decided.abort());
		taken.removeEventListener("abort", stop); // from now on `tasks/cancel` is the way to stop it
		if (quick) return quick;
		this.#tasks.set(task.id, task);
		this.#forget();
		void this.#finish(task, done);
		return { resultType: "task", ...shown(task) } as unknown as CallToolResult; // the SDK's types know no other kind of result
	}

	get(owner: string, id: string): Record<string, unknown> {
		return shown(this.#find(owner, id));
	}

	cancel(owner: string, id: string): void {
		this.#find(owner, id).stop.abort("cancelled by the client");
	}

	async #finish(task: CallTask, done: Promise<CallToolResult>): Promise<void> {
		try {
			const result = await done;
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

	/** What has ended goes after its time, or when there is too much of it, oldest first. */
	#forget(): void {
		const ended = [...this.#tasks.values()].filter((task) => task.end);
		for (const [index, task] of ended.entries()) if (Date.now() - task.createdAt > TTL_MS || index < ended.length - MOST_ENDED) this.#tasks.delete(task.id);
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
