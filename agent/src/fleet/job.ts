/**
 * The messages between the workers and the collector of a run. A job and a result have a subject of their own for each index; a result is stored only as the
 * first of its subject, so a worker that comes too late is refused. The queue and the results may be lost: ledgers and the folders of workers are the truth.
 */
import { AgentError } from "../base/index.js";
import type { EpisodeResult } from "../episode/index.js";
import type { RunItem, RunManifest } from "../run/index.js";

export const JOBS = "HOLDFAST_JOBS";
export const RESULTS = "HOLDFAST_RESULTS";
export const FILES = "holdfast_files";
export const WORKERS = "workers"; // the consumer of jobs

const PREFIX = "holdfast";
export const SUBJECTS = {
	jobs: `${PREFIX}.jobs.>`,
	results: [`${PREFIX}.results.>`, `${PREFIX}.stored.>`, `${PREFIX}.over.>`, `${PREFIX}.hands.>`, `${PREFIX}.proofs.>`],
};

export const jobSubject = (run: string, index: number | "*"): string => `${PREFIX}.jobs.${run}.${index}`;
export const resultSubject = (run: string, index: number | "*"): string => `${PREFIX}.results.${run}.${index}`;
/** The collector has the row on its disk, and the files: the worker need not keep them. */
export const storedSubject = (run: string, index: number): string => `${PREFIX}.stored.${run}.${index}`;
/** Every index has its result. */
export const overSubject = (run: string): string => `${PREFIX}.over.${run}`;
/** A worker has begun something of the run; and what it has proved at the end. */
export const handSubject = (run: string, worker: string): string => `${PREFIX}.hands.${run}.${worker}`;
export const proofSubject = (run: string, worker: string): string => `${PREFIX}.proofs.${run}.${worker}`;

/** The number at the end of a subject. */
export const indexIn = (subject: string): number => Number(subject.slice(subject.lastIndexOf(".") + 1));
export const lastIn = (subject: string): string => subject.slice(subject.lastIndexOf(".") + 1);

interface Versioned {
	readonly v: 1;
}

export interface Job extends Versioned {
	readonly manifest: RunManifest;
	readonly item: RunItem;
}

export interface WorkerResult extends Versioned {
	readonly worker: string;
	/** The attempt, as the worker counts. */
	readonly attempt: number;
	readonly task: string;
	readonly result: EpisodeResult;
	/** The episode's folder and conversation, in the object store. */
	readonly files: { readonly name: string; readonly sha256: string; readonly bytes: number };
}

export interface WorkerProof extends Versioned {
	readonly clean: boolean;
	readonly words: string;
}

export const encode = (value: Job | WorkerResult | WorkerProof | Versioned): Uint8Array => Buffer.from(JSON.stringify(value));

/** Throws `UNSUPPORTED` for what another version has written. */
export function decode<T extends Versioned>(data: Uint8Array): T {
	let value: unknown;
	try {
		value = JSON.parse(Buffer.from(data).toString("utf8"));
	} catch {
		value = undefined;
	}
	if ((value as Versioned | undefined)?.v === 1) return value as T;
	throw new AgentError("UNSUPPORTED", "a message of the queue is of another version of holdfast-agent; use the same one on every machine");
}

/** A name that a subject may have. */
export function workerName(wanted: string): string {
	if (/^[\w-]{1,100}$/.test(wanted)) return wanted;
	throw new AgentError("INVALID", `"${wanted}" cannot be the name of a worker; take letters, digits, dashes and underscores`);
}
