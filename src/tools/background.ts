import type { ArmResult } from "../notices/index.js";
import type { Ask } from "./ask.js";
import type { TerminalArgs } from "./input.js";
import type { TerminalResult } from "./result.js";
import { armed, startBeside, wishesOf } from "./start.js";
import { stateOf } from "./state.js";

/** Starts a process and returns at once. Notices are armed before it runs, since it may end before the next look, or this program may. */
export async function startBackground(ask: Ask, args: TerminalArgs & { command: string }): Promise<TerminalResult> {
	const wishes = wishesOf(args);
	let arranged: ArmResult | undefined;
	const { process } = await startBeside(ask, args, {
		prepare: (started) => {
			if (wishes) arranged = ask.runtime.notices.arm(started, wishes);
		},
	});
	const { uptime_seconds: _, ...state } = stateOf(process);
	if (!wishes)
		ask.notes.push(
			`It runs silently: no notice tells you when it ends. process(action="wait", session_id="${process.id}") waits for it, poll and log show its output; notify_on_complete=true would tell you.`,
		);
	return { ...state, output: "", error: null, ...(arranged ? armed(ask, arranged) : {}) };
}
