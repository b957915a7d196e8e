/**
 * A plain command is a program, or a builtin that only tells something, with plain words: nothing in it is expanded,
 * assigned or redirected, so it cannot change the shell that runs it, and the shell need not write its state down again.
 * That the name is no function or alias, and that no trap runs beside it, has to be known of the shell.
 */
import type { ShellState } from "./state.js";

const WORDS = /^[\w./+-][\w./+:@%,-]*(?: +[\w./+:@%,-]+)*$/;
const HARMLESS = new Set(["true", "false", "echo", "pwd", "test"]);
/** Builtins and keywords of bash that do more than tell, or may. */
const SHELLS_OWN = new Set(
	(
		"alias bg bind break builtin caller case cd command compgen complete compopt continue coproc declare dirs disown do done elif else enable esac eval exec exit export " +
		"fc fg fi for function getopts hash help history if in jobs kill let local logout mapfile popd printf pushd read readarray readonly return select set shift shopt source " +
		"suspend then time times trap type typeset ulimit umask unalias unset until wait while ."
	).split(" "),
);

/** With the first the name of a directory is a `cd`; with the second bash tells of jobs between two commands. */
const UNPLAIN = ["autocd", "monitor"];

const LONGEST = 1_000; // it is sent to the shell in one write, with more than itself

/** Cheap: by the text alone. */
export function looksPlain(command: string): boolean {
	if (command.length > LONGEST) return false;
	const name = firstWord(command);
	return WORDS.test(command) && (HARMLESS.has(name) || !SHELLS_OWN.has(name));
}

export const isPlain = (command: string, state: ShellState): boolean =>
	looksPlain(command) &&
	!state.trapped &&
	!state.names.has(firstWord(command)) &&
	!state.names.has("{") &&
	!UNPLAIN.some((option) => state.options.has(option));

/** A shell that was born under an earlier version of rc.bash has to read the text from a file. */
export const knowsPlain = (state: ShellState): boolean => state.names.has("__hf_begins");

const firstWord = (command: string): string => command.split(" ", 1)[0] ?? "";
