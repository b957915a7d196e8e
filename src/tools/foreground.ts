/** Runs a command in the task's shell. */
import { endedBy, limitNote, readStatus } from "../process/index.js";
import type { RunResult } from "../shell/index.js";
import { type Ask, answerBy, type Deadline, reporting, secondsOf } from "./ask.js";
import { CommandGate } from "./command-gate.js";
import { noteShown } from "./cursor.js";
import { hintsFor, isDrawing, staysWithoutTerminal } from "./hints/index.js";
import type { TerminalArgs } from "./input.js";
import { stillRunning, timeoutNote } from "./interactive.js";
import { type OutputText, readOutput } from "./output.js";
import type { TerminalResult } from "./result.js";
import { armLate, type IntervalNote, wishesOf } from "./start.js";
import { leftNote, limitField } from "./state.js";

const EDITOR_MS = 1_000;
const FIRST_BYTES = 4096;
const NOTHING: OutputText = { text: "", offset: 0, next: 0, truncated: undefined };

export interface ForegroundOptions {
	readonly deadline: Deadline;
	readonly maxChars: number;
	readonly onTimeout: "background" | "kill";
}

export async function runInShell(ask: Ask, args: TerminalArgs & { command: string }, options: ForegroundOptions): Promise<TerminalResult> {
	const { runtime, task, signal } = ask;
	const { maxChars, onTimeout } = options;
	const { deadline } = options;
	let [draws, id] = [false, ""];
	runtime.shells.prepare(task); // in parallel with loading the parser of shell text
	const gate = await CommandGate.of(ask, args.command);
	const run = await gate.through(() =>
		reporting(ask, "it runs", () =>
			runtime.shells.run({
				task,
				command: args.command,
				timeoutMs: deadline.wantedMs,
				answerBy: answerBy(ask),
				onTimeout,
				// An editor without a terminal runs until it is killed, so the call returns early. A kill that is due later happens after the answer.
				glance: {
					afterMs: EDITOR_MS,
					leaves: () => {
						draws = staysWithoutTerminal(args.command) || isDrawing(firstOf(ask, id));
						return draws;
					},
				},
				...(args.workdir === undefined ? {} : { workdir: args.workdir }),
				...(signal ? { signal } : {}),
				...(ask.call.yield ? { yield: ask.call.yield } : {}),
				call: ask.call.id,
				permit: (cwd, given) => {
					gate.check(cwd);
					gate.begin(cwd, given);
					id = given;
				},
			}),
		),
	);
	let keep = false;
	try {
		const output = run.silent
			? NOTHING
			: await readOutput(run.process, { from: 0, maxChars, keep: "ends", raw: false, final: run.end !== "running", after: run.after });
		keep = output.truncated !== undefined || run.end === "interrupted" || ask.call.gone?.() === true || ask.call.keep === true; // the caller that interrupted it may want to see its output
		const result: TerminalResult = {
			status: statusOf(run),
			output: output.text,
			exit_code: exitCode(run),
			error: null,
			...(run.signal === null ? {} : { signal: run.signal }),
			...(run.limit ? { limit: limitField(run.limit) } : {}),
			...(run.tracked || keep ? { session_id: run.process.id } : {}),
			...(run.end === "running" ? { pid: run.process.pid } : {}), // the bash that moved to the background with it; after an end, bash runs something else
			cwd: run.cwd,
			duration_ms: Math.round(run.durationMs),
			...(output.truncated === undefined ? {} : { truncated: output.truncated }),
			...timeoutNote(deadline),
		};
		gate.ended(result, run.process, run);
		if (run.limit) ask.notes.push(limitNote(run.limit));
		ask.notes.push(...run.notes);
		if (output.offset > 0) ask.notes.push(`Only the newest part of the output was kept: it is there from byte ${output.offset} on.`);
		if (run.end === "timeout") ask.notes.push(`It was killed with everything it had started: not finished after ${secondsOf(deadline.wantedMs)}.`);
		if (run.end === "exited" && run.tracked) ask.notes.push(...(await leftNote(run.process)));
		if (run.end === "running") {
			noteShown(run.process, output.next);
			stillRunning(ask, run.process, { deadline: { ...deadline, ms: Math.min(run.durationMs, deadline.wantedMs) }, kill: onTimeout === "kill", again: draws });
		}
		const explained = run.limit !== undefined || result.status === "killed"; // by a limit, or by a call of ours: its code means nothing else
		ask.notes.push(
			...hintsFor(args.command, {
				exitCode: run.end === "exited" && !explained ? run.exitCode : null,
				signal: explained ? null : run.signal,
				output: output.text,
				remote: run.process.machine.account !== undefined,
				draws,
			}),
		);
		return { ...result, ...notices(ask, run, args) };
	} finally {
		if (ask.record) ask.afterRecord.push((recorded) => run.release({ keep: keep || !recorded }));
		else run.release({ keep });
	}
}

/** Returns the first bytes of its output. */
function firstOf({ runtime }: Ask, id: string): string {
	try {
		return runtime.get(id).read(0, FIRST_BYTES).bytes.toString("latin1");
	} catch {
		return ""; // it has ended meanwhile
	}
}

/** Returns the status, which is "killed" if another call killed it meanwhile. Only reads the status: an untracked command must not be settled. */
function statusOf({ end, exitCode, process, limit }: RunResult): TerminalResult["status"] {
	if (limit && exitCode !== null && endedBy(limit, exitCode)) return "killed";
	const bySignal = end === "exited" && exitCode !== null && exitCode > 128;
	return bySignal && readStatus(process.dir, process.spec).status === "killed" ? "killed" : end;
}

function exitCode(run: RunResult): number | null {
	if (run.end === "timeout") return 124;
	if (run.end === "interrupted") return 130;
	return run.end === "exited" || run.end === "killed" ? run.exitCode : null;
}

/** Arms the requested notices once the command has moved to the background. */
function notices(ask: Ask, run: RunResult, args: TerminalArgs): IntervalNote {
	if (run.end === "running") return armLate(ask, run.process, args);
	if (wishesOf(args))
		ask.notes.push("check_interval, notify_on_complete and watch_patterns are for what runs in the background; this has ended, so there are no notices.");
	return {};
}
