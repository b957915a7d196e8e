import type { Identity } from "../../base/index.js";
import type { Vitals } from "../../keeper/index.js";

/** What a look at a process directory on another machine finds. */
export interface Seen extends Vitals {
	/** To be given with the next question: it is answered when something differs from this. */
	readonly stamp: string;
	/** The directory is not there. */
	readonly gone: boolean;
	/** For this reason. */
	readonly why?: string;
	/** Small files that are there, whole, with when they were last written by the clock there, in milliseconds. */
	readonly records: ReadonlyMap<string, { readonly bytes: Buffer; readonly at: number }>;
	/** Segments of the log: where each starts, and its size. */
	readonly segments: readonly { readonly start: number; readonly size: number }[];
	/** A piece of the log, from the offset that was asked for on, or from the oldest there is. All that was printed before the records were as they are is in the log. */
	readonly offset: number;
	readonly bytes: Buffer;
	/** What has been added to the file `times`, and where. */
	readonly times: Buffer;
	readonly timesOffset: number;
}

export interface LookRequest {
	/** Of the log, and of `times`: how much is here already. */
	readonly offset: number;
	readonly times: number;
	/** Of the last answer; "" for an answer at once. */
	readonly stamp: string;
	readonly max: number;
	/** The shell that runs it, if it is a command of one: its children and state are of interest instead of its own, and whether it is dead. */
	readonly shell?: Identity | undefined;
	/** Its processes, as far as known locally: looked for if the directory is gone. */
	readonly parts: () => readonly Identity[];
}
