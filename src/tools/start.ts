/** Processes that start beside the shell, with its directory and environment: in the background, and on terminals. */
import { fromSystem } from "../base/errors.js";
import type { Process } from "../process/process.js";
import type { ShellContext } from "../shell/index.js";
import type { Ask } from "./ask.js";
import type { TerminalArgs } from "./input.js";
import { SHORTEST_INTERVAL } from "./limits.js";
import type { TerminalResult } from "./result.js";

export async function startBeside(ask: Ask, args: TerminalArgs & { command: string }): Promise<{ process: Process; context: ShellContext }> {
	const { runtime, task, notes } = ask;
	const pty = args.pty === true;
	const context = await runtime.shells.context({ task, terminal: pty, ...(args.workdir === undefined ? {} : { workdir: args.workdir }) });
	notes.push(...context.notes);
	const process = await runtime.spawn({
		command: args.command,
		task,
		cwd: context.cwd,
		env: { ...context.env },
		...(pty ? { terminal: { cols: args.cols ?? runtime.limits.cols, rows: args.rows ?? runtime.limits.rows } } : {}),
	});
	if (pty) runtime.answerFor(process, { from: 0 });
	return { process, context };
}

export const wantsNotices = (args: TerminalArgs): boolean =>
	args.check_interval !== undefined || args.notify_on_complete === true || (args.watch_patterns?.length ?? 0) > 0;

/** It runs already: what cannot be arranged is said, and does not fail the start. */
export async function armNotices(ask: Ask, process: Process, args: TerminalArgs): Promise<Pick<TerminalResult, "check_interval_note">> {
	if (!wantsNotices(args)) return {};
	const { check_interval: asked, notify_on_complete: notifyOnComplete, watch_patterns: watchPatterns } = args;
	const checkInterval = asked === undefined ? undefined : Math.max(asked, SHORTEST_INTERVAL);
	try {
		const { notes } = await ask.runtime.notices.arm(process, {
			...(checkInterval === undefined ? {} : { checkInterval }),
			...(notifyOnComplete ? { notifyOnComplete } : {}),
			...(watchPatterns?.length ? { watchPatterns } : {}),
		});
		ask.notes.push(...notes);
	} catch (error) {
		ask.notes.push(`It runs, but there will be no notices: ${fromSystem(error, "they could not be arranged").message}.`);
	}
	return checkInterval !== asked ? { check_interval_note: `check_interval ${asked} was raised to ${SHORTEST_INTERVAL}, the least there is.` } : {};
}
