/** Starts processes beside the shell, with its directory and environment: in the background, and on terminals. */
import { fromSystem, HoldfastError } from "../base/index.js";
import type { ArmResult, Wishes } from "../notices/index.js";
import { exportFunctions, type Process } from "../process/index.js";
import type { ShellContext } from "../shell/index.js";
import { type Ask, answerBy } from "./ask.js";
import { CommandGate } from "./command-gate.js";
import type { TerminalArgs } from "./input.js";
import type { TerminalResult } from "./result.js";

export async function startBeside(
	ask: Ask,
	args: TerminalArgs & { command: string },
	{ prepare }: { prepare?: (process: Process) => void } = {},
): Promise<{ process: Process; context: ShellContext }> {
	const { runtime, task, notes } = ask;
	const pty = args.pty === true;
	const gate = await CommandGate.of(ask, args.command);
	const context = await runtime.shells.context({
		task,
		terminal: pty,
		signal: ask.signal,
		answerBy: answerBy(ask),
		...(args.workdir === undefined ? {} : { workdir: args.workdir }),
	});
	notes.push(...context.notes);
	await gate.through(async () => gate.check(context.cwd));
	if (ask.signal?.aborted) throw new HoldfastError("ABORTED", "interrupted before it began; nothing was run"); // the first shell of a task may take a while
	const options = {
		command: args.command,
		task,
		cwd: context.cwd,
		env: { ...context.env },
		...(pty ? { terminal: { cols: args.cols ?? ask.limits.cols, rows: args.rows ?? ask.limits.rows } } : {}),
	};
	const process = await runtime.spawn(options, {
		call: ask.call.id,
		prepare: (started) => {
			if (context.functions !== "") exportFunctions(started, context.functions);
			prepare?.(started);
			gate.begin(context.cwd, started.id, started);
		},
	});
	if (pty) runtime.answerFor(process, { from: 0 });
	return { process, context };
}

export type IntervalNote = Pick<TerminalResult, "check_interval_note">;

/** Returns the requested notices about a background process; undefined if there are none. */
export function wishesOf({ check_interval, notify_on_complete, watch_patterns }: TerminalArgs): Wishes | undefined {
	if (check_interval === undefined && !notify_on_complete && !watch_patterns?.length) return undefined;
	return {
		...(check_interval === undefined ? {} : { checkInterval: check_interval }),
		...(notify_on_complete ? { notifyOnComplete: true } : {}),
		...(watch_patterns?.length ? { watchPatterns: watch_patterns } : {}),
	};
}

/** Arms notices for a running process. A failure becomes a note; the call succeeds. */
export function armLate(ask: Ask, process: Process, args: TerminalArgs): IntervalNote {
	const wishes = wishesOf(args);
	if (!wishes) return {};
	try {
		return armed(ask, ask.runtime.notices.arm(process, wishes));
	} catch (error) {
		ask.notes.push(`It runs, but there will be no notices: ${fromSystem(error, "they could not be arranged").message}.`);
		return {};
	}
}

export function armed(ask: Ask, { notes, check_interval_note }: ArmResult): IntervalNote {
	ask.notes.push(...notes);
	return check_interval_note === undefined ? {} : { check_interval_note };
}
