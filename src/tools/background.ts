import type { Ask } from "./ask.js";
import type { TerminalArgs } from "./input.js";
import type { TerminalResult } from "./result.js";
import { armNotices, startBeside, wantsNotices } from "./start.js";
import { stateOf } from "./state.js";

/** Start it and return at once. */
export async function startBackground(ask: Ask, args: TerminalArgs & { command: string }): Promise<TerminalResult> {
	const { process } = await startBeside(ask, args);
	const interval = await armNotices(ask, process, args);
	const { uptime_seconds: _, ...state } = stateOf(process);
	if (!wantsNotices(args))
		ask.notes.push(
			`It runs silently: nobody tells you when it ends. process(action="wait", session_id="${process.id}") waits for it, poll and log show its output; notify_on_complete=true would tell you.`,
		);
	return { ...state, output: "", error: null, ...interval };
}
