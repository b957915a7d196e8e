/** The library's front door: one program's view of a home. */
import * as z from "zod";
import { aSignal, HoldfastError, parseOptions } from "../base/index.js";
import { type EventOptions, type HoldfastEvent, streamEvents } from "../events/index.js";
import type { PlaceObject } from "../places/index.js";
import {
	type Check,
	clean,
	diagnose,
	listSandboxes,
	type Orphan,
	type RuntimeOptions as ProcessRuntimeOptions,
	type PruneResult,
	pruneSandboxes,
	runtimeSchema,
	type SandboxList,
	type SpawnOptions,
	stopSandbox,
	type TranscriptCommand,
} from "../process/index.js";
import type { EndedTask } from "../shell/index.js";
import {
	type AgentRuntime,
	type Limits,
	openAgentRuntime,
	type PatchResult,
	type ProcessResult,
	type ReadFileResult,
	type SearchFilesResult,
	type TerminalResult,
	type TransferResult,
	type WriteFileResult,
} from "../tools/index.js";
import { showAs } from "./agent.js";
import { callOf, refuseClosed, taskName } from "./options.js";
import type { Process } from "./process.js";
import { readTranscript, type TranscriptOptions } from "./records.js";
import { openTask, type Task, type TaskOptions } from "./task.js";
import type { RuntimeCallOptions } from "./tools.js";
import {
	type ApprovalsView,
	approvalsView,
	type Calls,
	type KeyboardsView,
	keyboardsView,
	type LinksView,
	linksView,
	type NoticesView,
	noticesView,
	type SudoView,
	sudoView,
} from "./views.js";

export interface RuntimeOptions extends Omit<ProcessRuntimeOptions, "tools"> {
	/** The numbers of the tools: how long calls wait, how much they show. */
	readonly limits?: Partial<Limits> | undefined;
}

export interface ListOptions {
	/** Only this task; default: the runtime's own. `null`: every task. */
	readonly task?: string | null | undefined;
	/** Also those that ended in the last half hour. Default true. */
	readonly ended?: boolean | undefined;
	/** Also the persistent shells of tasks. Default false. */
	readonly shells?: boolean | undefined;
}

/** The abilities of this machine that Holdfast needs, and the orphans of crashes in a home. */
export interface Diagnosis {
	readonly checks: readonly Check[];
	readonly orphans: readonly Orphan[];
	/** With `clean`: what was done about the orphans, a sentence each. */
	readonly cleaned: readonly string[];
}

export interface DoctorOptions {
	readonly signal?: AbortSignal | undefined;
	/** Removes or ends what crashes have left. */
	readonly clean?: boolean | undefined;
}

export interface Runtime extends AsyncDisposable {
	readonly home: { readonly root: string };
	/** The task of calls that name none. */
	readonly defaultTask: string;
	/** The place of calls that name none, as it is shown. */
	readonly placeName: string;
	/** The numbers of its tools, for `toolsWith`. */
	readonly limits: Limits;
	readonly approvals: ApprovalsView;
	readonly notices: NoticesView;
	readonly calls: Calls;
	readonly links: LinksView;
	readonly keyboards: KeyboardsView;
	readonly sudo: SudoView;

	/** Yields what happens in this home, of one task or of all; with `after`, first what was missed since that event. docs/library.md */
	events(options?: EventOptions): AsyncGenerator<HoldfastEvent, void>;

	/** Yields the commands and processes of a task, oldest first, from what they have left in this home: those of earlier programs too. */
	transcript(task: string, options?: TranscriptOptions): AsyncGenerator<TranscriptCommand, void>;

	/** Opens a task. Returns at once: what the task needs is made when it is first used. */
	task(name: string, options?: TaskOptions): Task;

	/** Returns the kind and settings of a place, for its address or its name in config.json. Throws INVALID if there is none. Nothing is started. */
	resolvePlace(place: string | PlaceObject): PlaceObject;

	/** Starts a process that outlives this program. Resolves once it runs; throws if nothing ran. */
	spawn(options: SpawnOptions): Promise<Process>;
	/** Returns processes, newest first. */
	list(options?: ListOptions): Process[];
	/** Returns a process by its id or a unique prefix, of whatever task. Throws NOT_FOUND. */
	get(id: string): Process;
	/** Looks at processes on remote places. Returns what could not be reached, a sentence each. */
	sync(options?: { task?: string | null; signal?: AbortSignal; ms?: number }): Promise<string[]>;
	/** Removes what ended long ago. */
	prune(options?: { olderThanMs?: number; quotaBytes?: number; dryRun?: boolean }): PruneResult;

	/** Looks whether this machine, and the place of the runtime, can do what is needed, and for what crashes have left. */
	doctor(options?: DoctorOptions): Promise<Diagnosis>;
	/** Returns the sandboxes of this home, and the containers of every home that the known engines have. */
	sandboxes(): Promise<SandboxList>;
	/** Ends a sandbox or container with all that runs in it, by its id or the beginning of one. Returns a sentence. Throws NOT_FOUND. */
	stopSandbox(id: string): Promise<string>;
	/** Removes the orphans among them: their home is gone, or their maker was killed. With `allHomes` also those of homes on other hosts, used or not. Returns a sentence for each. */
	pruneSandboxes(options?: { readonly allHomes?: boolean }): Promise<{ readonly removed: readonly string[]; readonly notes: readonly string[] }>;

	/** The tools. Each never rejects for anything a model can cause: what is wrong with `args` is said in the result. */
	terminal(args: unknown, options?: RuntimeCallOptions): Promise<TerminalResult>;
	process(args: unknown, options?: RuntimeCallOptions): Promise<ProcessResult>;
	readFile(args: unknown, options?: RuntimeCallOptions): Promise<ReadFileResult>;
	writeFile(args: unknown, options?: RuntimeCallOptions): Promise<WriteFileResult>;
	patch(args: unknown, options?: RuntimeCallOptions): Promise<PatchResult>;
	searchFiles(args: unknown, options?: RuntimeCallOptions): Promise<SearchFilesResult>;
	upload(args: unknown, options?: RuntimeCallOptions): Promise<TransferResult>;
	download(args: unknown, options?: RuntimeCallOptions): Promise<TransferResult>;

	/** Ends a task by its name: its processes, shells and sandboxes are gone when this resolves, and the report says which. */
	endTask(task: string): Promise<EndedTask>;
	/** Ends the idle shells of a task and frees what this program holds for it; its processes go on. */
	leaveTask(task: string): Promise<void>;
	/** Lets go of the home. Processes and shells go on. */
	close(): Promise<void>;
}

/** `tools` is for our own tests; `limits` are checked with their own names. */
const optionsSchema = z.lazy(() => runtimeSchema.unwrap().omit({ tools: true }).extend({ limits: z.unknown().optional() }));
const aTask = z.string().min(1).nullable().optional();
const aNumber = z.number().min(0).optional();
const listSchema = z.strictObject({ task: aTask, ended: z.boolean().optional(), shells: z.boolean().optional() });
const syncSchema = z.strictObject({ task: aTask, signal: aSignal, ms: aNumber });
const pruneSchema = z.strictObject({ olderThanMs: aNumber, quotaBytes: aNumber, dryRun: z.boolean().optional() });
const pruneSandboxesSchema = z.strictObject({ allHomes: z.boolean().optional() });
const doctorSchema = z.strictObject({ signal: aSignal, clean: z.boolean().optional() });

/** Opens a home. Throws if it cannot be used, or if an option is unknown or has the wrong type. */
export async function openRuntime(options: RuntimeOptions = {}): Promise<Runtime> {
	parseOptions("openRuntime", optionsSchema, options);
	return shown(await openAgentRuntime(options as Parameters<typeof openAgentRuntime>[0]));
}

function shown(agent: AgentRuntime): Runtime {
	return showAs(new LibraryRuntime(agent), agent);
}

class LibraryRuntime implements Runtime {
	readonly #agent: AgentRuntime;

	constructor(agent: AgentRuntime) {
		this.#agent = agent;
	}

	get home(): { readonly root: string } {
		return this.#agent.home;
	}

	get defaultTask(): string {
		return this.#agent.task;
	}

	get placeName(): string {
		return this.#agent.placeName;
	}

	get limits(): Limits {
		return this.#agent.limits;
	}

	get approvals(): ApprovalsView {
		return approvalsView(this.#agent);
	}

	get notices(): NoticesView {
		return noticesView(this.#agent);
	}

	get calls(): Calls {
		return this.#agent.calls;
	}

	get links(): LinksView {
		return linksView(this.#agent);
	}

	get keyboards(): KeyboardsView {
		return keyboardsView(this.#agent);
	}

	get sudo(): SudoView {
		return sudoView(this.#agent);
	}

	events(options?: EventOptions): AsyncGenerator<HoldfastEvent, void> {
		return streamEvents(this.#agent, options);
	}

	transcript(task: string, options?: TranscriptOptions): AsyncGenerator<TranscriptCommand, void> {
		return readTranscript(this.#agent, "runtime.transcript", task, options);
	}

	task(name: string, options?: TaskOptions): Task {
		return openTask(this.#agent, name, options);
	}

	resolvePlace(place: string | PlaceObject): PlaceObject {
		const { kind, options } = this.#agent.wishFor(place);
		return { ...options, kind } as PlaceObject;
	}

	async spawn(options: SpawnOptions): Promise<Process> {
		refuseClosed(this.#agent);
		return this.#agent.spawn(options);
	}

	list(options: ListOptions = {}): Process[] {
		return this.#agent.list(parseOptions("runtime.list", listSchema, options) as Parameters<AgentRuntime["list"]>[0]);
	}

	get(id: string): Process {
		return this.#agent.get(id);
	}

	async sync(options: { task?: string | null; signal?: AbortSignal; ms?: number } = {}): Promise<string[]> {
		return this.#agent.sync(parseOptions("runtime.sync", syncSchema, options) as Parameters<AgentRuntime["sync"]>[0]);
	}

	prune(options: { olderThanMs?: number; quotaBytes?: number; dryRun?: boolean } = {}): PruneResult {
		return this.#agent.prune(parseOptions("runtime.prune", pruneSchema, options) as Parameters<AgentRuntime["prune"]>[0]);
	}

	async doctor(options: DoctorOptions = {}): Promise<Diagnosis> {
		const { signal, clean: wanted } = parseOptions("runtime.doctor", doctorSchema, options);
		const { checks, orphans } = await diagnose(this.#agent, signal);
		return { checks, orphans, cleaned: wanted ? clean(this.#agent, orphans) : [] };
	}

	async sandboxes(): Promise<SandboxList> {
		return listSandboxes(this.#agent);
	}

	async stopSandbox(id: string): Promise<string> {
		if (typeof id !== "string" || id === "") throw new HoldfastError("INVALID", "runtime.stopSandbox: give the id of a sandbox, as runtime.sandboxes() has it");
		return stopSandbox(this.#agent, id);
	}

	async pruneSandboxes(options: { readonly allHomes?: boolean } = {}): Promise<{ readonly removed: readonly string[]; readonly notes: readonly string[] }> {
		return pruneSandboxes(this.#agent, parseOptions("runtime.pruneSandboxes", pruneSandboxesSchema, options) as { allHomes?: boolean });
	}

	async terminal(args: unknown, options?: RuntimeCallOptions): Promise<TerminalResult> {
		return this.#agent.terminal(args, callOf("terminal", options));
	}

	async process(args: unknown, options?: RuntimeCallOptions): Promise<ProcessResult> {
		return this.#agent.process(args, callOf("process", options));
	}

	async readFile(args: unknown, options?: RuntimeCallOptions): Promise<ReadFileResult> {
		return this.#agent.readFile(args, callOf("readFile", options));
	}

	async writeFile(args: unknown, options?: RuntimeCallOptions): Promise<WriteFileResult> {
		return this.#agent.writeFile(args, callOf("writeFile", options));
	}

	async patch(args: unknown, options?: RuntimeCallOptions): Promise<PatchResult> {
		return this.#agent.patch(args, callOf("patch", options));
	}

	async searchFiles(args: unknown, options?: RuntimeCallOptions): Promise<SearchFilesResult> {
		return this.#agent.searchFiles(args, callOf("searchFiles", options));
	}

	async upload(args: unknown, options?: RuntimeCallOptions): Promise<TransferResult> {
		return this.#agent.upload(args, callOf("upload", options));
	}

	async download(args: unknown, options?: RuntimeCallOptions): Promise<TransferResult> {
		return this.#agent.download(args, callOf("download", options));
	}

	async endTask(task: string): Promise<EndedTask> {
		return this.#agent.endTask(taskName("runtime.endTask", task));
	}

	async leaveTask(task: string): Promise<void> {
		return this.#agent.leaveTask(taskName("runtime.leaveTask", task));
	}

	close(): Promise<void> {
		return this.#agent.close();
	}

	[Symbol.asyncDispose](): Promise<void> {
		return this.#agent.close();
	}
}
