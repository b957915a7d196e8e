/**
 * The seam: all that has to be written for a new kind of place. Everything else, processes, shells, terminals and files, is one
 * implementation on the byte streams that a host opens.
 */
import type { Readable, Writable } from "node:stream";

export interface Host {
	/** As a person would write it: `ssh://me@box/dir`, `docker://image`. */
	readonly address: string;
	/**
	 * See to it that it is there: log in, make or wake a container. Called before the first stream, and again after one broke.
	 * Fails with what is wrong and what to do about it, in words. PENDING: it waits in a queue or is being made, which is no failure. That goes on
	 * when the call is aborted, and the next start finds it by its name.
	 */
	start(signal?: AbortSignal): Promise<Started>;
	/** A byte stream to `command`, which a shell there runs. Only after `start`. */
	open(command: string, signal?: AbortSignal): Promise<Stream>;
	/** Of a place that can end: why all that ran in it is over. undefined: it may still run. Looks, and starts nothing. */
	over?(signal?: AbortSignal): Promise<Over | undefined>;
	/** Of a place that can be made to stand still: why a stream of it has gone silent, if that is known. */
	whySilent?(): Promise<string | undefined>;
	/** Returns what `holdfast doctor` says of the way there: versions, and where its files are. Starts nothing. */
	about?(signal?: AbortSignal): Promise<readonly string[]>;
	/** Of a place that can stand still and lose nothing: puts it to rest, for want of use. The next start wakes it, in the same life. */
	rest?(): Promise<void>;
	/** Give back what `start` took, as far as nobody else uses it. What was stopped, a sentence each. */
	stop(): Promise<readonly string[]>;
}

export interface Over {
	readonly why: string;
	/** The machine's files are still there when it is started again. */
	readonly kept: boolean;
}

export interface Started {
	/** Identifies one life of the machine: a container that was made or started again has another. What ran in an earlier life is gone. */
	readonly instance?: string;
	/** What its user should know, a sentence each: it was gone and has been made again. */
	readonly notes: readonly string[];
	/** Where a new shell starts; without it, where streams start. */
	readonly cwd?: string;
	/** A directory there for Holdfast's own files, for its user alone. */
	readonly dir?: string;
	/** Of a place that is made anew when it is gone: which one it is, and when this life of it began. */
	readonly box?: BoxIdentity;
	/** The machine ends by itself after so many seconds without a sign of life, if nothing runs in it. An open link gives several signs in that time. */
	readonly lifetime?: number;
	/** When the machine ends, whatever runs in it: a time limit that nothing moves. In milliseconds, by the clock of this machine. */
	readonly ends?: number;
}

export interface BoxIdentity {
	readonly id: string;
	readonly since: string;
}

export interface Stream {
	readonly input: Writable;
	readonly output: Readable;
	/** When it has ended, whoever ended it: what is known of why, in words. Never rejects. */
	readonly ended: Promise<string>;
	/** End it now; does not wait. */
	close(): void;
	/** Whether this program is to stay alive for it. Without it, it is for as long as it is open. */
	hold?(on: boolean): void;
	/**
	 * A TCP connection on the way holds small messages back until the one before is acknowledged (Nagle's algorithm), and its acknowledgements are delayed by up to
	 * 40 ms unless data goes the other way. A link on such a stream sends that data: link/nudge.ts.
	 */
	readonly delays?: boolean;
}
