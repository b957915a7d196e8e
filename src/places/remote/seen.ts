import type { Identity } from "../../base/index.js";
import type { Vitals } from "../../keeper/index.js";

/** The result of a look at a remote process directory. */
export interface Seen extends Vitals {
	/** Passed with the next question, which is answered when something differs from this. */
	readonly stamp: string;
	/** The directory does not exist. */
	readonly gone: boolean;
	/** Why it does not. */
	readonly why?: string;
	/** Existing small files, whole, with their mtime by the remote clock, in milliseconds. */
	readonly records: ReadonlyMap<string, { readonly bytes: Buffer; readonly at: number }>;
	/** Segments of the log: start and size of each. */
	readonly segments: readonly { readonly start: number; readonly size: number }[];
	/** A piece of the log, from the requested offset on, or from the oldest one available. The log has all output from before the records got this state. */
	readonly offset: number;
	readonly bytes: Buffer;
	/** Bytes added to the file `times`, and their offset. */
	readonly times: Buffer;
	readonly timesOffset: number;
}

export interface LookRequest {
	/** How much of the log, and of `times`, is local already. */
	readonly offset: number;
	readonly times: number;
	/** The stamp of the last answer; "" for an answer at once. */
	readonly stamp: string;
	readonly max: number;
	/** For a command of a shell: that shell. The look then reports its children, its state, and whether it is dead. */
	readonly shell?: Identity | undefined;
	/** Its processes, as far as known locally: looked for if the directory is gone. */
	readonly parts: () => readonly Identity[];
}
