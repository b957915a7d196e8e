/** The core's tools on a task. Each call has an id and is kept, so that an agent that is killed finds out what became of it. */
import { HoldfastError, type PlaceObject, type Runtime, type Task, type Tool, type ToolResult, toolsWith } from "holdfast";
import { attemptId, becameOf, type Recovery } from "./became.js";
import { DOOR, SHOWN_CHARS, TASK_LIMITS } from "./limits.js";
import { outcomeOf } from "./outcome.js";
import type { AgentTool, ToolCallContext, ToolOutcome } from "./tool.js";

const READING_ACTIONS = ["list", "poll", "log", "wait", "screen"];

export interface CoreToolsOptions {
	readonly runtime: Runtime;
	/** Opened with `TASK_LIMITS`. */
	readonly task: Task;
	/** The place of calls; a conversation can move. Undefined: the task's own. */
	readonly place?: () => string | PlaceObject | undefined;
	/** As which user of its container calls run that have a place; default: the container's. */
	readonly user?: string | undefined;
	readonly now?: () => number;
	/** Commands stay in the home when their results are in the log: they are the recording of a run. */
	readonly keepRecords?: boolean;
	/** Goes before the ids of calls, where several conversations share a task: a model may count its calls from 0 in each. */
	readonly scope?: () => string;
}

export function coreTools({
	runtime,
	task,
	place = () => undefined,
	user,
	keepRecords = false,
	now = Date.now,
	scope = () => "",
}: CoreToolsOptions): AgentTool[] {
	const attempts = new Map<string, number>();
	const recovery: Recovery = { runtime, task, now, attempts };
	return toolsWith({ ...runtime.limits, ...TASK_LIMITS, outputChars: SHOWN_CHARS }).map((tool) => {
		const made = scoped(
			coreTool(tool, recovery, () => whereIn(place(), user)),
			scope,
		);
		return keepRecords ? { ...made, settle: async () => {} } : made;
	});
}

function scoped(tool: AgentTool, scope: () => string): AgentTool {
	const within = (context: ToolCallContext): ToolCallContext => ({ ...context, id: `${scope()}${context.id}` });
	return {
		...tool,
		run: (args, context) => tool.run(args, within(context)),
		became: async (args, context) => (await tool.became?.(args, within(context))) ?? { state: "never" },
		settle: async (id) => tool.settle?.(`${scope()}${id}`),
	};
}

const whereIn = (place: string | PlaceObject | undefined, user: string | undefined) =>
	place === undefined ? {} : { place, ...(user === undefined ? {} : { user }) };

function coreTool(tool: Tool, recovery: Recovery, where: () => ReturnType<typeof whereIn>): AgentTool {
	const { task, attempts } = recovery;
	const { name } = tool;
	return {
		name,
		description: tool.description,
		schema: tool.inputSchema,
		changes: !tool.annotations.readOnlyHint,
		...(name === "process" ? { onlyReads: isReading } : {}),
		async run(args, context) {
			let result: ToolResult;
			try {
				// a process is where it was started
				result = await task.call(name, args, { ...callOptions(context, recovery), ...(name === "process" ? {} : where()) });
			} catch (error) {
				if (!(error instanceof HoldfastError)) throw error;
				return failure(error); // the task was ended, or the runtime closed
			}
			return outcomeOf(task, name, args, result);
		},
		became: (args, context) => becameOf(recovery, name, args, context),
		async settle(id) {
			const attempt = attempts.get(id);
			attempts.delete(id);
			await task.settleCall(attemptId(id, attempt)).catch(() => {}); // it goes by itself after 30 days
		},
	};
}

function callOptions({ id, signal, yield: moved, progress }: ToolCallContext, { attempts }: Recovery) {
	return { id: attemptId(id, attempts.get(id)), keep: true, signal, yield: moved, door: DOOR, ...(progress ? { progress } : {}) };
}

const isReading = (args: unknown): boolean =>
	typeof args === "object" && args !== null && READING_ACTIONS.includes(String((args as { action?: unknown }).action));

const failure = ({ message }: HoldfastError): ToolOutcome => ({ text: `Error: ${message}`, failed: true });
