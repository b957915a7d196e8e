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
	 * Fails with what is wrong and what to do about it, in words.
	 */
	start(signal?: AbortSignal): Promise<Started>;
	/** A byte stream to `command`, which a shell there runs. Only after `start`. */
	open(command: string, signal?: AbortSignal): Promise<Stream>;
	/** Of a place that can end: why all that ran in it is over. undefined: it may still run. Looks, and starts nothing. */
	over?(signal?: AbortSignal): Promise<Over | undefined>;
	/** Of a place that can be made to stand still: why a stream of it has gone silent, if that is known. */
	whySilent?(): Promise<string | undefined>;
	/** Give back what `start` took, as far as nobody else uses it. What was stopped, a sentence each. */
	stop(): Promise<readonly string[]>;
}

export interface Over {
	readonly why: string;
	/** Its files are still there, for the next life. */
	readonly kept: boolean;
}

export interface Started {
	/** One life of it: a container that was made again, or started again, has another. What ran in an earlier one is gone. */
	readonly instance?: string;
	/** What its user should know, a sentence each: it was gone and has been made again. */
	readonly notes: readonly string[];
	/** Where a new shell starts; without it, where streams start. */
	readonly cwd?: string;
	/** A directory there for Holdfast's own files, for its user alone. */
	readonly dir?: string;
	/** It ends by itself when there was no sign of life for so many seconds, and nothing runs in it: an open link gives several in that time. */
	readonly lifetime?: number;
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
}
