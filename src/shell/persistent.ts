/** The persistent shell of a task, as one runtime sees it: the one there is, or the next, which takes over its state. Only the holder of the seat uses it. */
import path from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { procDir, readSpec } from "../keeper/index.js";
import { describeEnd, isOver, type Runtime } from "../process/index.js";
import { Bash } from "./bash.js";
import { type Birth, bear } from "./birth.js";
import { type Patience, patiently } from "./patience.js";
import { Seat } from "./seat.js";
import { readState, STATE_FILES } from "./state.js";

const STATE_MS = 1_000; // for a shell to write down its state
const STALE =
	"the shell could not write down its state (a full disk, or a limit or option that it was given); what it exports may be older than its last command";
const UNMADE =
	"the shell's own files were moved, changed or removed, so a new one has taken over its directory, variables, functions and options as far as known; background jobs go on, but `jobs` does not show them any more. Leave /run/holdfast and Holdfast's home alone";
const LOST =
	"the shell's own files there had been removed, so a new one was started; its directory, variables, functions and options are lost, and what it had in the background goes on without it";

export interface ShellOwner {
	/** Takes work that no caller waits for. */
	readonly later: (work: Promise<unknown>) => void;
	/** The runtime is being closed: what is not born yet need not be. */
	readonly closing: AbortSignal;
}

interface TaskContext {
	readonly cwd: string;
	readonly exported: Readonly<Record<string, string>>;
	readonly functions: string;
	readonly notes: string[];
}

export interface ReadyOptions {
	readonly notes?: string[];
	/** The caller has said that there is a new one, and why. */
	readonly said?: boolean;
	/** A new one without the state of the last. */
	readonly afresh?: boolean;
}

interface Ready {
	readonly bash: Bash;
	/** Notes about it for the caller. */
	readonly notes: string[];
}

export class Persistent {
	readonly #runtime: Runtime;
	readonly #task: string;
	readonly #seat: Seat;
	readonly #later: ShellOwner["later"];
	readonly #closing: AbortSignal;
	#bash: Bash | undefined;
	#birth: Promise<Bash> | undefined;
	/** A shell is being started, and its caller has given up: the seat belongs to that start until it is over. */
	orphan: Promise<unknown> | undefined;
	/** Notes about the birth, for the first command. */
	#bornWith: string[] = [];

	constructor(runtime: Runtime, task: string, { later, closing }: ShellOwner) {
		this.#later = later;
		this.#closing = closing;
		this.#runtime = runtime;
		this.#task = task;
		this.#seat = Seat.of(runtime, task);
	}

	/** The task has a shell, as far as this program knows. */
	get isHere(): boolean {
		return this.#bash !== undefined;
	}

	/** Takes the seat without waiting. Returns false if another command has it. */
	take(who: string): boolean {
		return this.#seat.take(who);
	}

	/** The seat, which is this runtime's, is for the command with this id. */
	passOn(who: string): void {
		this.#seat.passOn(who);
	}

	/** Leaves the seat to the command, which goes on without a caller here. */
	leaveTo(who: string): void {
		this.#seat.leaveTo(who);
	}

	/** Gives the seat back; an orphaned birth gives it back itself when it is over. */
	giveBack(): void {
		if (!this.#birth) {
			this.#seat.giveBack();
			return;
		}
		this.orphan = this.#birth
			.catch(() => {}) // the next command tries again, and reports it
			.finally(() => {
				this.orphan = undefined;
				this.#seat.giveBack();
			});
		this.#later(this.orphan);
	}

	/** The one there is, or a new one with the state of the last. A note says so, unless the caller has `said` it. */
	async ready(patience: Patience, { notes = [], said = false, afresh = false }: ReadyOptions = {}): Promise<Ready> {
		const id = afresh ? undefined : this.#seat.current;
		const why = this.#whyNew(id, afresh);
		if (this.#bash && (this.#bash.process.id !== id || this.#bash.left || this.#bash.wasUsed())) {
			this.#bash.close();
			this.#bash = undefined;
		}
		this.#bash ??= await this.#attach(id);
		const { sandbox } = await this.#runtime.place(this.#task);
		if (this.#bash && this.#bash.process.spec.sandbox !== sandbox?.id) {
			this.#bash.leave(); // of a sandbox that is being left
			this.#bash = undefined;
		}
		if (this.#bash && !this.#bash.post.isWhole() && !this.#bash.isOver()) {
			this.#bash.leave();
			this.#bash = undefined;
			notes = [...notes, UNMADE];
			said = true;
		}
		const bash = this.#bash ?? (await patiently(this.#bear(id, said || this.#bornWith.includes(LOST) ? undefined : why), patience));
		if (this.#bornWith.length > 0) notes = [...notes, ...this.#bornWith.splice(0)];
		return { bash, notes };
	}

	/** Why a new one is needed in the place of the last, as far as that is known before it is looked at; undefined for the first one of a task. */
	#whyNew(id: string | undefined, afresh: boolean): (() => string) | undefined {
		if (afresh) return () => "no shell with the state of the last one took a command";
		if (id === undefined && this.#seat.wasEnded) return () => "the task was ended after its last command";
		if (id === undefined) return this.#bash && (() => "Holdfast's home was removed after the last command");
		return () => {
			const spec = readSpec(procDir(this.#runtime.home, id));
			const status = spec && this.#runtime.registry.process(spec).status();
			if (!status) return "the last shell of this task is not on record any more";
			return isOver(status) ? `the last shell of this task has ended (${describeEnd(status)})` : "the last shell of this task is not used any more";
		};
	}

	#bear(id: string | undefined, why: (() => string) | undefined): Promise<Bash> {
		this.#birth = this.#runtime.home.deadlines.afterwards(async () => {
			try {
				const birth = await this.#birthOf(id);
				const { bash, notes } = await bear(this.#runtime, birth);
				this.#bash = bash;
				if (why) this.#bornWith.push(newShell(why(), bash.cwd, birth.from !== undefined));
				this.#bornWith.push(...notes);
				this.#seat.current = bash.process.id;
				return bash;
			} finally {
				this.#birth = undefined;
			}
		});
		return this.#birth;
	}

	/** Forgets a shell that has ended: the next command finds another, or starts one. */
	forget(bash: Bash): void {
		bash.close();
		if (this.#bash === bash) this.#bash = undefined;
	}

	/** Another for one command alone: the same state, as it was before the command that this one runs. */
	async another(patience: Patience): Promise<Ready> {
		const birth = this.#runtime.home.deadlines.afterwards(() => this.#birthOf(this.#seat.current).then((like) => bear(this.#runtime, like)));
		return patiently(birth, patience).catch((error) => {
			this.#later(birth.then(({ bash }) => bash.leave())); // no other command can use it
			throw error;
		});
	}

	async #birthOf(id: string | undefined): Promise<Birth> {
		const place = await this.#runtime.place(this.#task);
		const state = id && path.join(procDir(this.#runtime.home, id), "shell");
		const read = async () => {
			return state && id && (await place.machine.files.fetch(id, STATE_FILES)) ? readState(state) : undefined;
		};
		const last = await read();
		return {
			task: this.#task,
			cwd: last?.exported.PWD ?? place.birthplace(),
			signal: this.#closing,
			...(state && last ? { from: state, nowIn: async () => (await read())?.exported.PWD } : {}),
		};
	}

	async #attach(id: string | undefined): Promise<Bash | undefined> {
		const spec = id === undefined ? undefined : readSpec(procDir(this.#runtime.home, id));
		const bash = spec && (await Bash.attach(this.#runtime.registry.process(spec)));
		if (bash && !(await bash.line.isThere())) {
			await bash.end();
			this.#bornWith.push(LOST);
			return undefined;
		}
		if (bash) this.#runtime.watchFor(bash.process);
		return bash;
	}

	/** Returns the shell's directory and exported variables. */
	async context(patience: Patience): Promise<TaskContext> {
		for (;;) {
			if (this.orphan) await patiently(this.orphan, patience);
			const free = this.#seat.take("context");
			try {
				if (free) {
					if (this.#bash?.isOver()) this.forget(this.#bash);
					const { bash, notes } = await this.ready(patience);
					const giveUp = performance.now() + STATE_MS;
					for (;;) {
						await bash.fetchState();
						const state = bash.settled() ?? (performance.now() > giveUp || bash.isOver() ? readState(bash.state) : undefined);
						if (state)
							return {
								cwd: bash.line.existing(bash.cwd),
								exported: state.exported,
								functions: state.functions,
								notes: [...notes, ...(bash.settled() ? [] : [STALE])],
							};
						await new Promise((resolve) => setTimeout(resolve, 1)); // it is being written
					}
				}
				const bash = await this.#attach(this.#seat.current); // at work: as it was before
				if (bash) {
					bash.close();
					await bash.fetchState();
					const state = readState(bash.state);
					const cwd = state?.exported.PWD ?? bash.cwd;
					if (state) return { cwd: bash.line.existing(cwd), exported: state.exported, functions: state.functions, notes: [] };
				}
			} finally {
				if (free) this.giveBack();
			}
			await patiently(sleep(5), patience); // another call is just starting the first shell
		}
	}

	/** End the shell if it is idle; its state stays. */
	async end(): Promise<void> {
		if (!this.#seat.take("end")) return;
		try {
			const bash = this.#bash ?? (await this.#attach(this.#seat.current));
			this.#bash = undefined;
			if (!bash || bash.isOver()) return;
			bash.leave();
			await bash.process.wait({ timeout: 5_000 });
		} finally {
			this.#seat.giveBack();
		}
	}

	close(): void {
		this.#bash?.close();
		this.#bash = undefined;
	}
}

const newShell = (why: string, cwd: string, restored: boolean): string =>
	`${why}, so this is a new shell, in ${cwd}: ${restored ? "it has the variables, functions and options of the last one, as far as known, but not its jobs" : "the directory, variables, functions and options of the last one are gone"}`;
