/** The result of a command, and what is done with its slot and with the shell that ran it. */
import { constants } from "node:os";
import { utf8 } from "../base/index.js";
import { CONTAINER, type LimitMet, type Process, type Runtime } from "../process/index.js";
import type { Bash } from "./bash.js";
import { isEnding } from "./end-task.js";
import { type BegunOutcome, type Ended, FORCED_CODES, type Running, type ShellGone } from "./outcome.js";
import type { Persistent, ShellOwner } from "./persistent.js";
import type { RunResult } from "./shells.js";
import type { Slot } from "./slot.js";
import type { Slots } from "./slots.js";

const UNCOLLECTED = "the keeper of this command's output was killed from outside, so some or all of that output is lost; run the command again if you need it";

/** A shell while it runs a command. */
export interface Using {
	bash: Bash;
	readonly own: boolean; // not the task's own shell, but one for this command alone
	readonly bornIn: string;
	readonly notes: string[];
}

/** How a command ended, as its result says it. */
interface HowEnded {
	end: RunResult["end"];
	exitCode: number | null;
	signal: NodeJS.Signals | null;
	limit: LimitMet | undefined;
	after: string;
}

interface ResultsOf {
	readonly task: string;
	readonly persistent: Persistent;
	readonly slots: Slots;
	/** Work that no caller waits for. */
	readonly later: ShellOwner["later"];
}

export class Results {
	readonly #runtime: Runtime;
	readonly #task: string;
	readonly #persistent: Persistent;
	readonly #slots: Slots;
	readonly #later: ShellOwner["later"];

	constructor(runtime: Runtime, { task, persistent, slots, later }: ResultsOf) {
		this.#runtime = runtime;
		this.#task = task;
		this.#persistent = persistent;
		this.#slots = slots;
		this.#later = later;
	}

	async of(using: Using, slot: Slot, outcome: BegunOutcome): Promise<RunResult> {
		const { own, notes, bornIn } = using;
		if (outcome.end !== "running" && !slot.collects()) notes.push(UNCOLLECTED);
		const process = this.#runtime.registry.process(outcome.spec);
		const durationMs = Math.round(performance.now() - outcome.startedAt);
		const found = await this.#settle(using, slot, outcome, process);
		const { limit } = found;
		let { exitCode, signal } = found;
		if (outcome.end !== "running" && outcome.forced) {
			exitCode = FORCED_CODES[outcome.forced];
			signal = null;
			slot.override(exitCode, undefined, limit);
		} else if (limit && exitCode !== null) slot.override(exitCode, signal ? constants.signals[signal] : undefined, limit);
		let released = false;
		return {
			end: found.end,
			process,
			tracked: outcome.end === "running" || outcome.left,
			silent: outcome.end === "ended" && (outcome.trace === "none" || outcome.trace === "silence"),
			exitCode,
			signal,
			...(limit ? { limit } : {}),
			after: found.after,
			cwd: own ? bornIn : using.bash.cwd, // another command has the task's shell, which this one did not move
			durationMs,
			notes,
			release: ({ keep = false } = {}) => {
				if (released) return;
				released = true;
				if (outcome.end === "running") return;
				if (outcome.end === "ended" && outcome.trace !== "more" && !keep) this.#later(this.#release(slot, outcome, process));
				else if (keep || outcome.left) {
					process.status(); // notes its end
					this.#later(slot.letGo());
				} else this.#later(slot.remove(this.#runtime, outcome.spec, process.log.bounds().end));
			},
		};
	}

	/** Does what the outcome calls for to the slot and the shell, and says how the command ended. */
	#settle(using: Using, slot: Slot, outcome: BegunOutcome, process: Process): Promise<HowEnded> | HowEnded {
		switch (outcome.end) {
			case "ended":
				return this.#ended(using, outcome, process);
			case "died":
				return this.#died(using, slot, outcome);
			case "unrecorded":
				return this.#unrecorded(using, slot, outcome);
			case "running":
				return this.#running(using, slot, outcome);
			default:
				return outcome satisfies never;
		}
	}

	async #ended(using: Using, outcome: Ended, process: Process): Promise<HowEnded> {
		const { bash, own, notes, bornIn } = using;
		const moved = await bash.line.moved();
		if (moved !== undefined) notes.push(gone(bornIn, moved));
		const after = outcome.told ? await bash.words(outcome.shellOffset) : "";
		if (outcome.forced && bash.cwd !== bornIn && bash.line.existing(bornIn) === bornIn) bash.moveTo(bornIn); // as if it had never been
		if (!own && breaksBash(outcome, process)) {
			const jobs = bash.line.children().length;
			bash.leave();
			await this.#replace(using);
			if (jobs > 0) notes.push("the command was not complete, and a new shell has taken over; background jobs go on, but `jobs` does not show them any more");
		}
		return { end: outcome.forced ?? "exited", exitCode: outcome.code, signal: null, limit: outcome.limit, after };
	}

	async #died(using: Using, slot: Slot, outcome: ShellGone): Promise<HowEnded> {
		const { bash, own, notes } = using;
		const status = bash.process.status();
		const found: HowEnded = { end: outcome.forced ?? "exited", exitCode: null, signal: null, limit: outcome.limit, after: "" };
		if ("limit" in status && status.limit?.by !== CONTAINER) found.limit ??= status.limit; // what its keeper counts there is of the shell's whole life
		found.after = await bash.words(outcome.shellOffset); // an EXIT trap runs when the command's own output is closed already
		if (status.status === "exited" || status.status === "killed") {
			Object.assign(found, { exitCode: status.exitCode, signal: status.signal });
			slot.override(status.exitCode, status.signal ? constants.signals[status.signal] : undefined);
		} else if (!outcome.forced) found.end = "lost";
		if (own) return found;
		this.#persistent.forget(bash);
		const lost = bash.line.isLost() && "reason" in status ? `the command and its shell are gone: ${status.reason}` : undefined;
		const how = lost ?? (found.signal ? "the shell was killed with the command that it ran" : "the command ended the shell it ran in");
		if (isEnding(this.#runtime, this.#task))
			notes.push(`${how}; its task was ended meanwhile, so the next command has a new shell without the state of this one`);
		else if ((await this.#replace(using)) && !lost)
			notes.push(`${how}; a new one has taken over its directory, variables, functions and options as far as known`);
		else notes.push(how);
		return found;
	}

	async #unrecorded(using: Using, slot: Slot, { forced, limit }: ShellGone): Promise<HowEnded> {
		slot.lose();
		using.notes.push("the shell could not record how the command ended (the command has made it unable to, as `set -r` does)");
		if (!using.own) {
			this.#persistent.forget(using.bash);
			if (await this.#replace(using)) using.notes.push("a new one has taken over the state from before the command");
		}
		return { end: forced ?? "lost", exitCode: null, signal: null, limit, after: "" };
	}

	async #running(using: Using, slot: Slot, { unreached, limit }: Running): Promise<HowEnded> {
		const { bash, own, notes } = using;
		this.#later(slot.letGo());
		if (own || !bash.abandoned) bash.leave();
		if (unreached !== undefined) {
			notes.push(`${unreached}. This is what was last seen of it; the next look finds out more. Do not start it again before that.`);
			this.#persistent.forget(bash);
		} else if (!own && !bash.abandoned) {
			await this.#replace(using);
			if (using.bash !== bash) notes.push(`the next command has a new shell, in ${using.bash.cwd}, with the state from before this one`);
		}
		return { end: "running", exitCode: null, signal: null, limit, after: "" };
	}

	/** After a command that ended by itself and left nothing behind. */
	async #release(slot: Slot, { spec, trace }: Ended, { log }: Process): Promise<void> {
		const next = await slot.release(spec, { keep: false, traceless: trace === "none" });
		if (next === "free") this.#slots.giveBack(slot);
		else if (next === "full") await slot.discard();
		else await slot.remove(this.#runtime, spec, log.bounds().end);
	}

	/** Starts the next shell. A failure becomes a note: the result of the command is known, and must reach the caller all the same. */
	async #replace(using: Using): Promise<boolean> {
		try {
			const next = await this.#persistent.ready({ deadline: this.#runtime.home.deadlines.due() ?? Number.POSITIVE_INFINITY }, { said: true });
			using.bash = next.bash;
			using.notes.push(...next.notes);
			return true;
		} catch (error) {
			using.notes.push(`a new shell could not be started yet (${(error as Error).message}); the next command tries again`);
			return false;
		}
	}
}

export const gone = (dir: string, parent: string): string => `the shell's directory ${dir} is gone; it is in ${parent} now`;

/** bash 5.2 corrupts its own memory when the text ends inside $(…), and then dies at the next command or a later one. */
function breaksBash({ code, trace }: Ended, process: Process): boolean {
	return (code === 1 || code === 2) && trace !== "none" && trace !== "silence" && /EOF.*\)/.test(utf8(process.read(0, 4096).bytes));
}
