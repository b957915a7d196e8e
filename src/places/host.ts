/**
 * The seam: everything that a new kind of place implements. Processes, shells, terminals and files share one
 * implementation on top of the byte streams that a host opens.
 */
import type { Readable, Writable } from "node:stream";

export interface Host {
	/** As a person would write it: `ssh://me@box/dir`, `docker://image`. */
	readonly address: string;
	/**
	 * Makes the machine available: logs in, creates or wakes a container. Called before the first stream, and again after one broke.
	 * Throws what is wrong and what to do about it, in words. PENDING: the machine is queued or being created, which is no failure. That continues
	 * when the call is aborted, and the next start finds it by its name.
	 */
	start(signal?: AbortSignal): Promise<Started>;
	/** Opens a byte stream to `command`, run by a remote shell. Only after `start`. */
	open(command: string, signal?: AbortSignal): Promise<Stream>;
	/** For a place that can end: returns why everything in it is over; undefined if it may still run. Only looks, and starts nothing. */
	over?(signal?: AbortSignal): Promise<Over | undefined>;
	/** For a place that can be paused: returns why one of its streams went silent, if known. */
	whySilent?(): Promise<string | undefined>;
	/** Returns what `holdfast doctor` reports about the connection: versions, and where its files are. Starts nothing. */
	about?(signal?: AbortSignal): Promise<readonly string[]>;
	/** For a place that can be suspended without loss: suspends it when unused. The next start wakes it, in the same life. */
	rest?(): Promise<void>;
	/** Releases what `start` took, unless another program uses it. Returns what was stopped, a sentence each. */
	stop(): Promise<readonly string[]>;
}

export interface Over {
	readonly why: string;
	/** The machine's files survive a restart. */
	readonly kept: boolean;
}

export interface Started {
	/** Identifies one life of the machine: a container that was recreated or restarted has another. Processes of an earlier life are gone. */
	readonly instance?: string;
	/** Notes for the user, a sentence each: for example, that the machine was gone and has been recreated. */
	readonly notes: readonly string[];
	/** Where a new shell starts; without it, where streams start. */
	readonly cwd?: string;
	/** A remote directory for Holdfast's own files, private to its user. */
	readonly dir?: string;
	/** For a place that is recreated when it is gone: its identity, and when this life began. */
	readonly box?: BoxIdentity;
	/** The machine ends by itself after so many seconds without a sign of life, if nothing runs in it. An open link gives several signs in that time. */
	readonly lifetime?: number;
	/** When the machine ends, whatever runs in it: a time limit that cannot be extended. In milliseconds, by the clock of this machine. */
	readonly ends?: number;
}

export interface BoxIdentity {
	readonly id: string;
	readonly since: string;
}

export interface Stream {
	readonly input: Writable;
	readonly output: Readable;
	/** Resolves at its end, with what is known about the reason, in words. Never rejects. */
	readonly ended: Promise<string>;
	/** Ends it now; does not wait. */
	close(): void;
	/** Sets whether this program stays alive for it. Without this method, it does for as long as the stream is open. */
	hold?(on: boolean): void;
	/**
	 * A TCP connection on the way holds small messages back until the one before is acknowledged (Nagle's algorithm), and its acknowledgements are delayed by up to
	 * 40 ms unless data goes the other way. A link on such a stream sends that data: link/nudge.ts.
	 */
	readonly delays?: boolean;
}
