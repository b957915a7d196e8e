/** A runtime with the tools of an agent. Shells and notices are created on first use; without them it costs as much as a plain runtime. */
import type { Approvals } from "../approvals/index.js";
import type { Audit } from "../audit/index.js";
import { HoldfastError, type Home } from "../base/index.js";
import type { Notices } from "../notices/index.js";
import { asUser, givesOwnRights, isUser, type PlaceAsked, type PlaceGiven, wishText } from "../places/index.js";
import { homeFor, type Process, Runtime, type RuntimeOptions, type RuntimeSettings, settled } from "../process/index.js";
import { type EndedTask, endTask, Shells } from "../shell/index.js";
import type { Sudo } from "../sudo/index.js";
import { answer } from "./ask.js";
import type { Call } from "./call.js";
import type { CallRecords } from "./calls/index.js";
import {
	FILE_TOOLS,
	type FileResult,
	type PatchResult,
	type ReadFileResult,
	type SearchFilesResult,
	type TransferResult,
	type WriteFileResult,
} from "./files/index.js";
import type { ToolHost } from "./host.js";
import type { LazyJudge } from "./lazy-judge.js";
import { LIMITS, type Limits, limitsFrom } from "./limits.js";
import { Lines } from "./lines.js";
import { process as processTool } from "./process.js";
import type { ProcessResult, TerminalResult, ToolResult } from "./result.js";
import { loadScreen } from "./screen.js";
import { HomeServices } from "./services.js";
import { terminal as terminalTool } from "./terminal.js";
import type { UnderWay } from "./under-way.js";

type Options = ConstructorParameters<typeof Runtime>[1];

const LINES_KEPT = 32; // processes whose line index is cached

export interface AgentRuntimeOptions extends RuntimeOptions {
	readonly limits?: Partial<Limits>;
}

export async function openAgentRuntime({ limits, ...options }: AgentRuntimeOptions = {}): Promise<AgentRuntime> {
	return openSettledAgent(settled(options), limitsFrom(limits));
}

/** Opens a runtime with options that the caller has checked. */
export async function openSettledAgent(options: RuntimeSettings, limits = LIMITS): Promise<AgentRuntime> {
	return new AgentRuntime(await homeFor(options), options, limits);
}

/** A place of a home with the tools of an agent, and access to the other places. */
export class AgentRuntime extends Runtime implements ToolHost {
	readonly #closed = new AbortController();
	readonly #answering = new Map<string, Promise<void>>();
	readonly #kills = new Set<NodeJS.Timeout>();
	readonly #lines = new Map<string, Lines>();
	/** Calls in progress at this place. */
	#calls = 0;
	readonly limits: Limits;
	#shells: Shells | undefined;
	/** Shared by all places. */
	readonly #services: HomeServices;
	readonly #options: Options;
	/** The runtime that created this one for another place. */
	readonly #main: AgentRuntime | undefined;
	readonly #others = new Map<string, AgentRuntime>();

	constructor(home: Home, options: Options, limits: Limits, main?: AgentRuntime) {
		super(home, options, main); // one connection to each machine, for all tasks
		this.#options = options;
		this.limits = limits;
		this.#main = main;
		this.#services = main?.services ?? new HomeServices(this);
	}

	get services(): HomeServices {
		return this.#services;
	}

	/** Returns the runtime for another place on the same home, which is closed with this one. Throws for an invalid place. */
	at(place: PlaceAsked | undefined, user?: string): AgentRuntime {
		if (place === undefined && user === undefined) return this;
		if (this.#main) return this.#main.at(place, user);
		const wish = wishText(asUser(place === undefined ? this.wish : this.wishFor(place), user));
		if (wish === wishText(this.wish)) return this;
		const known = this.#others.get(wish);
		if (known) return known;
		if (this.closed) throw closed();
		const options = { ...this.#options, ...(place === undefined ? {} : { place: place as PlaceGiven }), ...(user === undefined ? {} : { user }), warm: 0 };
		const other = new AgentRuntime(this.home, options, this.limits, this);
		this.#others.set(wish, other);
		return other;
	}

	get shells(): Shells {
		if (this.#shells === undefined) {
			if (this.closed) throw closed(); // a call whose tool was still loading
			this.#shells = new Shells(this);
		}
		return this.#shells;
	}

	/** Returns undefined for a sandbox, where no command can become root, and for a remote machine, which has its own sudo. */
	override programs(): string | undefined {
		return givesOwnRights(this.wish) && !this.closed ? this.sudo.start() : undefined;
	}

	get audit(): Audit {
		return this.#services.audit;
	}

	get sudo(): Sudo {
		return this.#services.sudo;
	}

	get notices(): Notices {
		return this.#services.notices;
	}

	/** Questions to a person about commands, and their answers. */
	get approvals(): Approvals {
		return this.#services.approvals;
	}

	/** Decides about commands: see command-gate.ts. */
	get judge(): LazyJudge {
		return this.#services.judge;
	}

	get underWay(): UnderWay {
		return this.#services.underWay;
	}

	get calls(): CallRecords {
		return this.#services.calls;
	}

	/** Returns the limits of the tools for a task. */
	limitsOf(task: string): Limits {
		return this.#services.taskLimits.get(task) ?? this.limits;
	}

	/** Runs the tool of that name. Checks `args` and reports errors in the result. Never rejects. */
	terminal(args: unknown, call: Call = {}): Promise<TerminalResult> {
		return this.onPlace("terminal", call, (runtime) => terminalTool(runtime, args, call));
	}

	process(args: unknown, call: Call = {}): Promise<ProcessResult> {
		return processTool(this, args, call);
	}

	readFile(args: unknown, call: Call = {}): Promise<ReadFileResult> {
		return this.file("read_file", args, call) as Promise<ReadFileResult>;
	}

	writeFile(args: unknown, call: Call = {}): Promise<WriteFileResult> {
		return this.file("write_file", args, call) as Promise<WriteFileResult>;
	}

	patch(args: unknown, call: Call = {}): Promise<PatchResult> {
		return this.file("patch", args, call) as Promise<PatchResult>;
	}

	searchFiles(args: unknown, call: Call = {}): Promise<SearchFilesResult> {
		return this.file("search_files", args, call) as Promise<SearchFilesResult>;
	}

	upload(args: unknown, call: Call = {}): Promise<TransferResult> {
		return this.file("upload", args, call) as Promise<TransferResult>;
	}

	download(args: unknown, call: Call = {}): Promise<TransferResult> {
		return this.file("download", args, call) as Promise<TransferResult>;
	}

	/** Runs a file tool by its name. */
	file(name: (typeof FILE_TOOLS)[number]["name"], args: unknown, call: Call = {}): Promise<FileResult> {
		const tool = FILE_TOOLS.find((one) => one.name === name) as (typeof FILE_TOOLS)[number];
		return this.onPlace<FileResult>(name, call, (runtime) => tool.run(runtime, args, call));
	}

	/** Runs a tool by its name. An unknown name is an error in the result. */
	call(name: string, args: unknown, call: Call = {}): Promise<ToolResult> {
		if (name === "terminal") return this.terminal(args, call);
		if (name === "process") return this.process(args, call);
		const tool = FILE_TOOLS.find((one) => one.name === name);
		if (tool) return this.file(tool.name, args, call);
		const known = ["terminal", "process", ...FILE_TOOLS.map((one) => one.name)];
		const unknown = new HoldfastError("INVALID", `there is no tool ${JSON.stringify(name)}; there are ${known.join(", ")}`);
		return answer<ToolResult>(this, call, () => Promise.reject(unknown), { tool: name });
	}

	/** Runs `act` with the runtime of the call's place. An invalid place becomes an error result. */
	onPlace<T extends ToolResult>(tool: string, call: Call, act: (runtime: AgentRuntime) => Promise<T>): Promise<T> {
		let runtime: AgentRuntime;
		try {
			const own = this.settings.get(call.task ?? this.task);
			const place: unknown = call.place ?? own?.place;
			const user: unknown = call.user ?? (call.place === undefined ? own?.user : undefined); // the task's user belongs to the task's own place
			const isPlace = place === undefined || typeof place === "string" || (typeof place === "object" && place !== null);
			const usable = isPlace && (user === undefined || isUser(user)); // if not, the check of the call's options reports it
			runtime = usable ? this.at(place as PlaceAsked | undefined, user as string | undefined) : this;
		} catch (error) {
			return answer<T>(this, call, () => Promise.reject(error as Error), { tool });
		}
		runtime.#calls++;
		return act(runtime).finally(() => runtime.#calls--);
	}

	/** Ends a task: when this resolves, its processes, shells and sandboxes are gone, and the report lists them. */
	endTask(task: string): Promise<EndedTask> {
		return endTask(this.#main ?? this, task);
	}

	/** Releases a task whose caller is gone for good: its idle shells end and its resources here are freed; its processes continue. */
	async leaveTask(task: string): Promise<void> {
		await Promise.all([this, ...this.#others.values()].map((runtime) => runtime.#shells?.end(task)));
		await this.forget(task);
	}

	override async forget(task: string): Promise<void> {
		await Promise.all([...this.#others.values()].map((other) => other.forget(task)));
		for (const [id, lines] of this.#lines) if (lines.task === task) this.#lines.delete(id);
		await this.#shells?.forget(task);
		await super.forget(task);
		if (this.#main) return;
		this.#services.forget(task);
		await this.closeUnused();
	}

	/** Closes the runtimes of other places that no open task names and that are not in use. The next call for such a place reopens it. */
	async closeUnused(): Promise<void> {
		if (this.closed) return;
		const open = new Set([...this.settings.values()].map(({ place, user }) => this.at(place, user)));
		for (const [wish, other] of this.#others) {
			if (open.has(other) || other.inUse) continue;
			this.#others.delete(wish);
			await other.close();
		}
	}

	override get inUse(): boolean {
		return this.#calls > 0 || this.#answering.size > 0 || this.#kills.size > 0 || this.#shells?.inUse === true || super.inUse;
	}

	/** The number of places that this program has open on the home. */
	get placesOpen(): number {
		return 1 + this.#others.size;
	}

	/** Answers terminal queries of a program while this runtime is open and the program runs. */
	answerFor(process: Process, options: { from?: number } = {}): void {
		const { signal } = this.#closed;
		if (!process.spec.terminal || this.#answering.has(process.id) || signal.aborted || process.status().status !== "running") return;
		const answering = loadScreen()
			.then(({ answerQueries }) => answerQueries(process, { ...options, signal }))
			.catch(() => {}) // optional for the program; its screen shows the effect
			.finally(() => this.#answering.delete(process.id));
		this.#answering.set(process.id, answering);
	}

	get closed(): boolean {
		return this.#closed.signal.aborted;
	}

	/** Aborts when this runtime is closed. */
	get closing(): AbortSignal {
		return this.#closed.signal;
	}

	/** Kills a process after this many milliseconds, unless this runtime is closed before. */
	killLater(process: Process, ms: number): void {
		const timer = setTimeout(() => {
			this.#kills.delete(timer);
			void process.kill().catch(() => {}); // it may have been pruned; its status is right in any case
		}, ms).unref();
		this.#kills.add(timer);
	}

	/** Returns the line index of a process's log, as far as counted. */
	linesOf(process: Process): Lines {
		const lines = this.#lines.get(process.id) ?? new Lines(process);
		this.#lines.delete(process.id);
		this.#lines.set(process.id, lines); // newest last
		for (const id of this.#lines.keys()) {
			if (this.#lines.size <= LINES_KEPT) break;
			this.#lines.delete(id);
		}
		return lines;
	}

	/** Closes the runtime. Processes continue, shells included. */
	override async close(): Promise<void> {
		this.#closed.abort();
		for (const other of this.#others.values()) await other.close();
		for (const timer of this.#kills) clearTimeout(timer);
		if (!this.#main) this.#services.stop();
		await Promise.all(this.#answering.values());
		if (!this.#main) await this.#services.close();
		await this.#shells?.close();
		await super.close();
		if (!this.#main) this.#services.end();
	}
}

const closed = (): HoldfastError => new HoldfastError("ABORTED", "this runtime is closed");
