/**
 * Refuses a workdir that contains shell syntax or a command. A workdir is a path and never expanded, so such a call is a mistake or an attack,
 * whatever directories exist; the result says so, and nothing runs.
 */
const REFUSED: readonly [RegExp, string][] = [
	[/\0/, "a NUL byte"],
	[/\n/, "a newline"],
	[/\r/, "a carriage return"],
	[/[\x01-\x1f\x7f]/, "a control character"],
	[/\$\(/, "a command substitution, $("],
	[/\$\{/, "a variable, ${"],
	[/`/, "a backtick (`)"],
	[/;/, "a semicolon (;)"],
	[/\|/, "a pipe (|)"],
	[/&&/, "two ampersands (&&)"],
	[/</, "a less-than sign (<)"],
	[/>/, "a greater-than sign (>)"],
];

/** Returns why a workdir is refused, in a sentence; undefined for a plain path. */
export function refusedWorkdir(workdir: string): string | undefined {
	const found = REFUSED.find(([character]) => character.test(workdir));
	if (!found) return undefined;
	return `workdir contains ${found[1]}, and is a plain path in which nothing is expanded; nothing was run. Give the path itself; to go to a directory of that very name, use cd with quotes in the command`;
}
