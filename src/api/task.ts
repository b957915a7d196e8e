/**
 * A task as a value: `await using task = runtime.task("name")`. It owns a shell, its processes, a sandbox or container, and calls under way.
 * Handles of one name in one runtime are handles of the same task: settings are given once, and the task is let go of with the last of them.
 */
import fs from "node:fs";
import path from "node:path";
import { isDeepStrictEqual } from "node:util";
import * as z from "zod";
import { aSignal, HoldfastError, type LimitsGiven, limitsSchema, parseOptions } from "../base/index.js";
import { type HoldfastEvent, streamEvents } from "../events/index.js";
import type { Notice } from "../notices/index.js";
import { isUser, type PlaceGiven, placeSchema, sharesPaths, USER_FORM } from "../places/index.js";
import { environmentSchema, type SpawnOptions, type TranscriptCommand } from "../process/index.js";
import type { EndedTask } from "../shell/index.js";
import {
	type AgentRuntime,
	type FoundCall,
	type Limits,
	limitsFrom,
	type PatchResult,
	type ProcessResult,
	type ReadFileResult,
	type SearchFilesResult,
	type TerminalResult,
	type ToolName,
	type ToolResult,
	type TransferResult,
	type WriteFileResult,
} from "../tools/index.js";
import { type DefinedTool, type DefinedToolResult, runOf } from "./define-tool.js";
import { callOf, refuseClosed, taskName } from "./options.js";
import type { Process } from "./process.js";
import { readTranscript, type TranscriptOptions } from "./records.js";
import { filesFor, type TaskFiles } from "./task-files.js";
import type { ToolArgs, ToolCallOptions, ToolResults } from "./tools.js";

export interface TaskOptions {
	/** The place of its commands: an address, a name from config.json, or an object with the kind of place and its settings. Default: the runtime's place. */
	readonly place?: PlaceGiven | undefined;
	/** The user in its container for calls that name none. Default: the container's own. */
	readonly user?: string | undefined;
	/** The directory of its first shell. On this machine it must exist. A task that had a shell before keeps that one's directory. */
	readonly cwd?: string | undefined;
	/** On top of the environment of its first shell and of what `spawn` starts; undefined removes a variable. */
	readonly env?: Readonly<Record<string, string | undefined>> | undefined;
	/** The numbers of its tools: how long calls wait, how much they show. Names that are missing have those of the runtime. */
	readonly limits?: Partial<Limits> | undefined;
	/** Limits on its use of the machine, in place of the runtime's. */
	readonly resourceLimits?: LimitsGiven | undefined;
	/** False: its results are not masked. Only for a place that is a boundary. */
	readonly mask?: boolean | undefined;
	/** The effect of the end of `await using`. `leave` (default): commands go on in the background. `end`: as `end()`. */
	readonly dispose?: "leave" | "end" | undefined;
}

export interface Task extends AsyncDisposable {
	readonly name: string;
	/** A call of a tool is under way, through whichever handle or door of this runtime. */
	readonly isBusy: boolean;
	/** When a call last began or ended in this runtime; before the first one: when the task was opened. */
	readonly lastActivity: Date;

	/** Calls a tool. Never rejects for anything a model can cause: what is wrong with `args`, or with the name, is said in the result. */
	call<N extends ToolName>(tool: N, args: ToolArgs[N], options?: ToolCallOptions): Promise<ToolResults[N]>;
	call(tool: string, args: unknown, options?: ToolCallOptions): Promise<ToolResult>;
	/** The same for a tool of `defineTool`. */
	call(tool: DefinedTool, args: unknown, options?: ToolCallOptions): Promise<DefinedToolResult>;
	terminal(args: ToolArgs["terminal"], options?: ToolCallOptions): Promise<TerminalResult>;
	process(args: ToolArgs["process"], options?: ToolCallOptions): Promise<ProcessResult>;
	readFile(args: ToolArgs["read_file"], options?: ToolCallOptions): Promise<ReadFileResult>;
	writeFile(args: ToolArgs["write_file"], options?: ToolCallOptions): Promise<WriteFileResult>;
	patch(args: ToolArgs["patch"], options?: ToolCallOptions): Promise<PatchResult>;
	searchFiles(args: ToolArgs["search_files"], options?: ToolCallOptions): Promise<SearchFilesResult>;
	upload(args: ToolArgs["upload"], options?: ToolCallOptions): Promise<TransferResult>;
	download(args: ToolArgs["download"], options?: ToolCallOptions): Promise<TransferResult>;

	/** Bytes into and out of its place, without an agent's limits. */
	readonly files: TaskFiles;

	/** Starts a process of the task that outlives this program. No rule decides about it: it is the program's command, not a model's. */
	spawn(options: Omit<SpawnOptions, "task">): Promise<Process>;
	/** Returns its processes, newest first; `ended: false` leaves out those that ended in the last half hour. */
	processes(options?: { ended?: boolean; shells?: boolean }): Process[];
	/** Yields what its background processes have to tell, as it comes. */
	notices(options?: { signal?: AbortSignal; leave?: boolean }): AsyncGenerator<Notice, void>;
	/** Yields what happens to it; with `after`, first what was missed since that event. Ends with the task, or when this handle is closed. */
	events(options?: { after?: string; signal?: AbortSignal }): AsyncGenerator<HoldfastEvent, void>;

	/** Yields its commands and processes, oldest first, from what they have left in the home: those of earlier programs too. */
	transcript(options?: TranscriptOptions): AsyncGenerator<TranscriptCommand, void>;

	/** Returns what became of a call of this task that was given an id. */
	findCall(id: string): Promise<FoundCall>;
	/** Forgets the result that was kept of such a call. */
	settleCall(id: string): Promise<void>;

	/** Ends its calls under way, as a person's Ctrl-C would: commands in the foreground are killed, waits end. Returns how many, once they have answered. */
	interrupt(): Promise<number>;
	/** Ends the task: its processes, shells and sandboxes are gone when this resolves, and the report says which. A second call returns the same report. */
	end(): Promise<EndedTask>;
	/** Lets go of the task, as the end of `await using` does. */
	close(): Promise<void>;
}

const noNul = (text: string) => !text.includes("\0");

const optionsSchema = z.strictObject({
	place: placeSchema.optional(),
	user: z.custom<string>(isUser, USER_FORM).optional(),
	cwd: z.string().min(1).refine(noNul, "cannot contain a NUL byte").optional(),
	env: environmentSchema.optional(),
	limits: z.record(z.string(), z.unknown()).optional(),
	resourceLimits: limitsSchema.optional(),
	mask: z.boolean().optional(),
	dispose: z.enum(["leave", "end"]).optional(),
});

const processesSchema = z.strictObject({ ended: z.boolean().optional(), shells: z.boolean().optional() });
const noticesSchema = z.strictObject({ signal: aSignal, leave: z.boolean().optional() });

/** The state that all handles of a task share. */
interface OpenTask {
	readonly name: string;
	readonly place: PlaceGiven | undefined;
	readonly user: string | undefined;
	readonly given: object;
	readonly opened: Date;
	handles: number;
	/** Aborts when it has ended. */
	readonly over: AbortController;
	ended?: Promise<EndedTask>;
	left?: Promise<void>;
}

const opened = new WeakMap<AgentRuntime, Map<string, OpenTask>>();

export function openTask(agent: AgentRuntime, name: string, options: TaskOptions = {}): Task {
	refuseClosed(agent);
	taskName("runtime.task", name);
	const { dispose = "leave", ...wanted } = parseOptions("runtime.task", optionsSchema, options);
	const given = Object.fromEntries(Object.entries(wanted).filter(([, value]) => value !== undefined));
	const tasks = opened.get(agent) ?? new Map<string, OpenTask>();
	opened.set(agent, tasks);
	const known = tasks.get(name);
	if (known?.ended) throw new HoldfastError("CONFLICT", `runtime.task: the task "${name}" is being ended; wait for its end() first`);
	if (known) {
		const other = Object.keys(given).find((key) => !isDeepStrictEqual(given[key as never], known.given[key as never]));
		if (other !== undefined)
			throw new HoldfastError("INVALID", `runtime.task: the task "${name}" is open with another ${other}; leave it out, or close the other handle first`);
		known.handles++;
		return new TaskHandle(agent, known, dispose);
	}
	const limits = limitsFrom({ ...agent.limits, ...wanted.limits });
	const at = agent.at(wanted.place, wanted.user);
	if (wanted.mask === false) at.checkUnmasked();
	const cwd = wanted.cwd !== undefined && sharesPaths(at.wish) ? directory(wanted.cwd) : wanted.cwd;
	agent.settings.set(name, { place: wanted.place, user: wanted.user, cwd, env: wanted.env, resourceLimits: wanted.resourceLimits, mask: wanted.mask });
	agent.services.taskLimits.set(name, limits);
	const task: OpenTask = { name, place: wanted.place, user: wanted.user, given, opened: new Date(), over: new AbortController(), handles: 1 };
	tasks.set(name, task);
	return new TaskHandle(agent, task, dispose);
}

function directory(cwd: string): string {
	const dir = path.resolve(cwd);
	if (fs.statSync(dir, { throwIfNoEntry: false })?.isDirectory()) return dir;
	throw new HoldfastError("NO_DIRECTORY", `runtime.task: there is no directory ${dir}; make it first, or give one that exists`);
}

class TaskHandle implements Task {
	readonly files: TaskFiles;
	readonly #agent: AgentRuntime;
	readonly #task: OpenTask;
	readonly #dispose: "leave" | "end";
	#closed: Promise<unknown> | undefined;
	/** Aborts when this handle is closed. */
	readonly #over = new AbortController();

	constructor(agent: AgentRuntime, task: OpenTask, dispose: "leave" | "end") {
		this.#agent = agent;
		this.#task = task;
		this.#dispose = dispose;
		const runtime = () => {
			this.#checkOpen();
			return agent.at(task.place, task.user);
		};
		this.files = filesFor({ name: task.name, runtime });
	}

	get name(): string {
		return this.#task.name;
	}

	get isBusy(): boolean {
		return this.#agent.underWay.isBusy(this.name);
	}

	get lastActivity(): Date {
		const last = this.#agent.underWay.lastActivity(this.name);
		return last === undefined ? this.#task.opened : new Date(Math.max(last, this.#task.opened.getTime()));
	}

	call<N extends ToolName>(tool: N, args: ToolArgs[N], options?: ToolCallOptions): Promise<ToolResults[N]>;
	call(tool: string, args: unknown, options?: ToolCallOptions): Promise<ToolResult>;
	call(tool: DefinedTool, args: unknown, options?: ToolCallOptions): Promise<DefinedToolResult>;
	async call(tool: string | DefinedTool, args: unknown, options?: ToolCallOptions): Promise<ToolResult> {
		this.#checkOpen();
		const run = typeof tool === "string" ? undefined : runOf(tool);
		const what = `task.${typeof tool === "string" ? tool : tool.name}`;
		const { task, ...given } = callOf(what, options);
		if (task !== undefined) throw new HoldfastError("INVALID", `${what}: the options of a task's own call cannot name a task`);
		const call = { ...given, task: this.name };
		return run ? run(this.#agent, args, call) : this.#agent.call(tool as string, args, call);
	}

	terminal(args: ToolArgs["terminal"], options?: ToolCallOptions): Promise<TerminalResult> {
		return this.call("terminal", args, options);
	}

	process(args: ToolArgs["process"], options?: ToolCallOptions): Promise<ProcessResult> {
		return this.call("process", args, options);
	}

	readFile(args: ToolArgs["read_file"], options?: ToolCallOptions): Promise<ReadFileResult> {
		return this.call("read_file", args, options);
	}

	writeFile(args: ToolArgs["write_file"], options?: ToolCallOptions): Promise<WriteFileResult> {
		return this.call("write_file", args, options);
	}

	patch(args: ToolArgs["patch"], options?: ToolCallOptions): Promise<PatchResult> {
		return this.call("patch", args, options);
	}

	searchFiles(args: ToolArgs["search_files"], options?: ToolCallOptions): Promise<SearchFilesResult> {
		return this.call("search_files", args, options);
	}

	upload(args: ToolArgs["upload"], options?: ToolCallOptions): Promise<TransferResult> {
		return this.call("upload", args, options);
	}

	download(args: ToolArgs["download"], options?: ToolCallOptions): Promise<TransferResult> {
		return this.call("download", args, options);
	}

	async spawn(options: Omit<SpawnOptions, "task">): Promise<Process> {
		this.#checkOpen();
		const given: Partial<SpawnOptions> | undefined | null = options;
		if (given?.task !== undefined) throw new HoldfastError("INVALID", "task.spawn: it starts a process of this task, so leave task out");
		const { env } = this.#agent.settings.get(this.name) ?? {};
		return this.#agent
			.at(this.#task.place, this.#task.user)
			.spawn({ ...options, task: this.name, ...(env || given?.env ? { env: { ...env, ...given?.env } } : {}) });
	}

	processes(options: { ended?: boolean; shells?: boolean } = {}): Process[] {
		return this.#agent.list({ ...(parseOptions("task.processes", processesSchema, options) as typeof options), task: this.name });
	}

	notices(options: { signal?: AbortSignal; leave?: boolean } = {}): AsyncGenerator<Notice, void> {
		return this.#agent.notices.stream(this.name, parseOptions("task.notices", noticesSchema, options) as typeof options);
	}

	transcript(options?: TranscriptOptions): AsyncGenerator<TranscriptCommand, void> {
		return readTranscript(this.#agent, "task.transcript", this.name, options);
	}

	findCall(id: string): Promise<FoundCall> {
		return this.#agent.calls.find(this.name, id);
	}

	settleCall(id: string): Promise<void> {
		return this.#agent.calls.settle(this.name, id);
	}

	events(options: { after?: string; signal?: AbortSignal } = {}): AsyncGenerator<HoldfastEvent, void> {
		this.#checkOpen();
		if (typeof options === "object" && options !== null && "task" in options)
			throw new HoldfastError("INVALID", "task.events: they are the events of this task, so leave task out");
		const given = typeof options === "object" && options !== null ? { ...options, task: this.name } : options;
		return streamEvents(this.#agent, given, AbortSignal.any([this.#over.signal, this.#task.over.signal]));
	}

	async interrupt(): Promise<number> {
		return this.#agent.underWay.interrupt(this.name);
	}

	end(): Promise<EndedTask> {
		if (this.#closed && !this.#task.ended) return Promise.reject(this.#gone());
		this.#task.ended ??= endTask(this.#agent, this.#task).finally(() => this.#task.over.abort());
		this.#closed ??= this.#task.ended;
		return this.#task.ended;
	}

	async close(): Promise<void> {
		if (this.#dispose === "end" && !this.#closed && !this.#agent.closed) await this.end();
		this.#closed ??= leave(this.#agent, this.#task);
		this.#over.abort();
		await this.#closed;
	}

	[Symbol.asyncDispose](): Promise<void> {
		return this.close();
	}

	#checkOpen(): void {
		if (this.#closed || this.#task.ended) throw this.#gone();
		refuseClosed(this.#agent);
	}

	#gone(): HoldfastError {
		const how = this.#task.ended ? "was ended" : "was let go of through this handle";
		return new HoldfastError("ENDED", `the task "${this.name}" ${how}, so nothing was done; runtime.task("${this.name}") opens it anew`);
	}
}

/** Calls under way are killed with what they run; what they start meanwhile is ended too. */
async function endTask(agent: AgentRuntime, task: OpenTask): Promise<EndedTask> {
	let report = await agent.endTask(task.name);
	if (await agent.underWay.interrupt(task.name)) {
		const rest = await agent.endTask(task.name);
		report = {
			...rest,
			processes: [...report.processes, ...rest.processes],
			shells: report.shells + rest.shells,
			sandboxes: [...report.sandboxes, ...rest.sandboxes],
			notes: [...new Set([...report.notes, ...rest.notes])],
		};
	}
	forget(agent, task);
	await agent.closeUnused();
	return report;
}

/** Commands of the task go on in the background. */
async function leave(agent: AgentRuntime, task: OpenTask): Promise<void> {
	if (--task.handles > 0 || task.ended || agent.closed) return;
	await agent.underWay.yield(task.name);
	if (task.handles > 0) return; // opened again meanwhile
	forget(agent, task);
	await agent.leaveTask(task.name);
}

function forget(agent: AgentRuntime, { name }: OpenTask): void {
	opened.get(agent)?.delete(name);
	agent.settings.delete(name);
	agent.services.taskLimits.delete(name);
}
