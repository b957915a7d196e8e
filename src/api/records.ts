/** The records of a home for programs that show them: the audit, transcripts, recordings of terminals. */
import * as z from "zod";
import { type AuditEvent, readAudit as readLines } from "../audit/index.js";
import { aSignal, HoldfastError, parseOptions } from "../base/index.js";
import { endsIn, Process as KeptProcess, type TranscriptCommand, transcriptOf } from "../process/index.js";
import { asciicast as recordingOf } from "../recording/index.js";
import type { AgentRuntime } from "../tools/index.js";
import { agentOf } from "./agent.js";
import { taskName } from "./options.js";
import type { Process } from "./process.js";
import type { Runtime } from "./runtime.js";

export interface AuditOptions {
	/** Only this task. Default: every task of the home. */
	readonly task?: string | undefined;
	/** Only from then on. */
	readonly since?: Date | undefined;
}

const auditOptions = z.strictObject({
	task: z.string().min(1).optional(),
	since: z.date().optional(),
});

/** Returns the audit of a home, in the order of time. An end that no program has written down is worked out from the record of the process, and says so. */
export function readAudit(runtime: Runtime, options: AuditOptions = {}): AuditEvent[] {
	const { task, since } = parseOptions("readAudit", auditOptions, options);
	const agent = agentOf(runtime);
	return readLines(agent.home, { ...(task === undefined ? {} : { task }), ...(since ? { since: since.getTime() } : {}) }, endsIn(agent));
}

export interface TranscriptOptions {
	/** Only what began from then on. */
	readonly since?: Date | undefined;
	readonly signal?: AbortSignal | undefined;
}

const transcriptOptions = z.strictObject({
	since: z.date().optional(),
	signal: aSignal,
});

/** Throws INVALID at once if an option is unknown or of the wrong type. */
export function readTranscript(agent: AgentRuntime, what: string, task: string, options: TranscriptOptions = {}): AsyncGenerator<TranscriptCommand, void> {
	taskName(what, task);
	const { since, signal } = parseOptions(what, transcriptOptions, options);
	return transcriptOf(agent, task, { ...(since ? { since: since.getTime() } : {}), signal });
}

export interface RecordingOptions {
	/** Stars in place of secrets. Default true: a recording is there to be passed on. */
	readonly mask?: boolean | undefined;
}

const recordingOptions = z.strictObject({ mask: z.boolean().optional() });

/** Yields what a terminal has printed so far as asciicast v2, line by line, each with its newline. Throws NO_TERMINAL for a process without one. */
export async function* asciicast(process: Process, options: RecordingOptions = {}): AsyncGenerator<string, void> {
	if (!(process instanceof KeptProcess)) throw new HoldfastError("INVALID", "asciicast: this takes a process of a runtime of this copy of holdfast");
	const { mask = true } = parseOptions("asciicast", recordingOptions, options);
	yield* recordingOf(process, { mask });
}
