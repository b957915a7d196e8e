import { setMaxListeners } from "node:events";
import path from "node:path";
import { starterIsGone } from "../keeper/index.js";
import { isSharedByTasks, type Place } from "../places/index.js";
import type { LimitMet, Process, Runtime } from "../process/index.js";
import { Bash } from "./bash.js";
import { AT_ONCE, Births } from "./births.js";
import { neverBegan, patienceOf, patiently } from "./patience.js";
import { currentOf } from "./seat.js";
import { pruneSeats } from "./seats.js";
import { Slots } from "./slots.js";
import { TaskShell } from "./task.js";

export interface CommandRequest {
	readonly task: string;
	readonly command: string;
	/** The directory of this command only. Absolute, or from the shell's directory. */
	readonly workdir?: string;
	/** From when the shell is sent the command: making the place and the shell, should that be needed, has a bound of its own (patience.ts). */
	readonly timeoutMs: number;
	/** The time by performance.now() at which the caller needs an answer. A command that has begun goes on, whatever `onTimeout` says; one that has not never begins. */
	readonly answerBy?: number | undefined;
	/** At the deadline: leave it running as a process like any other, or kill its tree. */
	readonly onTimeout: "background" | "kill";
	/** Kills the command's tree and keeps the shell. */
	readonly signal?: AbortSignal;
	/** The deadline is now, and the command goes on. */
	readonly yield?: AbortSignal;
	/** Asked once, so long after the command was sent, if it still runs: true is a deadline, and the command goes on. */
	readonly glance?: { readonly afterMs: number; leaves(): boolean };
	/** The id of the call that runs it. */
	readonly call?: string | undefined;
	/** Asked when everything is ready, with where it would run and the id it would have: if it throws, nothing runs. */
	permit?(cwd: string, id: string): void;
}

export interface RunResult {
	/** `running`: it reached its deadline, or the runtime was closed, and goes on. */
	readonly end: "exited" | "running" | "timeout" | "interrupted" | "killed" | "lost";
	/** The command as a process. Its log is its output, from offset 0 on; it can be read until `release`. */
	readonly process: Process;
	/** True when it is, or stays, in the registry: it runs on, or something it started may still print. */
	readonly tracked: boolean;
	/** The command printed nothing, which is known without a look at its log. */
	readonly silent: boolean;
	readonly exitCode: number | null;
	readonly signal: NodeJS.Signals | null;
	/** A limit that it met. */
	readonly limit?: LimitMet;
	/** Text that the shell itself printed as it ended (an EXIT trap): it belongs behind the output. */
	readonly after: string;
	/** The shell's directory now. */
	readonly cwd: string;
	readonly durationMs: number;
	readonly notes: readonly string[];
	/** Done with the log. With `keep` it stays readable by its id, as of any process that has ended; else it goes. */
	release(options?: { keep?: boolean }): void;
}

/** The context that a process beside the shell inherits from it. */
export interface ShellContext {
	/** The shell's own directory. */
	readonly shellCwd: string;
	/** The requested directory, else the shell's own. */
	readonly cwd: string;
	/** The environment for `spawn`: the shell's exports, and undefined for variables of this program that the shell does not have. */
	readonly env: Readonly<Record<string, string | undefined>>;
	/** Shell text that defines the functions it exports; empty when there are none. */
	readonly functions: string;
	readonly notes: readonly string[];
}

export interface ContextOptions {
	readonly task: string;
	readonly workdir?: string;
	/** Leaves out the variables that turn pagers and colour off: for a terminal. */
	readonly terminal?: boolean;
	/** How long to wait for the place and for the task's first shell: until this aborts, or until then by performance.now(). */
	readonly signal?: AbortSignal | undefined;
	readonly answerBy?: number | undefined;
}

/** Variables with which rc.bash turns paging and colour off. On a terminal both are wanted. */
const PLAIN: Readonly<Record<string, string>> = { PAGER: "cat", GIT_PAGER: "cat", MANPAGER: "cat", SYSTEMD_PAGER: "cat", NO_COLOR: "1", TERM: "dumb" };
const NOT_INHERITED = ["HOLDFAST_ID", "_", "PWD", "OLDPWD", "SHLVL"];

export class Shells {
	readonly #runtime: Runtime;
	readonly #slots: Slots;
	readonly #tasks = new Map<string, TaskShell>();
	/** All that are open: also those of forgotten tasks whose calls are still under way. */
	readonly #open = new Set<TaskShell>();
	readonly #running = new Set<Promise<unknown>>();
	readonly #closing = new AbortController();
	/** Births of shells for the tasks that share slots. */
	readonly #births = new Births(this.#closing.signal);
	/** Tasks that know that they have no shell. */
	readonly #told = new Set<string>();
	#swept = false;

	constructor(runtime: Runtime) {
		this.#runtime = runtime;
		this.#slots = new Slots(
			() => runtime.local,
			() => runtime.boundaries,
			{ deadlines: runtime.home.deadlines, ahead: runtime.ahead, atOnce: AT_ONCE },
		);
		setMaxListeners(0, this.#closing.signal); // a listener for each birth under way
		runtime.chores.push(() => pruneSeats(runtime));
	}

	/** Ends orphaned shells: the program that started one was killed before it recorded the shell as the task's, or before it ended it. */
	#sweep(): void {
		try {
			this.#runtime.sandboxes?.sweep();
			for (const process of this.#runtime.list({ task: null, shells: true, ended: false })) {
				const { spec } = process;
				if (spec.kind === "shell" && starterIsGone(spec) && currentOf(this.#runtime, spec) !== process.id)
					void Bash.attach(process).then(
						(bash) => bash?.leave(),
						() => {},
					); // nor does one that cannot be reached
			}
		} catch {
			// housekeeping, which fails nothing: another runtime tries again
		}
	}

	/** Run a command in the task's shell. Throws if it never started. */
	run(options: CommandRequest): Promise<RunResult> {
		return this.#note(this.#of(options.task).run(options));
	}

	/** The directory and the exported environment of the task's shell. */
	async context(options: ContextOptions): Promise<ShellContext> {
		return this.#context(options).catch(neverBegan);
	}

	async #context(options: ContextOptions): Promise<ShellContext> {
		const { signal } = options;
		const patience = patienceOf({
			signal,
			answerBy: options.answerBy,
			place: this.#runtime.placeName,
			pending: () => this.#runtime.boxes.pendingOf(this.#runtime.wish, options.task),
		});
		const { place, equipment } = await patiently(
			this.#runtime.place(options.task).then(async (place) => ({ place, equipment: await place.machine.ready(signal) })),
			patience,
		);
		if (!equipment.tools.bash) return this.#withoutShell(options, place);
		const { cwd, exported, functions, notes } = await this.#note(this.#of(options.task).context(patience));
		const env: Record<string, string | undefined> = Object.fromEntries(Object.keys(equipment.environment).map((name) => [name, undefined]));
		for (const [name, value] of Object.entries(exported)) {
			if (NOT_INHERITED.includes(name) || (options.terminal && PLAIN[name] === value)) delete env[name];
			else env[name] = value;
		}
		if (options.terminal) delete env.TERM; // the terminal has its own
		const own = await directoryOf(options.workdir, cwd, place);
		return { shellCwd: cwd, cwd: own, env, functions, notes };
	}

	/** A machine without bash has no persistent shell; processes can be started all the same. That is said once. */
	async #withoutShell({ task, workdir }: ContextOptions, place: Place): Promise<ShellContext> {
		const { cwd, machine } = place;
		const own = await directoryOf(workdir, cwd, place);
		const first = `${machine.name} has no bash, and so no persistent shell: processes run with its sh, each with the environment of the place, from ${cwd} on`;
		const notes = this.#told.has(task) ? [] : [first];
		this.#told.add(task);
		return { shellCwd: cwd, cwd: own, env: { ...this.#runtime.settings.get(task)?.env }, functions: "", notes };
	}

	/** Ends the task's shell, unless it is at work; what it has started goes on, and the next shell has its state. */
	end(task: string): Promise<void> {
		return this.#note(
			this.#of(task)
				.persistent.end()
				.then(async () => void (await this.#runtime.sandboxes?.end(task))),
		);
	}

	/** Shells and the commands in them go on: a caller that waits for one gets `running`. */
	async close(): Promise<void> {
		this.#closing.abort();
		for (const shell of this.#open) shell.abandon();
		await Promise.allSettled(this.#running);
		this.#tasks.clear();
		await Promise.all([this.#slots, ...this.#open].map((one) => one.close()));
	}

	/** Frees what is held here for a task: its shell and commands go on, and its next call finds them by their files. Calls under way are let finish, and not waited for. */
	async forget(task: string): Promise<void> {
		this.#told.delete(task);
		const shell = this.#tasks.get(task);
		if (!shell) return;
		this.#tasks.delete(task);
		const closed = shell.close().finally(() => this.#open.delete(shell));
		if (shell.busy) this.#later(closed);
		else await closed;
	}

	/** A command of this task is about to come: what it needs of this machine is made meanwhile. */
	prepare(task: string): void {
		if (this.#sharesSlots(task)) this.#slots.prepare();
	}

	/** Slots that are shared with a sandbox must not be shared with another, nor those with limits of one task. */
	#sharesSlots(task: string): boolean {
		return isSharedByTasks(this.#runtime.wish) && this.#runtime.settings.get(task)?.resourceLimits === undefined;
	}

	/** A task has an open shell. */
	get inUse(): boolean {
		return this.#open.size > 0;
	}

	#of(task: string): TaskShell {
		const known = this.#tasks.get(task);
		if (known) return known;
		if (!this.#swept) setImmediate(() => this.#sweep());
		this.#swept = true;
		const own = () =>
			new Slots(
				() => this.#runtime.machine(task),
				() => this.#runtime.boundariesOf(task),
				{ deadlines: this.#runtime.home.deadlines, ahead: this.#runtime.ahead, atOnce: Number.POSITIVE_INFINITY },
			);
		const slots = this.#sharesSlots(task) ? { slots: this.#slots, births: this.#births } : { slots: own() };
		const shell = new TaskShell(this.#runtime, slots, task, { later: this.#later, closing: this.#closing.signal });
		this.#tasks.set(task, shell);
		this.#open.add(shell);
		return shell;
	}

	/** Housekeeping fails nothing: what it leaves, the next runtime finds. */
	readonly #later = (work: Promise<unknown>): void => {
		void this.#note(work.catch(() => {}));
	};

	#note<T>(work: Promise<T>): Promise<T> {
		this.#running.add(work);
		const done = () => this.#running.delete(work);
		work.then(done, done);
		return work;
	}
}

async function directoryOf(asked: string | undefined, cwd: string, place: Place): Promise<string> {
	if (asked === undefined) return cwd;
	const dir = place.directory(path.resolve(cwd, asked));
	await place.machine.checkDirectory(dir, { cwd, at: place.at });
	return dir;
}
