/** Advice about a command that has run: the meaning of its exit code, and how to run it better next time. Advice only. */
import { exitCodeHint } from "./exit-codes.js";
import { lex } from "./lex.js";
import { maskedHint } from "./masked.js";
import { noTerminalHint } from "./no-terminal.js";
import { sudoHint } from "./sudo.js";
import { backgroundHint } from "./unattended.js";

export { isDrawing, staysWithoutTerminal } from "./no-terminal.js";
export { readsUntilEnd } from "./until-eof.js";

export interface CommandEnd {
	/** null: the command did not end by itself, so its code means nothing. */
	readonly exitCode: number | null;
	readonly signal: string | null;
	readonly output: string;
	/** The command ran on another machine. */
	readonly remote?: boolean;
	/** The command draws on a terminal, but has none. */
	readonly draws?: boolean;
}

/** A longer text was not typed by hand, and is skipped. */
const LONGEST = 100_000;

export function hintsFor(command: string, { exitCode, signal, output, remote = false, draws = false }: CommandEnd): string[] {
	if (command.length > LONGEST) return [];
	const commands = lex(command);
	const ended = exitCode === null || signal !== null ? undefined : exitCode === 0 ? "well" : "failed";
	const hints = [
		backgroundHint(commands, ended),
		noTerminalHint(command, commands, { exitCode, output, draws }),
		sudoHint(output, remote),
		exitCode === null ? undefined : exitCode === 0 ? maskedHint(commands, output) : exitCodeHint(commands, exitCode, signal),
	];
	return hints.filter((hint) => hint !== undefined);
}
