/** The outcome of a command that was sent to a shell. Each kind has only the fields that are true of it. */

import type { Spec } from "../keeper/index.js";
import type { LimitMet } from "../process/index.js";

/** The reason for which Holdfast ended a command. */
export type Forced = "timeout" | "interrupted" | "killed";

/** The exit code that is recorded for a command that Holdfast ended. */
export const FORCED_CODES: Readonly<Record<Forced, number>> = { timeout: 124, interrupted: 130, killed: 137 };

interface Sent {
	readonly spec: Spec;
	readonly startedAt: number;
	/** The end of the shell's own log at the start. */
	readonly shellOffset: number;
}

/** The shell had ended before it took the command (`unsent`), or could not run it, nor anything else (`unable`). It is certain that nothing ran. */
export interface NotRun extends Sent {
	readonly end: "unsent" | "unable";
}

interface Begun extends Sent {
	/** The command has started something that the shell has not waited for. */
	readonly left: boolean;
	/** A limit that the command met. With `forced: "killed"` it is one that the kernel does not enforce. */
	readonly limit?: LimitMet;
}

export interface Ended extends Begun {
	readonly end: "ended";
	readonly code: number;
	readonly forced?: Forced;
	/** The shell's own words about the command are in the shell's log, and not in the command's output. */
	readonly told: boolean;
	/**
	 * The things that can be found by the command's id. `none`: it printed and started nothing. `silence`: it printed nothing, and what it started has
	 * ended. `output`: it printed, and nothing else is left. `more`: it was forced, met a limit, left something running, or its output may go on.
	 */
	readonly trace: "none" | "silence" | "output" | "more";
}

export interface Running extends Begun {
	readonly end: "running";
	/** Why its end was not waited for: its machine cannot be reached. */
	readonly unreached?: string;
}

/** The shell ended with the command (`died`), or could not record how the command ended, and was ended for that (`unrecorded`). */
export interface ShellGone extends Begun {
	readonly end: "died" | "unrecorded";
	readonly forced?: Forced;
}

export type BegunOutcome = Ended | Running | ShellGone;
export type Outcome = NotRun | BegunOutcome;

export const hasRun = (outcome: Outcome): outcome is BegunOutcome => outcome.end !== "unsent" && outcome.end !== "unable";
