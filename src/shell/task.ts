/** The commands of one task: each runs in its persistent shell, or, while another does, in one of its own. Their results: result.ts. */
import path from "node:path";
import { HoldfastError } from "../base/index.js";
import { describeEnd, type Runtime } from "../process/index.js";
import type { Bash } from "./bash.js";
import type { Births } from "./births.js";
import { runCommand } from "./command.js";
import { hasRun, type NotRun, type Outcome } from "./outcome.js";
import { interrupted, neverBegan, type Patience, patienceOf, patiently } from "./patience.js";
import { Persistent, type ReadyOptions, type ShellOwner } from "./persistent.js";
import { asNoSpace, Reserve } from "./reserve.js";
import { gone, Results, type Using } from "./result.js";
import type { CommandRequest, RunResult } from "./shells.js";
import type { Slot } from "./slot.js";
import type { Slots } from "./slots.js";

const WORDS_LINES = 3;
const TRIES = 4; // the one there is, two with its state, and one without
const BESIDE =
	"another command of this task is running, so this one ran in a shell of its own with the same directory and environment; what it changed there is not kept";

export class TaskShell {
	readonly #runtime: Runtime;
	readonly #slots: Slots;
	readonly #task: string;
	readonly persistent: Persistent;
	readonly #later: ShellOwner["later"];
	readonly #reserve: Reserve;
	readonly #results: Results;
	/** Shells that run a command. */
	readonly #atWork = new Set<Bash>();
	/** Calls under way. */
	readonly #calls = new Set<Promise<unknown>>();
	readonly #ownSlots: boolean;
	readonly #births: Births | undefined;

	/** `births`: its slots are shared with the tasks that take turns there; else they are this task's alone, and close with it. */
	constructor(runtime: Runtime, { slots, births }: { slots: Slots; births?: Births }, task: string, owner: ShellOwner) {
		this.#later = owner.later;
		this.#runtime = runtime;
		this.#slots = slots;
		this.#ownSlots = births === undefined;
		this.#births = births;
		this.#task = task;
		this.#reserve = new Reserve(runtime.home.root);
		this.persistent = new Persistent(runtime, task, owner);
		this.#results = new Results(runtime, { task, persistent: this.persistent, slots, later: owner.later });
	}

	/** While the disk is full a command can still make room: NO_SPACE says that nothing has run, so it is tried once more with the reserve given up. */
	run(options: CommandRequest): Promise<RunResult> {
		const again = (error: unknown) => {
			if (!this.#reserve.helps(error)) throw error;
			return this.#run(options);
		};
		return this.#counted(this.#run(options).catch(again));
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

	async #run(options: CommandRequest): Promise<RunResult> {
		const patience = patienceOf({
			signal: options.signal,
			answerBy: options.answerBy,
			place: this.#runtime.placeName,
			trouble: () => this.#slots.trouble,
			pending: () => this.#runtime.boxes.pendingOf(this.#runtime.wish, this.#task),
		});
		if (this.persistent.orphan) await patiently(this.persistent.orphan, patience);
		const born = this.persistent.isHere ? undefined : await this.#births?.turn(patience);
		const { slot: first, own } = await this.#begin(patience).catch((error) => {
			born?.();
			throw error;
		});
		let slot = first;
		let outcome: Outcome | undefined;
		let using: Using | undefined;
		try {
			for (let tries = 1; ; tries++) {
				using = own
					? await this.#beside(patience)
					: await this.#main(patience, { notes: using?.notes ?? [], said: outcome?.end === "unable", afresh: tries === TRIES });
				born?.();
				this.#atWork.add(using.bash);
				outcome = await this.#send(using, slot, options);
				this.#atWork.delete(using.bash);
				if (hasRun(outcome)) return await this.#results.of(using, slot, outcome);
				// The shell had ended before it took the command, or could not run it: it is certain that nothing ran. Its slot may be gone with the shell's machine.
				const unused = slot;
				const { commandId } = unused.life;
				unused.reset();
				this.#later(unused.discard().then(() => this.#runtime.registry.forget(commandId))); // its end may have been noted
				slot = await this.#slots.take();
				if (!own) this.persistent.passOn(slot.life.commandId);
				if (outcome.end === "unable") {
					using.bash.leave();
					using.notes.push(
						"the shell could not open files any more (a limit that it was given, as by `ulimit -n`), so a new one has taken over its state, without such limits",
					);
				}
				this.persistent.forget(using.bash);
				if (tries === TRIES) throw await neverTook(using.bash, outcome);
			}
		} catch (error) {
			if (slot.shown)
				this.#later(slot.letGo()); // the shell may have taken it, which cannot be known: it stays where it can be found
			else if ((!outcome || !hasRun(outcome)) && !this.#slots.refuse(slot)) neverBegan(dirRemoved(slot.dir, error));
			if (!slot.shown) neverBegan(asNoSpace(error));
			throw error;
		} finally {
			born?.();
			if (using) this.#atWork.delete(using.bash);
			if (own && outcome?.end !== "running") using?.bash.leave();
			if (!own && outcome?.end === "running" && using?.bash.abandoned) this.persistent.leaveTo(slot.life.commandId);
			else if (!own) this.persistent.giveBack();
			this.#slots.fill();
			this.#reserve.keep();
		}
	}

	/** A slot and, unless another command has it, the seat. The first to come gets the seat, also while there is no slot ready. */
	async #begin(patience: Patience): Promise<{ slot: Slot; own: boolean }> {
		const ready = this.#slots.takeReady();
		const own = !this.persistent.take(ready?.life.commandId ?? "starting");
		if (ready) return { slot: ready, own };
		try {
			const slot = await this.#takeSlot(patience);
			if (!own) this.persistent.passOn(slot.life.commandId);
			return { slot, own };
		} catch (error) {
			if (!own) this.persistent.giveBack();
			return neverBegan(asNoSpace(error));
		}
	}

	/** The first one on a remote machine waits until that is reached, or made; one of many at once until it is its turn. */
	async #takeSlot(patience: Patience): Promise<Slot> {
		const taking = this.#slots.take();
		try {
			return await patiently(taking, patience);
		} catch (error) {
			this.#later(taking.then((slot) => this.#slots.giveBack(slot))); // for the next command
			throw error;
		}
	}

	async #send({ bash, notes }: Using, slot: Slot, options: CommandRequest): Promise<Outcome> {
		if (options.signal?.aborted) throw interrupted(options.signal);
		const { sandbox } = await this.#runtime.place(this.#task);
		if (sandbox) slot.share(sandbox);
		const refuge = bash.line.refuge(bash.cwd);
		if (refuge !== undefined) {
			const note = gone(bash.cwd, refuge);
			if (bash.moveTo(refuge)) notes.push(note);
		}
		const workdir = options.workdir === undefined ? undefined : await this.#workdir(bash, options.workdir);
		options.permit?.(workdir ?? bash.cwd, slot.life.commandId);
		return runCommand(bash, slot, {
			...options,
			...(workdir === undefined ? {} : { workdir }),
			starter: this.#runtime.self,
			limits: this.#runtime.boundariesOf(this.#task).forCommand(),
		});
	}

	/** Returns the directory for one command. */
	async #workdir({ cwd, at, process: { machine } }: Bash, asked: string): Promise<string> {
		const dir = path.resolve(cwd, asked);
		await machine.checkDirectory(dir, { cwd, at });
		return dir;
	}

	async #main(patience: Patience, options: ReadyOptions): Promise<Using> {
		const ready = await this.persistent.ready(patience, options);
		return { ...ready, own: false, bornIn: ready.bash.cwd };
	}

	async #beside(patience: Patience): Promise<Using> {
		const { bash, notes } = await this.persistent.another(patience);
		return { bash, own: true, bornIn: bash.cwd, notes: [BESIDE, ...notes] };
	}

	/** Wait no longer for commands; they go on. */
	abandon(): void {
		for (const bash of this.#atWork) bash.abandon();
	}
}

/** Says how the last of them ended, and its last words, which tell why. */
async function neverTook(bash: Bash, { shellOffset }: NotRun): Promise<HoldfastError> {
	const words = (await bash.words(shellOffset)).trim().split("\n").slice(-WORDS_LINES).join("; ");
	const end = `${describeEnd(bash.process.status())}${words === "" ? "" : `; it printed: ${words}`}`;
	return new HoldfastError(
		"START_FAILED",
		`nothing ran: ${TRIES} shells in a row ended before they took the command (the last one: ${end}). Look for the reason in the profile files (/etc/bash.bashrc, ~/.profile and the like); a background process needs no shell`,
	);
}

const dirRemoved = (dir: string, cause: unknown): HoldfastError =>
	new HoldfastError(
		"HOME",
		`nothing ran: ${dir}, made ready for the command, is gone: Holdfast's home was removed, or files in it were. Send the command again`,
		{
			cause,
		},
	);
