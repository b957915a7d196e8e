/** The tool `terminal`: chooses the kind of call, and validates it before anything runs. */
import { HoldfastError } from "../base/index.js";
import { parseArguments } from "./arguments.js";
import { type Ask, answer, deadlineOf } from "./ask.js";
import { lastAwaited } from "./awaited.js";
import { startBackground } from "./background.js";
import type { Call } from "./call.js";
import { findFresh } from "./find.js";
import { runInShell } from "./foreground.js";
import { readsUntilEnd } from "./hints/index.js";
import type { ToolHost } from "./host.js";
import { type TerminalArgs, terminalInput } from "./input.js";
import { idleMsOf, runOnTerminal, typeKeys } from "./interactive.js";
import { heedKeyboard } from "./keyboard.js";
import type { TerminalResult } from "./result.js";
import { instead } from "./unknown.js";
import { refusedWorkdir } from "./workdir.js";

export function terminal(runtime: ToolHost, args: unknown, call: Call): Promise<TerminalResult> {
	return answer<TerminalResult>(
		runtime,
		call,
		async (ask) => {
			const { wanted, unknown } = parseArguments("terminal", terminalInput, args, ask.notes);
			check(wanted, instead(terminalInput, unknown, "command"));
			const refused = wanted.workdir === undefined ? undefined : refusedWorkdir(wanted.workdir);
			if (refused !== undefined) return { status: "blocked", output: "", exit_code: null, error: refused };
			if (ask.signal?.aborted) throw new HoldfastError("ABORTED", "interrupted before it began; nothing was run");
			const { outputChars, maxOutputChars: most } = ask.limits;
			const asked = wanted.max_output_chars ?? outputChars;
			const result = await act(ask, wanted, Math.min(asked, most));
			return asked > most && !wanted.background
				? { ...result, max_output_chars_note: `max_output_chars ${asked} is above the limit; ${most} were allowed instead.` }
				: result;
		},
		{ tool: "terminal", moves: true },
	);
}

async function act(ask: Ask, args: TerminalArgs, maxChars: number): Promise<TerminalResult> {
	const { command, input_keys } = args;
	const { timeout, maxTimeout } = ask.limits;
	const options = {
		deadline: deadlineOf(args.timeout, { default: timeout, most: maxTimeout }, ask),
		maxChars,
		onTimeout: args.on_timeout ?? "background",
		idleMs: idleMsOf(ask, args),
	};
	if (input_keys !== undefined) {
		ignore(ask, args, "input_keys", ["background", "workdir", "pty", "cols", "rows", ...NOTICES]);
		const process = args.session_id === undefined ? await lastAwaited(ask) : await findFresh(ask, args.session_id);
		heedKeyboard(ask, process, "keys");
		const { uptime_seconds: _, ...result } = await typeKeys(ask, process, input_keys, options);
		return result;
	}
	const piped = args.pty ? readsUntilEnd(command as string) : undefined;
	if (piped !== undefined) {
		const { pty: _, cols: _cols, rows: _rows, idle_threshold: _idle, ...rest } = args;
		return { ...(await act(ask, rest, maxChars)), pty_note: withoutTerminal(piped) };
	}
	const wanted = { ...args, command: command as string };
	if (!args.pty) ignore(ask, args, "no pty", ["cols", "rows", "idle_threshold"]);
	if (args.background) {
		ignore(ask, args, "background=true", ["timeout", "on_timeout", "max_output_chars", ...(args.pty ? (["idle_threshold"] as const) : [])]);
		return startBackground(ask, wanted);
	}
	return args.pty ? runOnTerminal(ask, wanted, options) : runInShell(ask, wanted, options);
}

const withoutTerminal = (program: string): string =>
	`It ran without a terminal: \`${program}\` reads from its input until that ends, which a terminal does not do by itself. Pipe the secret in, or start it with background=true, then process(action="write") and close.`;

const NOTICES = ["check_interval", "notify_on_complete", "watch_patterns"] as const;

/** Notes the parameters that are not used. */
function ignore(ask: Ask, args: TerminalArgs, because: string, names: readonly (keyof TerminalArgs)[]): void {
	const given = names.filter((name) => args[name] !== undefined && args[name] !== false);
	if (given.length > 0) ask.notes.push(`${given.join(", ")}: not used, since there is ${because}.`);
}

function check({ command, input_keys, session_id, workdir }: TerminalArgs, perhaps: string): void {
	if (command === undefined && input_keys === undefined)
		throw invalid(`command is missing${perhaps}: give the shell text to run, or input_keys for a program that waits for input`);
	if (command !== undefined && input_keys !== undefined)
		throw invalid("give either command, to run something, or input_keys, to type into a program that already runs; not both, so nothing was run or typed");
	if (command !== undefined && command.trim() === "") throw invalid("command is empty: give the shell text to run");
	if (command?.includes("\0")) throw invalid("command contains a NUL byte, which shell text cannot have; nothing was run");
	if (workdir !== undefined && Buffer.byteLength(workdir) >= LONGEST_PATH)
		throw invalid(`workdir is longer than a path can be (${LONGEST_PATH} bytes); nothing was run`);
	if (workdir === "") throw invalid("workdir is empty; leave it out to run in the shell's directory");
	if (session_id !== undefined && input_keys === undefined)
		throw invalid('session_id goes with input_keys; to send something else to a process use process(action="write" or "submit"); nothing was run');
}

const LONGEST_PATH = 4096; // PATH_MAX

const invalid = (sentence: string): HoldfastError => new HoldfastError("INVALID", sentence);
