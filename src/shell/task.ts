/** The commands of one task: each runs in its persistent shell, or, while another does, in one of its own. What comes of each is told here. */
import { constants } from "node:os";
import path from "node:path";
import { due } from "../base/due.js";
import { HoldfastError } from "../base/errors.js";
import { statIfThere } from "../base/files.js";
import { utf8 } from "../base/text.js";
import { CONTAINER } from "../process/limits.js";
import type { Process } from "../process/process.js";
import type { Runtime } from "../process/runtime.js";
import { describeEnd } from "../process/status.js";
import type { Bash } from "./bash.js";
import { FORCED_CODES, type Outcome, runCommand } from "./command.js";
import { existingParent, isRemoved, type Look } from "./directory.js";
import { isEnding } from "./end-task.js";
import { interrupted, neverBegan, type Patience, patienceOf, patiently } from "./patience.js";
import { type Owner, Persistent, type ReadyOptions } from "./persistent.js";
import { asNoSpace, Reserve } from "./reserve.js";
import type { RunOptions, RunResult } from "./shells.js";
import type { Slot } from "./slot.js";
import type { Slots } from "./slots.js";
import { workdirThere } from "./workdir.js";

const WORDS_LINES = 3;
const TRIES = 4; // the one there is, two with its state, and one without
const BESIDE =
	"another command of this task is running, so this one ran in a shell of its own with the same directory and environment; what it changed there is not kept";

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
	readonly persistent: Persistent;
	readonly #later: Owner["later"];
	readonly #reserve: Reserve;
	/** Those that run a command. */
	readonly #atWork = new Set<Bash>();
	/** Calls under way. */
	readonly #calls = new Set<Promise<unknown>>();
	readonly #ownSlots: boolean;

	/** `ownSlots`: they are this task's alone, and close with it. */
	constructor(runtime: Runtime, { slots, ownSlots }: { slots: Slots; ownSlots: boolean }, task: string, owner: Owner) {
		this.#later = owner.later;
		this.#runtime = runtime;
		this.#slots = slots;
		this.#ownSlots = ownSlots;
		this.#task = task;
		this.#reserve = new Reserve(runtime.home.root);
		this.persistent = new Persistent(runtime, task, owner);
	}

	/** While the disk is full a command can still make room. */
	run(options: RunOptions): Promise<RunResult> {
		return this.#counted(this.#reserve.use(() => this.#run(options)));
	}

	context(patience: Patience): ReturnType<Persistent["context"]> {
		return this.#counted(this.persistent.context(patience));
	}

	get busy(): boolean {
		return this.#calls.size > 0 || this.persistent.orphan !== undefined;
	}

	/** Frees what is held here for the task, once its calls have returned. Its shell goes on. */
	async close(): Promise<void> {
		while (this.busy) await Promise.allSettled([...this.#calls, this.persistent.orphan]);
		this.persistent.close();
		if (this.#ownSlots) await this.#slots.close();
	}

	#counted<T>(call: Promise<T>): Promise<T> {
		this.#calls.add(call);
		const done = () => this.#calls.delete(call);
		call.then(done, done);
		return call;
	}

	async #run(options: RunOptions): Promise<RunResult> {
		const patience = patienceOf({
			signal: options.signal,
			answerBy: options.answerBy,
			place: this.#runtime.placeName,
			trouble: () => this.#slots.trouble,
		});
		if (this.persistent.orphan) await patiently(this.persistent.orphan, patience);
		const { slot: first, own } = await this.#begin(patience);
		let slot = first;
		let outcome: Outcome | undefined;
		let using: Using | undefined;
		try {
			for (let tries = 1; ; tries++) {
				using = own
					? await this.#beside(patience)
					: await this.#main(patience, { notes: using?.notes ?? [], said: outcome?.end === "unable", afresh: tries === TRIES });
				this.#atWork.add(using.bash);
				outcome = await this.#send(using, slot, options);
				this.#atWork.delete(using.bash);
				if (outcome.end !== "unsent" && outcome.end !== "unable") break;
				const blank = slot.reset(); // the shell had ended before it took the command, or could not run it: it is certain that nothing ran
				if (using.bash.far) slot = await this.#slots.renew(slot);
				else if (!blank) {
					const noted = slot; // somebody has looked meanwhile, and noted that it is over
					this.#later(noted.discard().then(() => this.#runtime.registry.forget(noted.id)));
					slot = await this.#slots.take();
				}
				if (outcome.end === "unable") {
					using.bash.leave();
					using.notes.push(
						"the shell could not open files any more (a limit that it was given, as by `ulimit -n`), so a new one has taken over its state, without such limits",
					);
				}
				this.persistent.forget(using.bash);
				if (tries === TRIES) throw await neverTook(using.bash, outcome);
			}
			return await this.#result(using, slot, outcome);
		} catch (error) {
			if (slot.shown)
				this.#later(slot.letGo()); // it may have been taken, and nobody can say: it stays where it can be found
			else if ((!outcome || outcome.end === "unsent" || outcome.end === "unable") && !this.#slots.refuse(slot)) neverBegan(dirRemoved(slot.dir, error));
			if (!slot.shown) neverBegan(asNoSpace(error));
			throw error;
		} finally {
			if (using) this.#atWork.delete(using.bash);
			if (own && outcome?.end !== "running") using?.bash.leave();
			if (!own && outcome?.end === "running" && using?.bash.abandoned) this.persistent.leaveTo(slot.id);
			else if (!own) this.persistent.giveBack();
			this.#slots.fill();
			this.#reserve.keep();
		}
	}

	/** A slot and, unless another command has it, the seat. The first to come gets the seat, also while there is no slot ready. */
	async #begin(patience: Patience): Promise<{ slot: Slot; own: boolean }> {
		const ready = this.#slots.takeReady();
		const own = !this.persistent.take(ready?.id ?? "starting");
		if (ready) return { slot: ready, own };
		try {
			const slot = await this.#takeSlot(patience);
			if (!own) this.persistent.passOn(slot.id);
			return { slot, own };
		} catch (error) {
			if (!own) this.persistent.giveBack();
			return neverBegan(asNoSpace(error));
		}
	}

	/** On another machine the first one waits for that to be reached, or made; here it takes a moment. */
	async #takeSlot(patience: Patience): Promise<Slot> {
		const taking = this.#slots.take();
		if (!this.#ownSlots) return taking;
		try {
			return await patiently(taking, patience);
		} catch (error) {
			this.#later(taking.then((slot) => this.#slots.giveBack(slot))); // for the next command
			throw error;
		}
	}

	async #send({ bash, notes }: Using, slot: Slot, options: RunOptions): Promise<Outcome> {
		if (options.signal?.aborted) throw interrupted(options.signal);
		const { sandbox } = await this.#runtime.place(this.#task);
		if (sandbox) slot.share(sandbox);
		if (!bash.far && (!isDirectory(bash.at(bash.cwd)) || isRemoved(bash.bash.pid))) {
			const parent = existingParent(bash.cwd, bash.at);
			const note = gone(bash.cwd, parent);
			if (bash.moveTo(parent)) notes.push(note);
		}
		const workdir = options.workdir === undefined ? undefined : await this.#workdir(bash, options.workdir);
		options.permit?.(workdir ?? bash.cwd, slot.id);
		return runCommand(bash, slot, {
			...options,
			...(workdir === undefined ? {} : { workdir }),
			starter: this.#runtime.self,
			limits: this.#runtime.boundaries.forCommand(),
		});
	}

	/** For one command. */
	async #workdir({ cwd, at, process: { box } }: Bash, asked: string): Promise<string> {
		if (box) return workdirThere(asked, { cwd, box });
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
		let after = outcome.told ? await bash.words(outcome.shellOffset) : "";
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
				this.persistent.forget(bash);
				const gone = bash.vanished() && "reason" in status ? `the command and its shell are gone: ${status.reason}` : undefined;
				const how = gone ?? (signal ? "the shell was killed with the command that it ran" : "the command ended the shell it ran in");
				if (isEnding(this.#runtime, this.#task))
					notes.push(`${how}; its task was ended meanwhile, so the next command has a new shell without the state of this one`);
				else if ((await this.#replace(using)) && !gone)
					notes.push(`${how}; a new one has taken over its directory, variables, functions and options as far as known`);
				else notes.push(how);
			}
		}
		if (outcome.end === "unrecorded") {
			end = outcome.forced ?? "lost";
			slot.lose();
			notes.push("the shell could not record how the command ended (the command has made it unable to, as `set -r` does)");
			if (!own) {
				this.persistent.forget(bash);
				if (await this.#replace(using)) notes.push("a new one has taken over the state from before the command");
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
				this.persistent.forget(bash);
			} else if (!own && !bash.abandoned) {
				await this.#replace(using);
				if (using.bash !== bash) notes.push(`the next command has a new shell, in ${using.bash.cwd}, with the state from before this one`);
			}
		}
		if (outcome.forced) {
			exitCode = FORCED_CODES[outcome.forced];
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

	async #main(patience: Patience, options: ReadyOptions): Promise<Using> {
		const ready = await this.persistent.ready(patience, options);
		return { ...ready, own: false, bornIn: ready.bash.cwd };
	}

	async #beside(patience: Patience): Promise<Using> {
		const { bash, notes } = await this.persistent.another(patience);
		return { bash, own: true, bornIn: bash.cwd, notes: [BESIDE, ...notes] };
	}

	/** What became of the command is known, and must be told also if there is no next shell yet. */
	async #replace(using: Using): Promise<boolean> {
		try {
			const next = await this.persistent.ready({ deadline: due() ?? Number.POSITIVE_INFINITY }, { said: true });
			using.bash = next.bash;
			using.notes.push(...next.notes);
			return true;
		} catch (error) {
			using.notes.push(`a new shell could not be started yet (${(error as Error).message}); the next command tries again`);
			return false;
		}
	}

	/** Wait no longer for commands; they go on. */
	abandon(): void {
		for (const bash of this.#atWork) bash.abandon();
	}
}

/** Says how the last of them ended, and its last words, which tell why. */
async function neverTook(bash: Bash, { shellOffset }: Outcome): Promise<HoldfastError> {
	const words = (await bash.words(shellOffset)).trim().split("\n").slice(-WORDS_LINES).join("; ");
	const end = `${describeEnd(bash.process.status())}${words === "" ? "" : `; it printed: ${words}`}`;
	return new HoldfastError(
		"START_FAILED",
		`nothing ran: ${TRIES} shells in a row ended before they took the command (the last one: ${end}). Look for the reason in the profile files (/etc/bash.bashrc, ~/.profile and the like); a background process needs no shell`,
	);
}

const gone = (dir: string, parent: string): string => `the shell's directory ${dir} is gone; it is in ${parent} now`;

/** bash 5.2 corrupts its own memory when the text ends inside $(…), and then dies at the next command or a later one. */
function breaksBash(outcome: Outcome, process: Process): boolean {
	return (outcome.code === 1 || outcome.code === 2) && !outcome.traceless && /EOF.*\)/.test(utf8(process.read(0, 4096).bytes));
}

const dirRemoved = (dir: string, cause: unknown): HoldfastError =>
	new HoldfastError(
		"HOME",
		`nothing ran: ${dir}, made ready for the command, is gone: Holdfast's home was removed, or files in it were. Send the command again`,
		{
			cause,
		},
	);

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
	if (!stat) throw new HoldfastError("INVALID", `the working directory ${dir} does not exist; nothing ran, so make it first or give one that exists`);
	if (!stat.isDirectory()) throw new HoldfastError("INVALID", `the working directory ${dir} is not a directory; nothing ran, so give one that is`);
}
