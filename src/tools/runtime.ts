/** A runtime with the tools of an agent. Shells and notices exist once they are needed: without them it costs what a plain one does. */
import { Approvals } from "../approvals/index.js";
import { Audit } from "../audit/index.js";
import { HoldfastError } from "../base/errors.js";
import type { Home } from "../base/home.js";
import { Notices } from "../notices/index.js";
import { placeFrom } from "../places/address.js";
import type { RuntimeOptions } from "../process/options.js";
import type { Process } from "../process/process.js";
import { prepareRuntime, Runtime } from "../process/runtime.js";
import { type EndedTask, endTask, Shells } from "../shell/index.js";
import { Sudo } from "../sudo/index.js";
import { answer } from "./ask.js";
import type { Call } from "./call.js";
import { FILE_TOOLS } from "./files/index.js";
import type { FileResult, PatchResult, ReadFileResult, SearchFilesResult, TransferResult, WriteFileResult } from "./files/result.js";
import { Gate } from "./gate.js";
import { type Limits, limitsFrom } from "./limits.js";
import { Lines } from "./lines.js";
import { process as processTool } from "./process.js";
import type { ProcessResult, TerminalResult, ToolResult } from "./result.js";
import { loadScreen } from "./screen.js";
import { terminal as terminalTool } from "./terminal.js";

type Options = ConstructorParameters<typeof Runtime>[1];

const LINES_KEPT = 32; // processes whose lines stay counted

export interface AgentRuntimeOptions extends RuntimeOptions {
	readonly limits?: Partial<Limits>;
}

export async function openAgentRuntime({ limits, ...options }: AgentRuntimeOptions = {}): Promise<AgentRuntime> {
	return new AgentRuntime(...(await prepareRuntime(options)), limitsFrom(limits));
}

export class AgentRuntime extends Runtime {
	readonly #closed = new AbortController();
	readonly #answering = new Map<string, Promise<void>>();
	readonly #kills = new Set<NodeJS.Timeout>();
	readonly #lines = new Map<string, Lines>();
	readonly limits: Limits;
	#shells: Shells | undefined;
	#notices: Notices | undefined;
	#approvals: Approvals | undefined;
	#gate: Gate | undefined;
	readonly audit: Audit;
	readonly sudo: Sudo;
	readonly #options: Options;
	/** The one that this was made by, for another place. All that is about a task, wherever it runs, is that one's. */
	readonly #main: AgentRuntime | undefined;
	readonly #others = new Map<string, AgentRuntime>();

	constructor(home: Home, options: Options, limits: Limits, main?: AgentRuntime) {
		super(home, options, main?.boxes); // one connection to each machine, whoever asks
		this.#options = options;
		this.limits = limits;
		this.#main = main;
		this.audit = main?.audit ?? new Audit(home);
		this.sudo = main?.sudo ?? new Sudo(this);
	}

	/** For another place on the same home; closed with this one. What cannot be understood is an error. */
	at(place: string | undefined): AgentRuntime {
		if (place === undefined) return this;
		if (this.#main) return this.#main.at(place);
		const wish = JSON.stringify(placeFrom(place, () => this.config));
		if (wish === JSON.stringify(this.wish)) return this;
		const known = this.#others.get(wish);
		if (known) return known;
		if (this.closed) throw closed();
		const other = new AgentRuntime(this.home, { ...this.#options, place, warm: 0 }, this.limits, this);
		this.#others.set(wish, other);
		return other;
	}

	get shells(): Shells {
		if (this.#shells === undefined) {
			if (this.closed) throw closed(); // a call whose tool was just being loaded
			this.#shells = new Shells(this);
		}
		return this.#shells;
	}

	/** A sandbox lets no command become root, so only a local shell finds our sudo. */
	override programs(): string | undefined {
		return this.wish.kind === "local" && !this.closed ? this.sudo.start() : undefined;
	}

	get notices(): Notices {
		if (this.#main) return this.#main.notices;
		this.#notices ??= new Notices(this);
		return this.#notices;
	}

	/** Questions to a person about commands: what waits, and answering it. */
	get approvals(): Approvals {
		if (this.#main) return this.#main.approvals;
		this.#approvals ??= new Approvals(this.home, this.audit);
		return this.#approvals;
	}

	/** What every command of an agent passes before it runs. */
	get gate(): Gate {
		if (this.#main) return this.#main.gate;
		this.#gate ??= new Gate(this);
		return this.#gate;
	}

	/** The tool of that name. `args` are checked here; whatever is wrong with them is said in the result. Never rejects. */
	terminal(args: unknown, call: Call = {}): Promise<TerminalResult> {
		return this.#elsewhere(call, (runtime) => terminalTool(runtime, args, call));
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

	/** One of the tools for files, by its name. */
	file(name: (typeof FILE_TOOLS)[number]["name"], args: unknown, call: Call = {}): Promise<FileResult> {
		const tool = FILE_TOOLS.find((one) => one.name === name) as (typeof FILE_TOOLS)[number];
		return this.#elsewhere<FileResult>(call, (runtime) => tool.run(runtime, args, call));
	}

	/** A place that cannot be understood is a result like any other. */
	#elsewhere<T extends ToolResult>(call: Call, act: (runtime: AgentRuntime) => Promise<T>): Promise<T> {
		let runtime: AgentRuntime;
		try {
			runtime = this.at(call.place);
		} catch (error) {
			return answer<T>(this, call, () => Promise.reject(error as Error));
		}
		return act(runtime);
	}

	/** The end of a task: its processes, shells and sandboxes are gone when this resolves, and the report says which. */
	endTask(task: string): Promise<EndedTask> {
		return endTask(this.#main ?? this, task);
	}

	/** The caller of a task is gone for good: its idle shells end and what it held here is freed; its processes go on. */
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
		this.sudo.forget(task);
		this.audit.forget(task);
	}

	/** Answer what a program asks its terminal, while this runtime is open and the program runs. */
	answerFor(process: Process, options: { from?: number } = {}): void {
		const { signal } = this.#closed;
		if (!process.spec.terminal || this.#answering.has(process.id) || signal.aborted || process.status().status !== "running") return;
		const answering = loadScreen()
			.then(({ answerQueries }) => answerQueries(process, { ...options, signal }))
			.catch(() => {}) // it is a service to the program; who looks at its screen sees what became of it
			.finally(() => this.#answering.delete(process.id));
		this.#answering.set(process.id, answering);
	}

	get closed(): boolean {
		return this.#closed.signal.aborted;
	}

	/** Kill it then, unless this runtime is closed before. */
	killLater(process: Process, ms: number): void {
		const timer = setTimeout(() => {
			this.#kills.delete(timer);
			void process.kill().catch(() => {}); // it may have been pruned; whoever asks for its status is told the truth
		}, ms).unref();
		this.#kills.add(timer);
	}

	/** Where the lines of its log are, as far as they have been counted. */
	linesOf(process: Process): Lines {
		const lines = this.#lines.get(process.id) ?? new Lines(process);
		this.#lines.delete(process.id);
		this.#lines.set(process.id, lines); // the newest last
		for (const id of this.#lines.keys()) {
			if (this.#lines.size <= LINES_KEPT) break;
			this.#lines.delete(id);
		}
		return lines;
	}

	/** Processes, shells included, go on. */
	override async close(): Promise<void> {
		this.#closed.abort();
		for (const other of this.#others.values()) await other.close();
		for (const timer of this.#kills) clearTimeout(timer);
		this.#approvals?.close();
		await Promise.all(this.#answering.values());
		if (!this.#main) this.sudo.close();
		await this.#notices?.close();
		await this.#shells?.close();
		await super.close();
		if (!this.#main) this.audit.close();
	}
}

const closed = (): HoldfastError => new HoldfastError("ABORTED", "this runtime is closed");
