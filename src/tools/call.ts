import type { Approver } from "../approvals/index.js";

/** What a door says of a call besides the model's arguments. */
export interface Call {
	/** Whose call it is. Default: the runtime's task. */
	readonly task?: string;
	/** Where it runs, in a shell of the task's own there. Default: the runtime's place. */
	readonly place?: string;
	/** Interrupts the call: a foreground command is killed with its tree, a wait just ends. */
	readonly signal?: AbortSignal;
	/** A foreground command moves to the background now, as at its deadline, and the call answers `running`. */
	readonly yield?: AbortSignal;
	/** The door must answer within this many milliseconds; what is not finished then is `running`, with a note how to go on. */
	readonly within?: number;
	/** Told now and then while the call goes on, in words for people. */
	readonly progress?: (message: string) => void;
	/** Nobody will get the answer: then it takes no notices with it, and a command that has ended stays readable by its id. */
	readonly gone?: () => boolean;
	/** Which door it is, for the audit. Default: library. */
	readonly door?: string;
	/** Asks the person at this door whether a command may run. Without it, whoever shows approvals elsewhere is waited for. */
	readonly approver?: Approver;
	/** The door asks its person once it has a result `pending_approval`, and makes the call again. */
	readonly asksLater?: boolean;
}
