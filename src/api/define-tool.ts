/** `defineTool`: a tool of another program, with the same gate as ours: arguments in words, rules, audit, masking, bounds, a deadline. */
import { randomUUID } from "node:crypto";
import * as z from "zod";
import { HoldfastError, parseOptions } from "../base/index.js";
import type { Redactor } from "../base/secrets/index.js";
import {
	type AgentRuntime,
	type Ask,
	answer,
	approve,
	type Call,
	CommandGate,
	deadlineOf,
	doorOf,
	filesOfTask,
	type JsonSchema,
	jsonSchema,
	type OwnResult,
	ownOutput,
	parseArguments,
	Refused,
	shortened,
	type TerminalArgs,
	type TerminalResult,
	TOOL_NAMES,
} from "../tools/index.js";
import { agentOf } from "./agent.js";
import { callOf } from "./options.js";
import type { Runtime } from "./runtime.js";
import { filesFor, type TaskFiles } from "./task-files.js";
import { failed, over, resultOf } from "./tool-result.js";
import type { RuntimeCallOptions, Tool, ToolCallOptions } from "./tools.js";

/** The second argument of a tool's `run`, beside its arguments. */
export interface ToolContext {
	/** The name of the task whose call it is. */
	readonly task: string;
	/** The display name of the place of its commands. */
	readonly place: string;
	/** Aborts when the call is interrupted, and at its deadline. A tool that goes on all the same is not waited for. */
	readonly signal: AbortSignal;
	readonly deadline: Date;
	/** Files of the task's place. */
	readonly files: TaskFiles;
	/** Runs a command in the task's shell, as the tool of that name does: rules decide about it, and its result is masked. */
	terminal(args: TerminalArgs, options?: Pick<ToolCallOptions, "signal">): Promise<TerminalResult>;
	/** Asks a person whether something may be done. Returns if they say yes; throws otherwise, and the result says why if the tool lets it through. */
	ask(question: { readonly text: string; readonly reason: string }): Promise<void>;
	/** Tells the caller how far it is, in words for people. */
	progress(message: string): void;
}

/** A result of a tool that is no string. */
export interface ToolAnswer {
	/** Text for the model. Default: `data` as JSON. */
	readonly output?: string | undefined;
	/** Data for programs, and for doors that carry more than text. JSON must be able to hold it. */
	readonly data?: Readonly<Record<string, unknown>> | undefined;
	/** Makes the result an error: the failure, and what to do next. */
	readonly error?: string | undefined;
	/** Something else that the model should know. */
	readonly note?: string | undefined;
	/** Pictures for a model that takes them, as base64: up to 5,000,000 characters together. MCP shows them; a door that carries text alone does not. */
	readonly images?: readonly { readonly type: "image/png" | "image/jpeg" | "image/webp"; readonly data: string }[] | undefined;
}

export interface ToolDefinition<S extends z.ZodObject = z.ZodObject> {
	/** 1 to 64 characters of a-z, 0-9 and `_`, and none of our own tools'. */
	readonly name: string;
	readonly title?: string | undefined;
	/** The description for the model. */
	readonly description: string;
	/** The arguments, as an object of zod 4. What a model gets wrong is said to it in words; `run` gets what has passed. */
	readonly schema: S;
	/** False: it only looks. Default true. */
	readonly changes?: boolean | undefined;
	/** Seconds that a call may take. Default: as for `terminal`. */
	readonly timeout?: number | undefined;
	/** Returns shell text that does the same, as far as rules are concerned: they decide about it, and a person may be asked. */
	readonly asCommand?: ((args: z.infer<S>) => string) | undefined;
	run(args: z.infer<S>, context: ToolContext): Promise<string | ToolAnswer> | string | ToolAnswer;
}

export type DefinedToolResult = OwnResult;

/** A tool that `defineTool` has made: for `task.call`, `toolsWith` and `holdfast/mcp`. */
export interface DefinedTool extends Omit<Tool, "name" | "run"> {
	readonly name: string;
	/** Never rejects for anything a model or the tool itself can cause: that is said in the result. */
	run(runtime: Runtime, args: unknown, options?: RuntimeCallOptions): Promise<DefinedToolResult>;
}

const definition = z.strictObject({
	name: z.string().regex(/^[a-z][a-z0-9_]{0,63}$/, "must be 1 to 64 characters of a-z, 0-9 and _, and begin with a letter"),
	title: z.string().min(1).max(200).optional(),
	description: z.string().min(1).max(20_000),
	schema: z.custom<z.ZodObject>(isZodObject, "must be an object of zod 4: z.object({ … })"),
	changes: z.boolean().optional(),
	timeout: z.number().int().min(1).max(86_400).optional(),
	asCommand: z.custom<(args: unknown) => string>((value) => typeof value === "function", "must be a function").optional(),
	run: z.custom<ToolDefinition["run"]>((value) => typeof value === "function", "must be a function"),
});

function isZodObject(value: unknown): boolean {
	const schema = value as { safeParse?: unknown; _zod?: { def?: { type?: unknown } } } | undefined;
	return typeof schema?.safeParse === "function" && schema._zod?.def?.type === "object";
}

type RunIn = (agent: AgentRuntime, args: unknown, call: Call) => Promise<OwnResult>;
const inner = new WeakMap<DefinedTool, RunIn>();

/** Returns what runs it in a runtime of ours. Throws unless `defineTool` has made it. */
export function runOf(tool: DefinedTool): RunIn {
	const run = typeof tool === "object" && tool !== null ? inner.get(tool) : undefined;
	if (!run) throw new HoldfastError("INVALID", "this takes a tool that defineTool() of this copy of holdfast has returned");
	return run;
}

/** Makes a tool. Throws INVALID if its name is one of ours, or something in it cannot be used. */
export function defineTool<S extends z.ZodObject>(given: ToolDefinition<S>): DefinedTool {
	const wanted = parseOptions("defineTool", definition, given);
	const { name, title = name, description, schema, changes = true } = wanted;
	if (TOOL_NAMES.includes(name)) throw new HoldfastError("INVALID", `defineTool: ${name} is a tool of Holdfast's own; choose another name`);
	let inputSchema: JsonSchema;
	try {
		inputSchema = jsonSchema(schema);
	} catch (error) {
		throw new HoldfastError("INVALID", `defineTool: the schema of ${name} has something that a model cannot be shown (${(error as Error).message})`, {
			cause: error,
		});
	}
	const run: RunIn = (agent, args, call) => agent.onPlace(name, call, (runtime) => runTool(runtime, wanted as unknown as ToolDefinition, args, call));
	const tool: DefinedTool = {
		name,
		title,
		description,
		input: schema,
		output: ownOutput._zod.innerType,
		inputSchema,
		get outputSchema() {
			return jsonSchema(ownOutput._zod.innerType);
		},
		annotations: { readOnlyHint: !changes, destructiveHint: changes, idempotentHint: !changes, openWorldHint: true },
		run: async (runtime, args, options) => run(agentOf(runtime), args, callOf(name, options)),
	};
	inner.set(tool, run);
	return tool;
}

/** Throws if two of them, or one of them and one of ours, have the same name. */
export function checkNames(tools: readonly DefinedTool[]): void {
	if (!Array.isArray(tools)) throw new HoldfastError("INVALID", "tools: this takes a list of tools that defineTool() has returned");
	for (const [at, tool] of tools.entries()) {
		runOf(tool);
		if (tools.findIndex(({ name }) => name === tool.name) !== at) throw new HoldfastError("INVALID", `two of the tools are called ${tool.name}; rename one`);
	}
}

const GRACE_MS = 250; // for a tool that was told to stop
const MARGIN_MS = 500; // of what a door has: for the way back

function runTool(runtime: AgentRuntime, tool: ToolDefinition, args: unknown, call: Call): Promise<OwnResult> {
	const act = async (ask: Ask): Promise<OwnResult> => {
		const { wanted } = ofTheProgram(tool, "schema", () => parseArguments(tool.name, tool.schema, args, ask.notes));
		if (ask.signal.aborted) throw new HoldfastError("ABORTED", "interrupted before it began; nothing was done");
		const basis = await allowed(ask, runtime, tool, wanted);
		const run = `run_${randomUUID().replaceAll("-", "").slice(0, 12)}`;
		const about = {
			event: "tool",
			run,
			tool: tool.name,
			place: runtime.placeName,
			by: doorOf(ask),
			...(call.id === undefined ? {} : { call: call.id }),
		} as const;
		if (!runtime.audit.record(ask.task, { ...about, command: `${tool.name} ${textOf(runtime.home.secrets, wanted)}`, ...basis }))
			ask.notes.push("The disk is full, so this is not in the audit.");
		if (tool.changes !== false) ask.record?.effect({ act: tool.name }); // if this program dies now, it is unknown what the tool did
		const began = performance.now();
		const result = await inTime(ask, runtime, tool, wanted);
		const duration_ms = Math.round(performance.now() - began);
		runtime.audit.note(ask.task, { ...about, status: result.status, duration_ms });
		return { ...result, duration_ms };
	};
	return answer<OwnResult>(runtime, call, act, { tool: tool.name });
}

/** Calls a part of the definition. What that throws is the fault of the program, not of the arguments. */
function ofTheProgram<T>(tool: ToolDefinition, part: "schema" | "asCommand", act: () => T): T {
	try {
		return act();
	} catch (error) {
		if (error instanceof HoldfastError || error instanceof Refused) throw error;
		const why = error instanceof Error ? error.message : String(error);
		throw new HoldfastError("INVALID", `${part} of the tool ${tool.name} failed (${why}), so nothing was done; this is for the program that defines it`, {
			cause: error,
		});
	}
}

/** Lets the rules decide about the command that the tool stands for. */
async function allowed(ask: Ask, runtime: AgentRuntime, tool: ToolDefinition, args: unknown): Promise<CommandGate["basis"]> {
	if (!tool.asCommand) return {};
	const { asCommand } = tool;
	const command = ofTheProgram(tool, "asCommand", () => asCommand(args as never));
	if (typeof command !== "string" || command.trim() === "")
		throw new HoldfastError(
			"INVALID",
			`asCommand of the tool ${tool.name} did not return shell text, so nothing was done; this is for the program that defines it`,
		);
	const { resolve } = await filesOfTask(runtime, ask.task, ask.signal);
	const gate = await CommandGate.of(ask, `${command} # ${tool.name}`, tool.name);
	await gate.through(async () => gate.check(resolve(".")));
	return gate.basis;
}

/** Waits for the tool, but no longer than its time, and not for one that goes on after it was told to stop. */
async function inTime(ask: Ask, runtime: AgentRuntime, tool: ToolDefinition, args: unknown): Promise<OwnResult> {
	const { timeout } = ask.limits;
	const deadline = deadlineOf(tool.timeout, { default: timeout, most: tool.timeout ?? timeout }, ask);
	const ms = Math.max(1, deadline.ms === deadline.wantedMs ? deadline.ms : deadline.ms - MARGIN_MS);
	const late = new AbortController();
	const timer = setTimeout(() => late.abort(new HoldfastError("LIMIT", "the time of this call is up")), ms);
	const signal = AbortSignal.any([ask.signal, late.signal]);
	const work = (async () => tool.run(args as never, contextOf(ask, runtime, tool, { signal, at: new Date(Date.now() + ms) })))();
	work.catch(() => {}); // it is looked at below, or comes too late
	const stopped = (how: string) => `${tool.name} ${how}; it was told to stop`;
	const seconds = Math.round(ms / 100) / 10;
	try {
		const answered = await Promise.race([work.then((value) => ({ value })), untilStopped(signal)]);
		if (answered !== "stopped") return resultOf(ask, tool, answered.value);
	} catch (error) {
		if (error instanceof Refused) throw error;
		if (!signal.aborted) return failed(runtime.home.secrets, tool, error);
		if (late.signal.aborted && !ask.signal.aborted) return over("timeout", `${stopped(`did not finish within ${seconds} s`)} and has stopped`);
		return over("interrupted", `${stopped("was interrupted")} and has stopped`);
	} finally {
		clearTimeout(timer);
	}
	const why = ask.signal.aborted ? stopped("was interrupted") : stopped(`did not finish within ${seconds} s`);
	return over(ask.signal.aborted ? "interrupted" : "timeout", `${why}, but has not answered, so it may still be at work: look before you call it again`);
}

async function untilStopped(signal: AbortSignal): Promise<"stopped"> {
	await new Promise<void>((resolve) => {
		const stop = () => setTimeout(resolve, GRACE_MS); // referenced: a program that has nothing else to do waits for this answer
		if (signal.aborted) stop();
		else signal.addEventListener("abort", stop, { once: true });
	});
	return "stopped";
}

function contextOf(ask: Ask, agent: AgentRuntime, tool: ToolDefinition, { signal, at }: { signal: AbortSignal; at: Date }): ToolContext {
	const { task, call } = ask;
	const runtime = () => agent;
	return {
		task,
		place: agent.placeName,
		signal,
		deadline: at,
		files: filesFor({ name: task, runtime, signal }),
		terminal: (args, options = {}) =>
			agent.terminal(args, {
				task,
				...(call.place === undefined ? {} : { place: call.place }),
				...(call.user === undefined ? {} : { user: call.user }),
				signal: options.signal ? AbortSignal.any([signal, options.signal]) : signal,
				within: Math.max(1, at.getTime() - Date.now()),
				door: `${doorOf(ask)} ${tool.name}`,
				...(call.approver ? { approver: call.approver } : {}),
				...(call.asksLater === undefined ? {} : { asksLater: call.asksLater }),
			}),
		ask: async (question) => {
			const given = parseOptions(`the question of ${tool.name} to a person`, questionSchema, question);
			const { resolve } = await filesOfTask(agent, task, signal);
			await approve(ask, { ...given, tool: tool.name, cwd: resolve(".") }, signal);
		},
		progress: (message) => call.progress?.(String(message).slice(0, 1_000)),
	};
}

const questionSchema = z.strictObject({ text: z.string().min(1).max(20_000), reason: z.string().min(1).max(1_000) });

const ARGUMENTS = 4_096;

const textOf = (secrets: Redactor, args: unknown): string => {
	try {
		return shortened(secrets, JSON.stringify(args), ARGUMENTS).text;
	} catch {
		return "";
	}
};
