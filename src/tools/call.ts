import * as z from "zod";
import type { Approver } from "../approvals/index.js";
import { aSignal, checked, type ErrorCode, HoldfastError, isTaskName } from "../base/index.js";
import { isUser, type PlaceGiven, placeSchema, USER_FORM } from "../places/index.js";
import { isCallId, LONGEST_ID } from "./calls/index.js";

/** The door's options for a call, besides the model's arguments. */
export interface Call {
	/** The task of the call. Default: the runtime's task. */
	readonly task?: string;
	/** Identifies the call after a crash of the caller: see `calls.find`. Unique within a task. */
	readonly id?: string;
	/** Keeps the result, and the output of the command, until `calls.settle`. Needs an id. */
	readonly keep?: boolean;
	/** Where the command runs, in the task's own shell at that place. Default: the runtime's place. */
	readonly place?: PlaceGiven;
	/** The container user, who has a separate shell. Default: the task's, else the container's. */
	readonly user?: string;
	/** Interrupts the call: a foreground command is killed with its tree, a wait just ends. */
	readonly signal?: AbortSignal;
	/** Moves a foreground command to the background now, as at its deadline; the call answers `running`. */
	readonly yield?: AbortSignal;
	/** The door must answer within this many milliseconds; unfinished work is then `running`, with a note on how to continue. */
	readonly within?: number;
	/** Called at intervals while the call runs, with a message for people. */
	readonly progress?: (message: string) => void;
	/** Returns true if no client will get the answer. Such an answer takes no notices, and an ended command stays readable by its id. */
	readonly gone?: () => boolean;
	/** Receives the code of the error that the result tells in words. */
	readonly failed?: (code: ErrorCode) => void;
	/** The door's name, for the audit. Default: library. */
	readonly door?: string;
	/** Asks the person at this door whether a command may run. Without an approver, the call waits for a person at another door. */
	readonly approver?: Approver;
	/** The door asks its person after a result `pending_approval`, and repeats the call. */
	readonly asksLater?: boolean;
}

const aFunction = z.lazy(() => z.custom<unknown>((value) => typeof value === "function", "must be a function").optional());

const callSchema = z.lazy(() =>
	z.strictObject({
		task: z.custom<string>(isTaskName, "must be a name of 1 to 1000 characters, whole ones and no NUL").optional(),
		id: z.custom<string>(isCallId, `must be a text of 1 to ${LONGEST_ID} characters, without control characters`).optional(),
		keep: z.boolean().optional(),
		place: placeSchema.optional(),
		user: z.custom<string>(isUser, USER_FORM).optional(),
		signal: aSignal,
		yield: aSignal,
		within: z.number().optional(),
		progress: aFunction,
		gone: aFunction,
		failed: aFunction,
		door: z.string().max(1_000).optional(),
		approver: aFunction,
		asksLater: z.boolean().optional(),
	}),
);

/** Throws if an option is unknown or has the wrong type. */
export function checkCall(call: Call): void {
	const result = checked(callSchema, call);
	if (call.keep && call.id === undefined)
		throw new HoldfastError("INVALID", "nothing was done: keep: true needs an id, by which the result can be found and settled");
	if ("problems" in result)
		throw new HoldfastError(
			"INVALID",
			`nothing was done, since an option of this call cannot be used: ${result.problems}. This is for the program that makes the call, not for the model`,
		);
}
