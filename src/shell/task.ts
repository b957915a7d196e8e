/** The shell of one task, as one runtime sees it: the persistent one, or for a second command at the same time one of its own. */
import { constants } from "node:os";
import path from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { afterwards, due } from "../base/due.js";
import { HoldfastError } from "../base/errors.js";
import { statIfThere } from "../base/files.js";
import { utf8 } from "../base/text.js";
import { procDir } from "../keeper/layout.js";
import { CONTAINER } from "../process/limits.js";
import type { Process } from "../process/process.js";
import type { Runtime } from "../process/runtime.js";
import { readSpec } from "../process/spec.js";
import { Bash } from "./bash.js";
import { type Birth, bear } from "./birth.js";
import { type Outcome, runCommand } from "./command.js";
import { existingParent, isRemoved, type Look } from "./directory.js";
import { interrupted, neverBegan, type Patience, patiently } from "./patience.js";
import { Seat } from "./seat.js";
import type { RunOptions, RunResult } from "./shells.js";
import type { Slot } from "./slot.js";
import type { Slots } from "./slots.js";
import { readState, SNAPSHOTS } from "./state.js";
import { workdirThere } from "./workdir.js";

const TRIES = 3;
const STATE_MS = 1_000; // for a shell to write down its state
const STALE =
	"the shell could not write down its state (a full disk, or a limit or option that it was given); what it exports may be older than its last command";
const UNMADE =
	"the shell's own files were moved, changed or removed, so a new one has taken over its directory, variables, functions and options as far as known; background jobs go on, but `jobs` does not show them any more. Leave /run/holdfast and Holdfast's home alone";

interface Owner {
	/** Takes work that nobody waits for. */
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

interface Using {
	bash: Bash;
	readonly own: boolean; // not the task's own shell, but one for this command alone
	readonly bornIn: string;
	readonly notes: string[];
}

export class TaskShell {
	readonly #runtime: Runtime;
	readonly #slots: Slots;
	readonly #task: string;
	readonly #seat: Seat;
	readonly #later: Owner["later"];
	readonly #closing: AbortSignal;
	/** Those that run a command. */
	readonly #atWork = new Set<Bash>();
	#bash: Bash | undefined;
	/** The task's shell is being born, and whoever needed it may have gone: then the seat is the birth's until it is over. */
	#birth: Promise<Bash> | undefined;
	#orphan: Promise<unknown> | undefined;
	/** What there is to say of the birth, for the first command. */
	#bornWith: string[] = [];

	constructor(runtime: Runtime, slots: Slots, task: string, { later, closing }: Owner) {
		this.#later = later;
		this.#closing = closing;
		this.#runtime = runtime;
		this.#slots = slots;
		this.#task = task;
		this.#seat = new Seat(runtime, task);
	}

	async run(options: RunOptions): Promise<RunResult> {
		const patience: Patience = { signal: options.signal, deadline: performance.now() + options.timeoutMs, trouble: () => this.#slots.trouble };
		if (this.#orphan) await patiently(this.#orphan, patience);
		let slot = this.#slots.takeReady() ?? (await this.#slots.take().catch(neverBegan)); // at once if it can be: who comes first gets the seat
		const own = !this.#seat.take(slot.id);
		let outcome: Outcome | undefined;
		let using: Using | undefined;
		try {
			for (let tries = 1; ; tries++) {
				using = own ? await this.#another(patience) : await this.#main(patience, using?.notes);
				this.#atWork.add(using.bash);
				outcome = await this.#send(using, slot, { ...options, ...patience });
				this.#atWork.delete(using.bash);
				if (outcome.end !== "unsent" && outcome.end !== "unable") break;
				slot.reset(); // the shell had ended before it took the command, or could not run it: it is certain that nothing ran
				if (using.bash.far) slot = await this.#slots.renew(slot);
				if (outcome.end === "unable") {
					using.bash.leave();
					using.notes.push(
						"the shell could not open files any more (a limit that it was given, as by `ulimit -n`), so a new one has taken over its state, without such limits",
					);
				}
				this.#forget(using.bash);
				if (tries === TRIES) throw new HoldfastError("START_FAILED", "nothing ran: the shell ended again and again before it took the command");
			}
			return await this.#result(using, slot, outcome);
		} catch (error) {
			if (slot.shown)
				this.#later(slot.letGo()); // it may have been taken, and nobody can say: it stays where it can be found
			else if (!outcome || outcome.end === "unsent" || outcome.end === "unable") this.#slots.giveBack(slot);
			if (!slot.shown) neverBegan(error);
			throw error;
		} finally {
			if (using) this.#atWork.delete(using.bash);
			if (own && outcome?.end !== "running") using?.bash.leave();
			if (!own && outcome?.end === "running" && using?.bash.abandoned) this.#seat.leaveTo(slot.id);
			else if (!own) this.#giveBack();
			this.#slots.fill();
		}
	}

	/** The seat; unless a birth that nobody waits for any more still needs it. */
	#giveBack(): void {
		if (!this.#birth) {
			this.#seat.giveBack();
			return;
		}
		this.#orphan = this.#birth
			.catch(() => {}) // who comes next tries again, and is told
			.finally(() => {
				this.#orphan = undefined;
				this.#seat.giveBack();
			});
		this.#later(this.#orphan);
	}

	async #send({ bash, notes }: Using, slot: Slot, options: RunOptions & Patience): Promise<Outcome> {
		if (options.signal?.aborted) throw interrupted(options.signal);
		const { sandbox } = await this.#runtime.place(this.#task);
		if (sandbox) slot.share(sandbox);
		if (!bash.far && (!isDirectory(bash.at(bash.cwd)) || isRemoved(bash.bash.pid))) {
			const parent = existingParent(bash.cwd, bash.at);
			const note = gone(bash.cwd, parent);
			if (bash.moveTo(parent)) notes.push(note);
		}
		const workdir = options.workdir === undefined ? undefined : await this.#workdir(bash, options.workdir, notes);
		options.permit?.(workdir ?? bash.cwd, slot.id);
		return runCommand(bash, slot, {
			...options,
			...(workdir === undefined ? {} : { workdir }),
			starter: this.#runtime.self,
			limits: this.#runtime.boundaries.forCommand(),
		});
	}

	/** For one command. */
	async #workdir({ cwd, at, process: { box } }: Bash, asked: string, notes: string[]): Promise<string> {
		if (box) {
			const { dir, note } = await workdirThere(asked, { cwd, box });
			if (note !== undefined) notes.push(note);
			return dir;
		}
		const dir = path.resolve(cwd, asked);
		checkWorkdir(dir, at);
		return dir;
	}

	async #result(using: Using, slot: Slot, outcome: Outcome): Promise<RunResult> {
		const { bash, own, notes, bornIn } = using;
		const moved = outcome.end === "ended" ? await bash.line.moved() : undefined;
		if (moved !== undefined) notes.push(gone(bornIn, moved));
		const process = this.#runtime.registry.process(outcome.spec);
		const durationMs = Math.round(performance.now() - outcome.startedAt);
		let after = "";
		let end = outcome.forced ?? ("exited" as RunResult["end"]);
		let exitCode = outcome.code;
		let signal: NodeJS.Signals | null = null;
		let { limit } = outcome;
		if (outcome.end === "died") {
			const status = bash.process.status();
			if ("limit" in status && status.limit?.by !== CONTAINER) limit ??= status.limit; // what its keeper counts there is of the shell's whole life
			after = await bash.words(outcome.shellOffset); // an EXIT trap runs when the command's own output is closed already
			if (status.status === "exited" || status.status === "killed") {
				({ exitCode, signal } = status);
				slot.override(status.exitCode, signal ? constants.signals[signal] : undefined);
			} else if (!outcome.forced) end = "lost";
			if (!own) {
				this.#forget(bash);
				if (bash.vanished() && "reason" in status) notes.push(`the command and its shell are gone: ${status.reason}`);
				else notes.push("the command ended the shell it ran in; a new one has taken over its directory, variables, functions and options as far as known");
				await this.#replace(using);
			}
		}
		if (outcome.end === "unrecorded") {
			end = outcome.forced ?? "lost";
			slot.lose();
			notes.push("the shell could not record how the command ended (the command has made it unable to, as `set -r` does)");
			if (!own) {
				this.#forget(bash);
				notes.push("a new one has taken over the state from before the command");
				await this.#replace(using);
			}
		}
		if (outcome.forced && outcome.end === "ended" && bash.cwd !== bornIn && (bash.far || isDirectory(bornIn))) bash.moveTo(bornIn); // as if it had never been
		if (outcome.end === "ended" && !own && breaksBash(outcome, process)) {
			const jobs = bash.line.children().length;
			bash.leave();
			await this.#replace(using);
			if (jobs > 0) notes.push("the command was not complete, and a new shell has taken over; background jobs go on, but `jobs` does not show them any more");
		}
		if (outcome.end === "running") {
			end = "running";
			this.#later(slot.letGo());
			if (own || !bash.abandoned) bash.leave();
			if (outcome.unreached !== undefined) {
				notes.push(`${outcome.unreached}. This is what was last seen of it; the next look finds out more. Do not start it again before that.`);
				this.#forget(bash);
			} else if (!own && !bash.abandoned) await this.#replace(using);
		}
		if (outcome.forced) {
			exitCode = { timeout: 124, interrupted: 130, killed: 137 }[outcome.forced];
			signal = null;
			slot.override(exitCode, undefined, limit);
		} else if (limit && exitCode !== null) slot.override(exitCode, signal ? constants.signals[signal] : undefined, limit);
		const tracked = outcome.end === "running" || outcome.left;
		let released = false;
		return {
			end,
			process,
			tracked,
			silent: outcome.traceless,
			exitCode,
			signal,
			...(limit ? { limit } : {}),
			after,
			cwd: own ? bornIn : using.bash.cwd, // the task's shell is elsewhere engaged, and not moved by this
			durationMs,
			notes,
			release: ({ keep = false } = {}) => {
				if (released) return;
				released = true;
				if (outcome.end === "running") return;
				if (outcome.traceless && slot.reset()) this.#slots.giveBack(slot);
				else if (keep || outcome.left) {
					process.status(); // notes its end
					this.#later(slot.letGo());
				} else this.#later(slot.remove(this.#runtime, outcome.spec, process.log.bounds().end));
			},
		};
	}

	/** The task's own shell: the one there is, or a new one with the state of the last. Only for who has the seat. */
	async #main(patience: Patience, notes: string[] = []): Promise<Using> {
		const id = this.#seat.current;
		if (this.#bash && (this.#bash.process.id !== id || this.#bash.left)) {
			this.#bash.close();
			this.#bash = undefined;
		}
		this.#bash ??= await this.#attach(id);
		const { sandbox } = await this.#runtime.place(this.#task);
		if (this.#bash && this.#bash.process.spec.sandbox !== sandbox?.id) {
			this.#bash.leave(); // of a sandbox that is being left
			this.#bash = undefined;
		}
		if (this.#bash && !this.#bash.isOver() && !this.#bash.post.isWhole()) {
			this.#bash.leave();
			this.#bash = undefined;
			notes = [...notes, UNMADE];
		}
		const bash = this.#bash ?? (await patiently(this.#bear(id), patience));
		if (this.#bornWith.length > 0) notes = [...notes, ...this.#bornWith.splice(0)];
		return { bash, own: false, bornIn: bash.cwd, notes };
	}

	#bear(id: string | undefined): Promise<Bash> {
		this.#birth = afterwards(async () => {
			try {
				const { bash, notes } = await bear(this.#runtime, await this.#birthOf(id));
				this.#bash = bash;
				this.#bornWith.push(...notes);
				this.#seat.current = bash.process.id;
				return bash;
			} finally {
				this.#birth = undefined;
			}
		});
		return this.#birth;
	}

	/** What became of the command is known, and must be told also if there is no next shell yet. */
	async #replace(using: Using): Promise<void> {
		try {
			const next = await this.#main({ deadline: due() ?? Number.POSITIVE_INFINITY });
			using.bash = next.bash;
			using.notes.push(...next.notes);
		} catch (error) {
			using.notes.push(`a new shell could not be started yet (${(error as Error).message}); the next command tries again`);
		}
	}

	/** It has ended: the next one is to be found, or started. */
	#forget(bash: Bash): void {
		bash.close();
		if (this.#bash === bash) this.#bash = undefined;
	}

	/** For a command beside another: the same state, as it was before that one. */
	async #another(patience: Patience): Promise<Using> {
		const birth = afterwards(() => this.#birthOf(this.#seat.current).then((like) => bear(this.#runtime, like)));
		const started = await patiently(birth, patience).catch((error) => {
			this.#later(birth.then(({ bash }) => bash.leave())); // nobody else has a use for it
			throw error;
		});
		const note =
			"another command of this task is running, so this one ran in a shell of its own with the same directory and environment; what it changed there is not kept";
		return { bash: started.bash, own: true, bornIn: started.bash.cwd, notes: [note, ...started.notes] };
	}

	async #birthOf(id: string | undefined): Promise<Birth> {
		const { box, cwd } = await this.#runtime.place(this.#task);
		const state = id && path.join(procDir(this.#runtime.home, id), "shell");
		const there = !box || !id || (await Promise.all(SNAPSHOTS.map((name) => box.fetch(id, `shell/${name}`)))).some(Boolean);
		const last = state && there ? readState(state) : undefined;
		return {
			task: this.#task,
			cwd: last?.exported.PWD ?? (box ? cwd : this.#runtime.directory),
			signal: this.#closing,
			...(state && last ? { from: state } : {}),
		};
	}

	async #attach(id: string | undefined): Promise<Bash | undefined> {
		const spec = id === undefined ? undefined : readSpec(procDir(this.#runtime.home, id));
		const bash = spec && (await Bash.attach(this.#runtime.registry.process(spec)));
		if (bash) this.#runtime.watchFor(bash.process);
		return bash;
	}

	/** Its directory and exported variables. */
	async context(patience: Patience): Promise<TaskContext> {
		for (;;) {
			if (this.#orphan) await patiently(this.#orphan, patience);
			const free = this.#seat.take("context");
			try {
				if (free) {
					if (this.#bash?.isOver()) this.#forget(this.#bash);
					const { bash, notes } = await this.#main(patience);
					const giveUp = performance.now() + STATE_MS;
					for (;;) {
						await bash.fetchState();
						const state = bash.settled() ?? (performance.now() > giveUp || bash.isOver() ? readState(bash.state) : undefined);
						if (state)
							return {
								cwd: bash.far ? bash.cwd : existingParent(bash.cwd, bash.at),
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
					if (state) return { cwd: bash.far ? cwd : existingParent(cwd, bash.at), exported: state.exported, functions: state.functions, notes: [] };
				}
			} finally {
				if (free) this.#giveBack();
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

	/** Wait no longer for commands; they go on. */
	abandon(): void {
		for (const bash of this.#atWork) bash.abandon();
	}

	close(): void {
		this.#bash?.close();
		this.#bash = undefined;
	}
}

const gone = (dir: string, parent: string): string => `the shell's directory ${dir} is gone; it is in ${parent} now`;

/** bash 5.2 corrupts its own memory when the text ends inside $(…), and then dies at the next command or a later one. */
function breaksBash(outcome: Outcome, process: Process): boolean {
	return (outcome.code === 1 || outcome.code === 2) && !outcome.traceless && /EOF.*\)/.test(utf8(process.read(0, 4096).bytes));
}

/** What cannot be looked at (a directory above it is locked, its path is too long) is left to the shell, which is in it. */
function isDirectory(dir: string): boolean {
	try {
		return statIfThere(dir)?.isDirectory() ?? false;
	} catch {
		return true;
	}
}

function checkWorkdir(dir: string, at: Look): void {
	const stat = statIfThere(at(dir));
	if (!stat) throw new HoldfastError("INVALID", `the working directory ${dir} does not exist; nothing ran`);
	if (!stat.isDirectory()) throw new HoldfastError("INVALID", `the working directory ${dir} is not a directory; nothing ran`);
}
