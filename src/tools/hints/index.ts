/** Advice about a command that has run: what its exit code means, and how it is better run the next time. Never more than that. */
import { exitCodeHint } from "./exit-codes.js";
import { lex } from "./lex.js";
import { maskedHint } from "./masked.js";
import { noTerminalHint } from "./no-terminal.js";
import { sudoHint } from "./sudo.js";
import { backgroundHint } from "./unattended.js";

export { staysWithoutTerminal } from "./no-terminal.js";
export { readsUntilEnd } from "./until-eof.js";

export interface Outcome {
	/** null: it has not ended by itself, so its code means nothing. */
	readonly exitCode: number | null;
	readonly signal: string | null;
	readonly output: string;
	/** It ran on another machine. */
	readonly elsewhere?: boolean;
	readonly durationMs?: number;
}

/** A text that is longer was not typed by hand, and is not looked at. */
const LONGEST = 100_000;
/** A server that fails sooner than this has not begun to serve. */
const SOON_MS = 1_000;

export function hintsFor(command: string, { exitCode, signal, output, elsewhere = false, durationMs = SOON_MS }: Outcome): string[] {
	if (command.length > LONGEST) return [];
	const commands = lex(command);
	const failedAtOnce = exitCode !== null && exitCode !== 0 && durationMs < SOON_MS;
	const hints = [
		backgroundHint(commands, { failedAtOnce }),
		noTerminalHint(command, commands, { exitCode, output }),
		sudoHint(output, elsewhere),
		exitCode === null ? undefined : exitCode === 0 ? maskedHint(commands, output) : exitCodeHint(commands, exitCode, signal),
	];
	return hints.filter((hint) => hint !== undefined);
}
